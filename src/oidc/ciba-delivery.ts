// The job that tells ping and push clients about their CIBA requests (CIBA Core 10.2, 10.3, 12): takes due rows of the outbox,
// posts once, and retries on 5xx and silence with doubling pauses as long as the request lives. A redirect or a 4xx is the
// client's last word. What was minted for a push that is given up is revoked.
import type { Client } from '../domain/client.ts';
import type { Tenant } from '../domain/tenant.ts';
import type { Services } from '../http/services.ts';
import type { Job } from '../platform/jobs.ts';
import type { OutboundResult } from '../platform/outbound.ts';
import { insertAuditEvent } from '../storage/audit-events.ts';
import {
  type CibaDeliveryTable,
  claimCibaDeliveries,
  deferCibaDelivery,
  deleteCibaDelivery,
  hasDueCibaDeliveries,
} from '../storage/ciba-deliveries.ts';
import { clearCibaNotification, findCibaRequestById, type StoredCibaRequest } from '../storage/ciba-requests.ts';
import { findCachedClient } from '../storage/clients.ts';
import { revokeGrant } from '../storage/grants.ts';
import { openNotification } from './ciba-notification.ts';
import { pushBody, pushErrorBody } from './ciba-push.ts';

const batchMax = 50;
const leaseMs = 30_000;
const timeoutMs = 5000;
const responseBytesMax = 64 * 1024;
/** How long the news that a request has expired is worth repeating. */
const expiryNewsMs = 60_000;

/** @param services read at each run, because the job is made before the services are whole. */
export function createCibaDeliveryJob(services: () => Services): Job {
  return {
    name: 'ciba-delivery',
    everyMs: 500,
    run: async (signal) => {
      const { database } = services();
      while (!signal.aborted && (await database.systemRead(hasDueCibaDeliveries))) {
        const due = await database.system((queries) => claimCibaDeliveries(queries, batchMax, leaseMs));
        await Promise.all(
          due.map((delivery) => deliver(services(), delivery).catch((error: unknown) => report(services(), delivery, error))),
        );
      }
    },
  };
}

/** A fault of ours leaves the row to its lease: it is tried again after it. */
function report({ log }: Services, delivery: CibaDeliveryTable, error: unknown): void {
  log.error({ err: error, ciba_request: delivery.request_id, attempts: delivery.attempts }, 'a CIBA notification could not be prepared');
}

async function deliver(services: Services, delivery: CibaDeliveryTable): Promise<void> {
  const tenant = await services.tenants.byId(delivery.tenant_id);
  const stored =
    tenant === undefined
      ? undefined
      : await services.database.read(tenant.id, (queries) => findCibaRequestById(queries, tenant.id, delivery.request_id));
  if (tenant === undefined || stored === undefined) return forget(services, delivery);
  if (stored.state === 'pending' && !stored.isExpired) return defer(services, delivery, stored.expiresAtMs, 0);
  const client = await findCachedClient(services.cache, tenant.id, stored.clientId);
  const endpoint = client?.backchannelClientNotificationEndpoint;
  if (!tenant.enabled || client?.enabled !== true || endpoint === undefined || stored.notificationEncrypted === undefined)
    return finish(services, tenant, delivery, stored, 'client_unavailable');
  const { authReqId, token } = openNotification(services.encryption, tenant.id, stored.id, stored.notificationEncrypted);
  const body = await bodyOf(services, tenant, client, stored, authReqId);
  if (body === undefined) return finish(services, tenant, delivery, stored, undefined);
  const result = await services.outbound.fetch({
    url: endpoint,
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body,
    timeoutMs,
    responseBytesMax,
  });
  await judge(services, tenant, delivery, stored, result);
}

/** What is posted; undefined when the client knows already. */
async function bodyOf(
  services: Services,
  tenant: Tenant,
  client: Client,
  stored: StoredCibaRequest,
  authReqId: string,
): Promise<string | undefined> {
  if (stored.deliveryMode === 'ping') return stored.isUsed ? undefined : JSON.stringify({ auth_req_id: authReqId });
  if (stored.state === 'approved') return pushBody(services, tenant, client, stored, authReqId);
  return pushErrorBody(authReqId, stored.state === 'denied' ? 'access_denied' : 'expired_token');
}

/** Done, given up, or once more after 1, 2, 4 … seconds. */
async function judge(
  services: Services,
  tenant: Tenant,
  delivery: CibaDeliveryTable,
  stored: StoredCibaRequest,
  result: OutboundResult,
): Promise<void> {
  if (result.ok && result.status >= 200 && result.status < 300) return finish(services, tenant, delivery, stored, undefined);
  const failure = result.ok ? `status_${result.status}` : result.reason;
  const mayRecover = result.ok ? result.status >= 500 : recoverable.includes(result.reason);
  const endsAtMs = stored.state === 'approved' || stored.state === 'denied' ? stored.expiresAtMs : stored.expiresAtMs + expiryNewsMs;
  const nextAtMs = await nowOf(services, tenant, delivery, 1000 * 2 ** (delivery.attempts - 1));
  if (!mayRecover || nextAtMs === undefined || nextAtMs >= endsAtMs) return finish(services, tenant, delivery, stored, failure);
  await defer(services, delivery, nextAtMs);
}

const recoverable: readonly string[] = ['timeout', 'network', 'unresolved'];

/** The database's time `waitMs` from now (R3); undefined when the request is gone. */
async function nowOf(services: Services, tenant: Tenant, delivery: CibaDeliveryTable, waitMs: number): Promise<number | undefined> {
  const stored = await services.database.read(tenant.id, (queries) => findCibaRequestById(queries, tenant.id, delivery.request_id));
  return stored === undefined ? undefined : stored.nowMs + waitMs;
}

/** The delivery is over: its secrets and its row go; a failure revokes what was minted and is audited. */
async function finish(
  services: Services,
  tenant: Tenant,
  delivery: CibaDeliveryTable,
  stored: StoredCibaRequest,
  failure: string | undefined,
): Promise<void> {
  await services.database.write(tenant.id, async (queries) => {
    await deleteCibaDelivery(queries, tenant.id, stored.id);
    const latest = await findCibaRequestById(queries, tenant.id, stored.id);
    await clearCibaNotification(queries, tenant.id, stored.id);
    const grantId = stored.deliveryMode === 'push' ? latest?.grantId : undefined;
    if (failure !== undefined && grantId !== undefined) await revokeGrant(queries, tenant.id, grantId, 'delivery_failed');
    await insertAuditEvent(queries, tenant.id, services.clock.nowMs(), {
      type: failure === undefined ? 'ciba.delivered' : 'ciba.delivery_failed',
      actor: 'system',
      target: `ciba_request:${stored.id}`,
      reason: failure,
      data: { client: stored.clientId, mode: stored.deliveryMode, state: stored.state, attempts: delivery.attempts, grant: grantId },
    });
  });
}

const forget = (services: Services, delivery: CibaDeliveryTable): Promise<void> =>
  services.database.system((queries) => deleteCibaDelivery(queries, delivery.tenant_id, delivery.request_id));

const defer = (services: Services, delivery: CibaDeliveryTable, dueAtMs: number, attempts?: number): Promise<void> =>
  services.database.system((queries) => deferCibaDelivery(queries, delivery, dueAtMs, attempts));
