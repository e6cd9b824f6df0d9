// Starting a CIBA request for an eligible user: active, inside the client's access gate, and able to decide on a phone or, where
// the tenant allows it, on a page linked from a mail. Everybody else is `unknown_user_id`, whatever the cause.
// The approval, the request, its delivery row, its mail and its audit record are one transaction.

import type { FastifyRequest } from 'fastify';
import { createApproval, subjectKeyOf } from '../../approvals/approval.ts';
import { type Asker, ownAsker } from '../../approvals/asker.ts';
import { queueMail } from '../../approvals/mailed/mail-delivery.ts';
import { type Cause, reject } from '../../contract/contract-error.ts';
import { ownTimesNear } from '../../contract/limits.ts';
import { hashSecret } from '../../crypto/secret-hash.ts';
import type { Client } from '../../domain/client/client.ts';
import { fail, type Outcome } from '../../domain/outcome.ts';
import { emailPinMethod, type LoginMethod, phoneMethod, satisfiesAcrValues } from '../../domain/sign-in/login-methods.ts';
import { rateLimited, takeRate } from '../../http/budgets/rate-limits.ts';
import type { Parts } from '../../http/services.ts';
import { mails } from '../../mails/registry.ts';
import { randomSecret, uuidV7 } from '../../platform/random.ts';
import { countActiveDevices } from '../../storage/device/devices.ts';
import type { Queries } from '../../storage/engine/database.ts';
import { scheduleCibaExpiry } from '../../storage/oidc/ciba-deliveries.ts';
import { insertCibaRequest } from '../../storage/oidc/ciba-requests.ts';
import { findHeldOrganization } from '../../storage/people/organization-members.ts';
import { listUserEmails } from '../../storage/people/user-lists.ts';
import type { UserRow } from '../../storage/people/user-rows.ts';
import { insertAuditEvent } from '../../storage/records/audit-events.ts';
import { isAssigned } from '../../storage/registry/clients/access-assignments.ts';
import type { RequestParameters } from '../parameters.ts';
import { parseScopes, requestedResource } from '../scopes.ts';
import { findNamedUser, type HintDeps, readHint, type UserName } from './ciba-hints.ts';
import { sealNotification } from './ciba-notification.ts';

export type CibaStartDeps = HintDeps & Parts<'mail' | 'rateLimiter'>;

/** What a request asks for, found right in itself. */
interface Asked {
  readonly parameters: RequestParameters;
  readonly lifetimeSeconds: number;
  /** The organisation it names. */
  readonly organizationId: string | undefined;
}

/** A user who may be asked, and the mailbox when a mail is the way to ask. */
interface Eligible {
  readonly user: UserRow;
  readonly mailTo: string | undefined;
}

/** Starts the request and gives its auth_req_id. Throws `unknown_user_id`, or 429 when the user is asked too often. */
export async function startCibaRequest(services: CibaStartDeps, request: FastifyRequest, client: Client, asked: Asked): Promise<string> {
  const { tenant } = request;
  const name = await readHint(services, tenant, client, asked.parameters);
  if ('reason' in name) throw reject('ciba.unknown_user_id', name);
  const found = await services.database.read(tenant.id, (queries) => findEligible(queries, request, client, { name, ...asked }));
  if (!found.ok) throw reject('ciba.unknown_user_id', found.cause);
  const subjectKey = subjectKeyOf(found.user.id, '');
  // A client showed who it is: it has a budget of its own, which neither strangers nor other clients spend.
  const asker = ownAsker(`client:${client.clientId}`);
  const busy = await takeRate(services.rateLimiter, tenant, 'approvals_per_user', `${asker.key}:${subjectKey}`, ownTimesNear);
  if (busy !== undefined) throw rateLimited('oauth', 'approvals_per_user', busy);
  const authReqId = randomSecret();
  const outcome = await services.database.write(tenant.id, (queries) =>
    insertRequest(queries, services, request, { ...found, ...asked, client, authReqId, subjectKey, asker }),
  );
  if (!outcome.ok) {
    const waitSeconds = tenant.settings.rate_limits.approvals_pending_per_user.period_seconds;
    throw reject(
      'oauth.rate_limited',
      { reason: outcome.reason, expected: 'approvals_pending_per_user' },
      { retryAfterSeconds: waitSeconds, fields: { retry_after_seconds: waitSeconds } },
    );
  }
  return authReqId;
}

