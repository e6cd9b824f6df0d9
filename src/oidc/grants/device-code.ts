// urn:ietf:params:oauth:grant-type:device_code (RFC 8628 3.4): a poll for the person's decision, by the rules of contract 7.10. Polls
// that come too early are counted before they are refused; the tokens of an approved device are given once.
import { type Cause, reject } from '../../contract/contract-error.ts';
import { hashSecret } from '../../crypto/secret-hash.ts';
import type { GrantId, UserId } from '../../domain/ids.ts';
import { uuidV7 } from '../../platform/random.ts';
import {
  findDeviceAuthorization,
  type PolledDevice,
  recordDevicePoll,
  redeemDeviceAuthorization,
} from '../../storage/oidc/device-authorizations.ts';
import type { Grant } from '../../storage/oidc/grants.ts';
import type { Examined, TokenGrant, TokenRequest } from './grant.ts';
import { refreshTokenFor, storeGrant } from './new-grant.ts';

export const deviceCodeGrant: TokenGrant = {
  repeatsNonce: false,
  denied,
  examine: async (request) => examined(request, await approvedDevice(request)),
};

type ApprovedDevice = PolledDevice & { readonly user_id: UserId };

/** The device as it is now; throws for all but one of this client that is approved, alive and unused. */
async function approvedDevice(request: TokenRequest): Promise<ApprovedDevice> {
  const { services, tenant, client, parameters } = request;
  const deviceCode = parameters.get('device_code');
  if (deviceCode === undefined) throw reject('device_grant.code_invalid', 'device_code_missing');
  const hash = hashSecret(deviceCode);
  const stored = await services.database.read(tenant.id, (queries) => findDeviceAuthorization(queries, tenant.id, hash));
  if (stored === undefined) throw reject('device_grant.code_invalid', 'device_code_unknown');
  if (stored.client_id !== client.clientId)
    throw reject('device_grant.code_invalid', {
      reason: 'device_code_of_another_client',
      received: client.clientId,
      expected: stored.client_id,
    });
  return { ...stored, user_id: await decided(request, stored) };
}

function denied(cause: string | Cause): Error {
  return reject('device_grant.access_denied', cause, { text: 'The user denied the request.' });
}

/** Who approved it. Passes only a device that is approved, alive and unused. */
async function decided({ services, tenant }: TokenRequest, stored: PolledDevice): Promise<UserId> {
  if (stored.used_at !== null) throw reject('device_grant.code_invalid', 'device_code_used');
  if (stored.state === 'denied') throw denied('denied');
  if (stored.expires_at <= stored.now_ms) throw reject('device_grant.expired_token', 'expired', { text: 'device_code has expired.' });
  if (stored.user_id !== null) return stored.user_id;
  const isEarly = await services.database.write(tenant.id, (queries) => recordDevicePoll(queries, tenant.id, stored.device_code_hash));
  if (isEarly)
    throw reject('device_grant.slow_down', 'polled_early', { text: 'Polling too fast. The interval is 5 seconds longer from now on.' });
  throw reject('device_grant.authorization_pending', 'pending');
}

function examined(request: TokenRequest, stored: ApprovedDevice): Examined {
  const { services, tenant, client } = request;
  const grant: Grant = {
    id: uuidV7(services.clock.nowMs()) as GrantId, // made here
    clientId: stored.client_id,
    userId: stored.user_id,
    scope: stored.scope,
    resource: stored.resource ?? undefined,
    authTimeSeconds: stored.auth_time ?? 0,
    acr: stored.acr ?? undefined,
    amr: JSON.parse(stored.amr ?? '[]'),
    nonce: undefined,
    maxAgeSeconds: undefined,
    // RFC 9449 5, RFC 8705 4: the refresh tokens of a public client are bound to its key.
    dpopJkt: client.type === 'public' ? request.proofKey : undefined,
    certificateThumbprint: client.type === 'public' ? request.certificate : undefined,
  };
  return {
    grant,
    scopes: grant.scope === '' ? [] : grant.scope.split(' '),
    resource: grant.resource,
    refusal: 'device_grant.code_invalid',
    userState: stored.user_state ?? undefined,
    redeem: async ({ accessTokenLifetimeSeconds }) => {
      const refreshToken = refreshTokenFor(client, grant);
      const made = { grant, refreshToken, accessTokenLifetimeSeconds, requestId: request.request.id };
      const isRedeemed = await services.database.write(tenant.id, async (queries) => {
        if (!(await redeemDeviceAuthorization(queries, tenant.id, stored.device_code_hash, grant.id))) return false;
        await storeGrant(queries, tenant, services.clock.nowMs(), made, { device_authorization: stored.id });
        return true;
      });
      if (isRedeemed) return refreshToken;
      // Another poll was first, or its time ended since.
      await approvedDevice(request);
      throw reject('device_grant.code_invalid', 'device_code_used');
    },
  };
}
