// authorization_code (RFC 6749 4.1.3, RFC 7636): the code is checked completely before it is used, so that a wrong client or
// verifier does not burn it, and a second use by the right client ends everything issued from the first.
import { hash } from 'node:crypto';
import { reject } from '../../contract/contract-error.ts';
import { codeVerifierCharsMax, codeVerifierCharsMin } from '../../contract/limits.ts';
import { equalText, hashSecret } from '../../crypto/secret-hash.ts';
import { refreshGrantType } from '../../domain/oidc/grant-types.ts';
import { randomSecret } from '../../platform/random.ts';
import { findAuthorizationCode, redeemAuthorizationCode, type StoredAuthorizationCode } from '../../storage/oidc/authorization-codes.ts';
import type { Grant } from '../../storage/oidc/grants.ts';
import { insertFirstRefreshToken } from '../../storage/oidc/refresh-tokens.ts';
import { insertAuditEvent } from '../../storage/records/audit-events.ts';
import { refuseExceededAge } from '../authorize/max-age.ts';
import type { RequestParameters } from '../parameters.ts';
import type { Examined, Issue, TokenGrant, TokenRequest } from './grant.ts';

export const authorizationCodeGrant: TokenGrant = {
  repeatsNonce: true,
  denied: (cause) => reject('token.code_invalid', cause),
  examine: async (request) => {
    const { services, tenant, parameters } = request;
    const code = parameters.get('code');
    if (code === undefined) throw reject('token.code_invalid', 'code_missing');
    const stored = await services.database.read(tenant.id, (queries) => findAuthorizationCode(queries, tenant.id, hashSecret(code)));
    if (stored === undefined) throw reject('token.code_invalid', 'code_unknown');
    checkBinding(request, stored);
    checkVerifier(parameters, stored.codeChallenge);
    checkProofKey(request, stored);
    if (stored.isUsed) throw await refuseSecondUse(request, stored);
    if (stored.isExpired) throw reject('token.code_invalid', 'code_expired');
    refuseExceededAge(request, stored.grant);
    return examined(request, stored);
  },
};

function checkBinding({ client, parameters }: TokenRequest, stored: StoredAuthorizationCode): void {
  if (stored.grant.clientId !== client.clientId)
    throw reject('token.code_invalid', { reason: 'code_of_another_client', received: client.clientId, expected: stored.grant.clientId });
  const redirectUri = parameters.get('redirect_uri');
  if (redirectUri !== stored.redirectUri)
    throw reject('token.code_invalid', { reason: 'redirect_uri_differs', received: redirectUri, expected: stored.redirectUri });
}

const verifierSyntax = new RegExp(`^[A-Za-z0-9\\-._~]{${codeVerifierCharsMin},${codeVerifierCharsMax}}$`);

/** RFC 7636 4.6. */
function checkVerifier(parameters: RequestParameters, challenge: string | undefined): void {
  const verifier = parameters.get('code_verifier');
  if (challenge === undefined) {
    if (parameters.has('code_verifier')) throw reject('token.pkce_failed', 'verifier_without_challenge');
    return;
  }
  if (verifier === undefined) throw reject('token.pkce_failed', 'verifier_missing');
  if (!verifierSyntax.test(verifier)) throw reject('token.pkce_failed', 'verifier_malformed');
  if (!equalText(hash('sha256', verifier, 'base64url'), challenge)) throw reject('token.pkce_failed', 'verifier_mismatch');
}

/** RFC 9449 10: a code asked for with dpop_jkt is redeemed with that key only. */
function checkProofKey({ proofKey }: TokenRequest, stored: StoredAuthorizationCode): void {
  if (stored.dpopJkt !== undefined && stored.dpopJkt !== proofKey)
    throw reject('token.code_invalid', { reason: 'dpop_key_differs', received: proofKey, expected: stored.dpopJkt });
}

function examined(request: TokenRequest, stored: StoredAuthorizationCode): Examined {
  const { client, proofKey, certificate } = request;
  // RFC 9449 5, RFC 8705 4: the refresh tokens of a public client are bound to its key; a confidential one authenticates anyway.
  const bound = client.type === 'public' ? { dpopJkt: proofKey, certificateThumbprint: certificate } : { dpopJkt: undefined };
  const grant: Grant = { ...stored.grant, ...bound };
  return {
    grant,
    scopes: grant.scope === '' ? [] : grant.scope.split(' '),
    resource: grant.resource,
    refusal: 'token.code_invalid',
    userState: stored.userState,
    redeem: (issue) => redeem(request, stored, grant, issue),
  };
}

/** Seconds a row outlives its last token, so that a revocation is never forgotten early. */
const graceSeconds = 60;

async function redeem(request: TokenRequest, stored: StoredAuthorizationCode, grant: Grant, issue: Issue): Promise<string | undefined> {
  const { services, tenant, client } = request;
  const { refresh_token_absolute_seconds: absolute, refresh_token_idle_seconds: idle } = tenant.settings;
  const isOffline = client.grantTypes.includes(refreshGrantType) && grant.scope.split(' ').includes('offline_access');
  const refreshToken = isOffline ? randomSecret() : undefined;
  const lifetimeSeconds = issue.accessTokenLifetimeSeconds + (isOffline ? absolute : 0) + graceSeconds;
  const outcome = await services.database.write(tenant.id, async (queries) => {
    const redeemed = await redeemAuthorizationCode(queries, tenant.id, stored.codeHash, grant, lifetimeSeconds);
    if (redeemed.ok && refreshToken !== undefined)
      await insertFirstRefreshToken(queries, tenant.id, {
        tokenHash: hashSecret(refreshToken),
        grantId: grant.id,
        lifetimeSeconds: Math.min(idle, absolute),
      });
    if (redeemed.ok || redeemed.reason === 'used')
      await insertAuditEvent(queries, tenant.id, services.clock.nowMs(), {
        requestId: request.request.id,
        actor: `client:${client.clientId}`,
        target: `grant:${grant.id}`,
        ...(redeemed.ok
          ? { type: 'grant.created', data: { user_id: grant.userId, scope: grant.scope } }
          : { type: 'grant.revoked', reason: 'code_reuse' }),
      });
    return redeemed;
  });
  if (!outcome.ok) throw reject('token.code_invalid', `code_${outcome.reason}`);
  return refreshToken;
}

/** A code seen a second time: what the first use made is ended and committed before the refusal is made. */
async function refuseSecondUse(request: TokenRequest, stored: StoredAuthorizationCode): Promise<Error> {
  try {
    await redeem(request, stored, stored.grant, { accessTokenLifetimeSeconds: 0, scopes: [], resource: stored.grant.resource });
  } catch (error) {
    return error as Error; // redeem throws ContractErrors and faults, both Errors
  }
  throw new Error('a used authorization code was redeemed');
}
