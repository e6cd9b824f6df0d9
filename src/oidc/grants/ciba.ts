// urn:openid:params:grant-type:ciba (CIBA Core 10.1, contract 7.10): a poll for the user's decision. Polls that come too early
// are counted before they are refused; the tokens of an approved request are given once.
import { type Cause, reject } from '../../contract/contract-error.ts';
import { hashSecret } from '../../crypto/secret-hash.ts';
import { findCibaRequest, recordCibaPoll, type StoredCibaRequest } from '../../storage/oidc/ciba-requests.ts';
import { grantOfRequest, redeemRequest } from '../ciba/ciba-redemption.ts';
import type { Examined, TokenGrant, TokenRequest } from './grant.ts';
import { refreshTokenFor } from './new-grant.ts';

export const cibaGrant: TokenGrant = {
  repeatsNonce: false,
  denied,
  examine: async (request) => {
    if (request.client.backchannelTokenDeliveryMode === 'push')
      throw reject('ciba.push_must_not_poll', 'push_client_polls', { text: 'The tokens are pushed to this client.' });
    return examined(request, await approvedRequest(request));
  },
};

/** The request as it is now; throws for all but one of this client that is approved, alive and unused. */
async function approvedRequest(request: TokenRequest): Promise<StoredCibaRequest> {
  const { services, tenant, client, parameters } = request;
  const authReqId = parameters.get('auth_req_id');
  if (authReqId === undefined) throw reject('ciba.auth_req_id_invalid', 'auth_req_id_missing');
  const hash = hashSecret(authReqId);
  const stored = await services.database.read(tenant.id, (queries) => findCibaRequest(queries, tenant.id, hash));
  if (stored === undefined) throw reject('ciba.auth_req_id_invalid', 'auth_req_id_unknown');
  if (stored.clientId !== client.clientId)
    throw reject('ciba.auth_req_id_invalid', {
      reason: 'auth_req_id_of_another_client',
      received: client.clientId,
      expected: stored.clientId,
    });
  await refuseUndecided(request, stored);
  return stored;
}

function denied(cause: string | Cause): Error {
  return reject('ciba.access_denied', cause, { text: 'The user denied the request.' });
}

/** Passes only a request that is approved, alive and unused. */
async function refuseUndecided({ services, tenant }: TokenRequest, stored: StoredCibaRequest): Promise<void> {
  if (stored.isUsed) throw reject('ciba.auth_req_id_invalid', 'auth_req_id_used');
  if (stored.state === 'denied') throw denied('denied');
  if (stored.isExpired || stored.state === 'expired') throw reject('ciba.expired_token', 'expired', { text: 'auth_req_id has expired.' });
  if (stored.state === 'approved') return;
  const isEarly = await services.database.write(tenant.id, (queries) => recordCibaPoll(queries, tenant.id, stored.authReqIdHash));
  if (isEarly) throw reject('ciba.slow_down', 'polled_early', { text: 'Polling too fast. The interval is 5 seconds longer from now on.' });
  throw reject('ciba.authorization_pending', 'pending');
}

function examined(request: TokenRequest, stored: StoredCibaRequest): Examined {
  const { services, tenant, client } = request;
  const grant = grantOfRequest(services, stored);
  return {
    grant,
    scopes: stored.scope.split(' '),
    resource: stored.resource,
    refusal: 'ciba.auth_req_id_invalid',
    userState: stored.userState,
    redeem: async ({ accessTokenLifetimeSeconds }) => {
      const refreshToken = refreshTokenFor(client, grant);
      const redemption = { grant, refreshToken, accessTokenLifetimeSeconds, payloadEncrypted: null, requestId: request.request.id };
      if (await redeemRequest(services, tenant, stored, redemption)) return refreshToken;
      // Another poll was first, or its time ended since.
      await approvedRequest(request);
      throw reject('ciba.auth_req_id_invalid', 'auth_req_id_used');
    },
  };
}