async function findEligible(
  queries: Queries,
  { tenant }: FastifyRequest,
  client: Client,
  { name, organizationId }: Pick<Asked, 'organizationId'> & { readonly name: UserName },
): Promise<({ readonly ok: true } & Eligible) | { readonly ok: false; readonly cause: Cause }> {
  const user = await findNamedUser(queries, tenant, name);
  if (user === undefined) return { ok: false, cause: { reason: 'user_unknown' } };
  const received = user.id;
  if (user.state !== 'active') return { ok: false, cause: { reason: 'user_inactive', received } };
  const target = { kind: 'client', id: client.clientId } as const;
  if (client.accessPolicy === 'assigned' && !(await isAssigned(queries, tenant.id, target, user.id, organizationId)))
    return { ok: false, cause: { reason: 'access_gate', received } };
  const held = organizationId === undefined ? undefined : await findHeldOrganization(queries, tenant.id, organizationId, user.id);
  if (organizationId !== undefined && held === undefined) return { ok: false, cause: { reason: 'not_a_member', received } };
  if (held?.signIn === 'own_providers') return { ok: false, cause: { reason: 'own_provider', received } };
  const isEnough = (method: LoginMethod): boolean => satisfiesAcrValues(method, held?.acrMin);
  if (!isEnough(phoneMethod)) return { ok: false, cause: { reason: 'acr_unmet', received } };
  if ((await countActiveDevices(queries, tenant.id, user.id)) > 0) return { ok: true, user, mailTo: undefined };
  if (!isEnough(emailPinMethod)) return { ok: false, cause: { reason: 'no_way_to_decide', received } };
  const emails = tenant.settings.login_methods.includes(emailPinMethod) ? await listUserEmails(queries, tenant.id, user.id) : [];
  const mailTo = (emails.find((email) => email.is_primary === 1) ?? emails[0])?.value;
  return mailTo === undefined ? { ok: false, cause: { reason: 'no_way_to_decide', received } } : { ok: true, user, mailTo };
}

interface Start extends Eligible, Asked {
  readonly client: Client;
  readonly authReqId: string;
  readonly subjectKey: string;
  readonly asker: Asker;
}

async function insertRequest(
  queries: Queries,
  services: Parts<'clock' | 'encryption' | 'mail'>,
  request: FastifyRequest,
  { client, parameters, organizationId, user, mailTo, authReqId, lifetimeSeconds, subjectKey, asker }: Start,
): Promise<Outcome<object, 'too_many_pending'>> {
  const { tenant } = request;
  const scope = (parseScopes(parameters.get('scope')) ?? []).join(' ');
  const bindingMessage = parameters.get('binding_message');
  const created = await createApproval(queries, tenant, {
    kind: 'ciba',
    userId: user.id,
    subjectKey,
    asker,
    onDevices: true,
    withNumber: false,
    clientId: client.clientId,
    scope,
    bindingMessage,
    initiatedIp: request.clientAddress,
    lifetimeSeconds,
  });
  if (!created.ok) return fail('too_many_pending');
  const id = uuidV7(services.clock.nowMs());
  const deliveryMode = client.backchannelTokenDeliveryMode ?? 'poll';
  const token = parameters.get('client_notification_token');
  const mailToken = mailTo === undefined ? undefined : randomSecret();
  const stored = {
    auth_req_id_hash: hashSecret(authReqId),
    id,
    client_id: client.clientId,
    user_id: user.id,
    approval_id: created.approvalId,
    scope,
    resource: requestedResource(client, parameters) ?? null,
    organization_id: organizationId ?? null,
    delivery_mode: deliveryMode,
    notification_encrypted:
      deliveryMode === 'poll' || token === undefined ? null : sealNotification(services.encryption, tenant.id, id, { authReqId, token }),
    interval_seconds: tenant.settings.ciba_interval_seconds,
    mail_token_hash: mailToken === undefined ? null : hashSecret(mailToken),
  };
  await insertCibaRequest(queries, tenant.id, stored, lifetimeSeconds);
  if (deliveryMode === 'push')
    await scheduleCibaExpiry(queries, tenant.id, id, client.backchannelClientNotificationEndpoint ?? '', lifetimeSeconds);
  if (mailTo !== undefined && mailToken !== undefined)
    await queueMail(
      queries,
      services,
      tenant,
      mails.approval.make({ tenant, client, user, bindingMessage, lifetimeSeconds, mailToken }, mailTo),
    );
  await insertAuditEvent(queries, tenant.id, services.clock.nowMs(), {
    type: 'ciba.started',
    requestId: request.id,
    actor: `client:${client.clientId}`,
    target: `ciba_request:${id}`,
    data: { user: user.id, approval: created.approvalId, mode: deliveryMode, scope, by_mail: mailTo !== undefined },
  });
  return { ok: true };
}
