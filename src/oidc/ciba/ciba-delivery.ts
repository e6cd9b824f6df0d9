// Tells ping and push clients about their CIBA requests (CIBA Core 10.2, 10.3, 12), as long as the request lives. What was minted
// for a push that is given up is revoked.
import { type Attempted, type Carrier, eachAlone, type Parcel, postOnce } from '../../deliveries/carrier.ts';
import { deliveryKinds } from '../../deliveries/kinds.ts';
import { recipientClient, recipientTenant } from '../../deliveries/recipients.ts';
import type { Client } from '../../domain/client/client.ts';
import type { Tenant } from '../../domain/tenant/tenant.ts';
import type { Parts } from '../../http/services.ts';
import type { Queries } from '../../storage/engine/database.ts';
import type { CibaDelivery } from '../../storage/oidc/ciba-deliveries.ts';
import { clearCibaNotification, findCibaRequestById, type StoredCibaRequest } from '../../storage/oidc/ciba-requests.ts';
import { revokeGrant } from '../../storage/oidc/grants.ts';
import { insertAuditEvent } from '../../storage/records/audit-events.ts';
import { openNotification } from './ciba-notification.ts';
import { type PushBodyDeps, pushBody, pushErrorBody } from './ciba-push.ts';

type DeliveryDeps = PushBodyDeps & Parts<'outbound' | 'tenants'>;

/** How long the news that a request has expired is worth repeating. */
const expiryNewsMs = 60_000;

/** @param services read at each delivery, because the carrier is made before the services are whole. */
export const createCibaCarrier = (services: () => DeliveryDeps): Carrier<CibaDelivery> =>
  eachAlone(async (delivery) => {
    const { cache, clock, database, tenants } = services();
    const tenant = await recipientTenant({ tenants }, delivery.tenant_id);
    const stored = tenant && (await database.read(tenant.id, (queries) => findCibaRequestById(queries, tenant.id, delivery.request_id)));
    if (tenant === undefined || stored === undefined) return undefined;
    if (stored.state === 'pending' && !stored.isExpired) return { notBeforeMs: stored.expiresAtMs };
    const isDecided = stored.state === 'approved' || stored.state === 'denied';
    const client = await recipientClient({ cache, database }, tenant.id, stored.clientId);
    return {
      send: await prepareSending(services(), tenant, client, stored),
      endsAtMs: isDecided ? stored.expiresAtMs : stored.expiresAtMs + expiryNewsMs,
      settle: (queries, attempted) => settle(queries, tenant, stored, { attempted, attempts: delivery.attempts, nowMs: clock.nowMs() }),
    };
  });

async function prepareSending(
  services: DeliveryDeps,
  tenant: Tenant,
  client: Client | undefined,
  stored: StoredCibaRequest,
): Promise<Parcel['send']> {
  const url = client?.backchannelClientNotificationEndpoint;
  if (!tenant.enabled || client?.enabled !== true || url === undefined || stored.notificationEncrypted === undefined)
    return async () => ({ result: 'refused', reason: 'client_unavailable' });
  const { authReqId, token } = openNotification(services.encryption, tenant.id, stored.id, stored.notificationEncrypted);
  const body = await bodyOf(services, tenant, client, stored, authReqId);
  if (typeof body !== 'string') return async () => body;
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  return (signal) => postOnce(services.outbound, { url, share: tenant.id, headers, body, timeoutMs: deliveryKinds.ciba.attemptMs, signal });
}

/** What is posted, or what came of it without a post: a client may know already, a hook may fail. */
async function bodyOf(
  services: PushBodyDeps,
  tenant: Tenant,
  client: Client,
  stored: StoredCibaRequest,
  authReqId: string,
): Promise<string | Attempted> {
  if (stored.deliveryMode === 'ping') return stored.isUsed ? { result: 'taken' } : JSON.stringify({ auth_req_id: authReqId });
  if (stored.state === 'approved')
    return (await pushBody(services, tenant, client, stored, authReqId)) ?? { result: 'failed', reason: 'hook_failed' };
  return pushErrorBody(authReqId, stored.state === 'denied' ? 'access_denied' : 'expired_token');
}

interface End {
  readonly attempted: Attempted;
  readonly attempts: number;
  readonly nowMs: number;
}

/** The delivery is over: its secrets go; a failure revokes what was minted and is audited. */
async function settle(queries: Queries, tenant: Tenant, stored: StoredCibaRequest, { attempted, attempts, nowMs }: End): Promise<void> {
  const isTaken = attempted.result === 'taken';
  const latest = await findCibaRequestById(queries, tenant.id, stored.id);
  await clearCibaNotification(queries, tenant.id, stored.id);
  const grantId = stored.deliveryMode === 'push' ? latest?.grantId : undefined;
  if (!isTaken && grantId !== undefined) await revokeGrant(queries, tenant.id, grantId, 'delivery_failed');
  await insertAuditEvent(queries, tenant.id, nowMs, {
    type: isTaken ? 'ciba.delivered' : 'ciba.delivery_failed',
    actor: 'system',
    target: `ciba_request:${stored.id}`,
    reason: attempted.reason,
    data: { client: stored.clientId, mode: stored.deliveryMode, state: stored.state, attempts, grant: grantId },
  });
}
