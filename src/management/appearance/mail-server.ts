// `/mail-server`: the SMTP server a tenant sends its mails by; without one the deployment's is used (design 13, 3). Kept among the
// settings; the password is sealed there and never shown. The shape is in domain/appearance/mail-server.ts.
import { randomUUID } from 'node:crypto';
import Type from 'typebox';
import { nullable } from '../../administration/schema-pieces.ts';
import { changeSettings } from '../../administration/settings.ts';
import { sendByServer } from '../../approvals/mail-delivery.ts';
import { deliveryKinds } from '../../deliveries/kinds.ts';
import { type MailServer, mailServerShape } from '../../domain/appearance/mail-server.ts';
import { composeMessage } from '../../mails/compose.ts';
import { sampleLetter } from '../../mails/samples.ts';
import { type Call, conflict, type Endpoint, endpoint, invalidField, type Json, notFound } from '../endpoint.ts';
import { requireAddress, testBody } from './mails.ts';

const { password: _password, ...shown } = mailServerShape.properties;
const answer = Type.Object({
  server: nullable(Type.Unsafe<Json>({ type: 'object', properties: { ...shown, has_password: { type: 'boolean' } } })),
});
const write = { capability: 'mail:write' } as const;

export const mailServerEndpoints: readonly Endpoint[] = [
  endpoint({
    method: 'GET',
    path: '/mail-server',
    capability: 'mail:read',
    summary: 'Read the tenant’s own mail server; null: the deployment’s is used',
    answer,
    status: 200,
    handle: async ({ tenant }) => toJson(tenant.settings.smtp.server),
  }),
  endpoint({
    ...write,
    method: 'PUT',
    path: '/mail-server',
    summary: 'Set the tenant’s own mail server. A password that is not given stays, unless host, port or security change',
    body: Type.Unsafe<Json>(mailServerShape),
    answer,
    status: 200,
    handle: async (call: Call<undefined, Json>) => {
      const { password, ...server } = call.body;
      return change(call, { username: null, ...server, ...(password === undefined ? {} : { password }) });
    },
  }),
  endpoint({
    ...write,
    method: 'DELETE',
    path: '/mail-server',
    summary: 'Go back to the deployment’s mail server',
    answer: undefined,
    status: 204,
    handle: async (call) => {
      if (call.tenant.settings.smtp.server === null) throw notFound('no_mail_server');
      await change(call, null);
    },
  }),
  endpoint({
    ...write,
    method: 'POST',
    path: '/mail-server/test',
    summary: 'Send a mail by that server at once, and tell what it answered',
    body: testBody,
    answer: Type.Object({ taken: Type.Boolean(), reason: nullable(Type.String()), answer: Type.String() }),
    status: 200,
    handle: tryServer,
  }),
];

const toJson = (server: MailServer | null): Json => {
  if (server === null) return { server };
  const { password_encrypted: sealed, ...rest } = server;
  return { server: { ...rest, has_password: sealed !== undefined } };
};

/** @throws management.invalid_request */
async function change({ services, tenant, actor, requestId }: Call<undefined, unknown>, server: Json | null): Promise<Json> {
  const changed = await changeSettings(services, tenant.id, { smtp: { server } }, { actor, requestId });
  if (changed.ok) return toJson(changed.settings.smtp.server);
  if (changed.reason === 'unknown') throw notFound('unknown_tenant');
  throw invalidField(changed.fault.field.replace('smtp.server.', ''), `This field ${changed.fault.text}.`);
}

async function tryServer({ services, tenant, body }: Call<undefined, { readonly to: string }>): Promise<Json> {
  requireAddress(body.to);
  const { server } = tenant.settings.smtp;
  if (server === null) throw conflict('server', 'The tenant has no mail server of its own.');
  const message = await composeMessage(sampleLetter('pin', 'en', tenant, body.to), tenant, undefined);
  const signal = AbortSignal.timeout(deliveryKinds.mail.attemptMs);
  const outcome = await sendByServer(services, tenant.id, server, { id: randomUUID(), message, signal });
  return { taken: outcome.ok, reason: outcome.ok ? null : outcome.reason, answer: outcome.answer };
}
