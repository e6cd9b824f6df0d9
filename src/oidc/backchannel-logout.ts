// OpenID Connect Back-Channel Logout 1.0: the job that tells a client that a session it got from us has ended, because the person
// logged out, an administrator ended it, or the user was suspended or deleted. A 4xx or redirect is the client's last word;
// 5xx and silence are tried again with doubling pauses.
import { signJwt } from '../crypto/jwt.ts';
import type { Client } from '../domain/client.ts';
import type { Tenant } from '../domain/tenant.ts';
import type { Services } from '../http/services.ts';
import { nowSeconds } from '../platform/clock.ts';
import type { Job } from '../platform/jobs.ts';
import type { OutboundResult } from '../platform/outbound.ts';
import { randomId } from '../platform/random.ts';
import { insertAuditEvent } from '../storage/audit-events.ts';
import { findCachedClient } from '../storage/clients.ts';
import { findGrant, type GrantTable } from '../storage/grants.ts';
import {
  claimLogoutNotices,
  deferLogoutNotice,
  deleteLogoutNotice,
  hasDueLogoutNotices,
  type LogoutNoticeTable,
} from '../storage/logout-notices.ts';
import { ringWith } from '../tokens/signing-key-supply.ts';

const batchMax = 50;
const leaseMs = 30_000;
const timeoutMs = 5000;
const responseBytesMax = 64 * 1024;
const attemptsMax = 8;
/** Back-Channel Logout 2.4: short, so that a leaked token is soon worthless. */
const tokenLifetimeSeconds = 120;
const logoutEvent = 'http://schemas.openid.net/event/backchannel-logout';

/** @param services read at each run, because the job is made before the services are whole. */
export function createLogoutNoticeJob(services: () => Services): Job {
  return {
    name: 'logout-notices',
    everyMs: 500,
    run: async (signal) => {
      const { database, log } = services();
      while (!signal.aborted && (await database.systemRead(hasDueLogoutNotices))) {
        const due = await database.system((queries) => claimLogoutNotices(queries, batchMax, leaseMs));
        const notify = async (notice: LogoutNoticeTable): Promise<void> => {
          await deliver(services(), notice).catch((error: unknown) => {
            log.error({ err: error, grant: notice.grant_id, attempts: notice.attempts }, 'a logout notice could not be prepared');
          });
        };
        await Promise.all(due.map(notify));
      }
    },
  };
}

async function deliver(services: Services, notice: LogoutNoticeTable): Promise<void> {
  const { database } = services;
  const tenant = await services.tenants.byId(notice.tenant_id);
  const grant = tenant && (await database.read(tenant.id, (queries) => findGrant(queries, tenant.id, notice.grant_id)));
  const client = tenant && grant && (await findCachedClient(services.cache, tenant.id, grant.client_id));
  const uri = client?.backchannelLogoutUri;
  if (tenant?.enabled !== true || grant === undefined || client?.enabled !== true || uri === undefined)
    return database.system((queries) => deleteLogoutNotice(queries, notice));
  const result = await services.outbound.fetch({
    url: uri,
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: `logout_token=${await mintLogoutToken(services, tenant, client, grant)}`,
    timeoutMs,
    responseBytesMax,
  });
  await judge(services, tenant, notice, grant, result);
}

/** Back-Channel Logout 2.4: sub and sid, the event, and never a nonce. */
async function mintLogoutToken(services: Services, tenant: Tenant, client: Client, grant: GrantTable): Promise<string> {
  const alg = client.idTokenSignedResponseAlg;
  const key = (await ringWith(services, tenant.id, [alg])).signing(alg);
  if (key === undefined) throw new Error(`tenant ${tenant.slug} has no current ${alg} key`);
  const iat = nowSeconds(services.clock);
  return signJwt(key, 'logout+jwt', {
    iss: tenant.baseUrl,
    sub: grant.user_id,
    aud: client.clientId,
    iat,
    exp: iat + tokenLifetimeSeconds,
    jti: randomId(),
    events: { [logoutEvent]: {} },
    sid: grant.id,
  });
}

const recoverable: readonly string[] = ['timeout', 'network', 'unresolved'];

async function judge(
  services: Services,
  tenant: Tenant,
  notice: LogoutNoticeTable,
  grant: GrantTable,
  result: OutboundResult,
): Promise<void> {
  const isTaken = result.ok && result.status >= 200 && result.status < 300;
  const mayRecover = result.ok ? result.status >= 500 : recoverable.includes(result.reason);
  if (!isTaken && mayRecover && notice.attempts < attemptsMax)
    return services.database.system((queries) => deferLogoutNotice(queries, notice, 1000 * 2 ** (notice.attempts - 1)));
  await services.database.write(tenant.id, async (queries) => {
    await deleteLogoutNotice(queries, notice);
    await insertAuditEvent(queries, tenant.id, services.clock.nowMs(), {
      type: isTaken ? 'logout.notified' : 'logout.notification_failed',
      actor: 'system',
      target: `grant:${grant.id}`,
      reason: isTaken ? undefined : result.ok ? `status_${result.status}` : result.reason,
      data: { client: grant.client_id, attempts: notice.attempts },
    });
  });
}
