// OpenID Connect Back-Channel Logout 1.0: tells a client that a session it got from us has ended, because the person
// logged out, an administrator ended it, or the user was suspended or deleted.
import { signJwt } from '../crypto/signing/jwt.ts';
import { type Carrier, eachAlone, postOnce } from '../deliveries/carrier.ts';
import { deliveryKinds } from '../deliveries/kinds.ts';
import { recipientClient, recipientTenant } from '../deliveries/recipients.ts';
import type { Client } from '../domain/client/client.ts';
import type { Tenant } from '../domain/tenant/tenant.ts';
import type { Parts } from '../http/services.ts';
import { nowSeconds } from '../platform/clock.ts';
import { findGrant, type StoredGrant } from '../storage/oidc/grants.ts';
import type { LogoutNotice } from '../storage/oidc/logout-notices.ts';
import { insertAuditEvent } from '../storage/records/audit-events.ts';
import { type KeySupply, ringWith } from '../tokens/signing-key-supply.ts';

type NoticeDeps = KeySupply & Parts<'clock' | 'database' | 'outbound' | 'tenants'>;

/** Back-Channel Logout 2.4: short, so that a leaked token is soon worthless. */
const tokenLifetimeSeconds = 120;
const logoutEvent = 'http://schemas.openid.net/event/backchannel-logout';

/** @param services read at each delivery, because the carrier is made before the services are whole. */
export const createLogoutCarrier = (services: () => NoticeDeps): Carrier<LogoutNotice> =>
  eachAlone(async (notice) => {
    const { cache, clock, database, outbound, tenants } = services();
    const tenant = await recipientTenant({ tenants }, notice.tenant_id);
    const grant = tenant && (await database.read(tenant.id, (queries) => findGrant(queries, tenant.id, notice.grant_id)));
    const client = tenant && grant && (await recipientClient({ cache, database }, tenant.id, grant.client_id));
    const url = client?.backchannelLogoutUri;
    if (tenant?.enabled !== true || grant === undefined || client?.enabled !== true || url === undefined) return undefined;
    const body = `logout_token=${await mintLogoutToken(services(), tenant, client, grant)}`;
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    return {
      send: (signal) => postOnce(outbound, { url, share: tenant.id, headers, body, timeoutMs: deliveryKinds.logout.attemptMs, signal }),
      settle: (queries, { result, reason }) =>
        insertAuditEvent(queries, tenant.id, clock.nowMs(), {
          type: result === 'taken' ? 'logout.notified' : 'logout.notification_failed',
          actor: 'system',
          target: `grant:${grant.id}`,
          reason,
          data: { client: grant.client_id, attempts: notice.attempts },
        }),
    };
  });

/** Back-Channel Logout 2.4: sub and sid, the event, and never a nonce. */
async function mintLogoutToken(services: KeySupply & Parts<'clock'>, tenant: Tenant, client: Client, grant: StoredGrant): Promise<string> {
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
    jti: `logout-${grant.id}`, // a repeat of the same news has the same
    events: { [logoutEvent]: {} },
    sid: grant.id,
  });
}
