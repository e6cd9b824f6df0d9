// `/mail-server`: the SMTP server a tenant sends its mails by; without one the deployment's is used (design 13, 3). Kept among the
// settings; the password is sealed there and never shown. The shape is in domain/appearance/mail-server.ts.
import { randomUUID } from 'node:crypto';
import Type from 'typebox';
import { nullable } from '../../administration/schema-pieces.ts';
import { changeSettings } from '../../administration/settings.ts';
import { sendByServer } from '../../approvals/mailed/mail-delivery.ts';
import { deliveryKinds } from '../../deliveries/kinds.ts';
import { type MailServer, mailServerShape } from '../../domain/appearance/mail-server.ts';
import { composeMessage } from '../../mails/compose.ts';
import { sampleLetter } from '../../mails/samples.ts';
import { listKeylessAdministrators } from '../../storage/people/own-keys.ts';
import { type Call, conflict, type Endpoint, endpoint, invalidField, type Json, notFound } from '../endpoint.ts';
import { testBody } from './mails.ts';
import { admitTestMail, auditTestMail } from './test-mails.ts';

const { password: _password, ...shown } = mailServerShape.properties;
const answer = Type.Object({
  server: nullable(Type.Unsafe<Json>({ type: 'object', properties: { ...shown, has_password: { type: 'boolean' } } })),
});
// Whoever names the server reads every mailed code (design 17, 2).
const write = { capability: 'sign-in:write' } as const;
/** Administrators whom a mailed code lets in: whoever names the server comes in as them. */
const listKeylessHolders: NonNullable<Endpoint['actsOn']> = (queries, { tenant }) => listKeylessAdministrators(queries, tenant.id);

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
    actsOn: listKeylessHolders,
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
    capability: 'mail:write',
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
  const changed = await changeSettings(services, tenant, { smtp: { server } }, { actor, requestId });
  if (changed.ok) return toJson(changed.settings.smtp.server);
  if (changed.reason === 'unknown') throw notFound('unknown_tenant');
  throw invalidField(changed.fault.field.replace('smtp.server.', ''), `This field ${changed.fault.text}.`);
}

async function tryServer(call: Call<undefined, { readonly to: string }>): Promise<Json> {
  const { services, tenant, body } = call;
  const { server } = tenant.settings.smtp;
  if (server === null) throw conflict('server', 'The tenant has no mail server of its own.');
  const person = await admitTestMail(call, body.to);
  const message = await composeMessage(sampleLetter('pin', 'en', tenant, body.to), tenant, undefined);
  const signal = AbortSignal.timeout(deliveryKinds.mail.attemptMs);
  const outcome = await sendByServer(services, tenant.id, server, { id: randomUUID(), message, signal });
  const told = outcome.ok ? { outcome: 'taken' } : { outcome: 'failed', reason: outcome.reason };
  await services.database.write(tenant.id, (queries) => auditTestMail(call, queries, person, { kind: 'mail_server', ...told }));
  return { taken: outcome.ok, reason: outcome.ok ? null : outcome.reason, answer: outcome.answer };
}
