// refresh_token (RFC 6749 6, RFC 9700 4.14): rotated at every use; a second use of one ends the family. Checked completely
// before it is used, so that a wrong scope does not cost the client its token. Clients of the profile fapi2 keep theirs.
import { reject } from '../../contract/contract-error.ts';
import { createKeyEncryption, type KeyEncryption } from '../../crypto/key-encryption.ts';
import { hashSecret } from '../../crypto/secret-hash.ts';
import type { Client } from '../../domain/client/client.ts';
import { isFapi2 } from '../../domain/client/fapi2.ts';
import { randomSecret } from '../../platform/random.ts';
import type { Grant } from '../../storage/oidc/grants.ts';
import {
  findRefreshToken,
  prolongRefreshToken,
  type Rotation,
  rotateRefreshToken,
  type StoredRefreshToken,
} from '../../storage/oidc/refresh-tokens.ts';
import { insertAuditEvent } from '../../storage/records/audit-events.ts';
import { refuseExceededAge } from '../authorize/max-age.ts';
import type { TokenGrant, TokenRequest } from './grant.ts';

/** What our refresh tokens look like: 32 bytes, base64url. */
const tokenSyntax = /^[A-Za-z0-9_-]{43}$/;
const successorPurpose = 'refresh-successor';

export const refreshTokenGrant: TokenGrant = {
  repeatsNonce: false,
  denied: (cause) => reject('token.refresh_invalid', cause),
  examine: async (request) => {
    const { services, tenant, client, parameters } = request;
    const token = parameters.get('refresh_token');
    if (token === undefined) throw reject('token.refresh_invalid', 'refresh_token_missing');
    if (!tokenSyntax.test(token)) throw reject('token.refresh_invalid', 'refresh_token_malformed');
    const stored = await services.database.read(tenant.id, (queries) => findRefreshToken(queries, tenant.id, hashSecret(token)));
    if (stored === undefined) throw reject('token.refresh_invalid', 'refresh_token_unknown');
    const { grant } = stored;
    if (grant.clientId !== client.clientId)
      throw reject('token.refresh_invalid', {
        reason: 'refresh_token_of_another_client',
        received: client.clientId,
        expected: grant.clientId,
      });
    if (grant.dpopJkt !== undefined && grant.dpopJkt !== request.proofKey)
      throw reject('token.refresh_invalid', { reason: 'dpop_key_differs', received: request.proofKey, expected: grant.dpopJkt });
    if (grant.certificateThumbprint !== undefined && grant.certificateThumbprint !== request.certificate)
      throw reject('token.refresh_invalid', {
        reason: 'certificate_differs',
        received: request.certificate,
        expected: grant.certificateThumbprint,
      });
    if (stored.isGrantRevoked) throw reject('token.refresh_invalid', 'family_revoked');
    // Outside the leeway a second use needs no further check: it ends the family.
    if (stored.usedForMs !== undefined && stored.usedForMs >= leewaySecondsOf(client, grant) * 1000)
      throw await refuseReuse(request, token, stored);
    if (stored.isExpired) throw reject('token.refresh_invalid', 'refresh_token_expired');
    refuseExceededAge(request, grant);
    return {
      grant,
      scopes: grant.scope === '' ? [] : grant.scope.split(' '),
      resource: grant.resource,
      refusal: 'token.refresh_invalid',
      userState: stored.userState,
      redeem: () => (isFapi2(client) ? prolong(request, token, stored) : rotate(request, token, stored)),
    };
  },
};

async function rotate(request: TokenRequest, token: string, stored: StoredRefreshToken): Promise<string> {
  const { services, tenant, client } = request;
  const successor = randomSecret();
  const leewaySeconds = leewaySecondsOf(client, stored.grant);
  const rotation: Rotation = {
    tokenHash: stored.tokenHash,
    clientId: client.clientId,
    grantId: stored.grant.id,
    successorHash: hashSecret(successor),
    successorEncrypted: leewaySeconds === 0 ? undefined : successorEncryption(token).encrypt(successor, successorPurpose),
    lifetimeSeconds: successorLifetimeSeconds(request, stored),
    leewaySeconds,
  };
  const outcome = await services.database.write(tenant.id, async (queries) => {
    const rotated = await rotateRefreshToken(queries, tenant.id, rotation);
    if (!rotated.ok && rotated.reason === 'reused')
      await insertAuditEvent(queries, tenant.id, services.clock.nowMs(), {
        type: 'grant.revoked',
        requestId: request.request.id,
        actor: `client:${client.clientId}`,
        target: `grant:${stored.grant.id}`,
        reason: 'refresh_reuse',
        data: { user_id: stored.grant.userId },
      });
    return rotated;
  });
  if (!outcome.ok) throw reject('token.refresh_invalid', `refresh_token_${outcome.reason}`);
  if (outcome.replayedSuccessor === undefined) return successor;
  return successorEncryption(token).decrypt(outcome.replayedSuccessor, successorPurpose).toString();
}

/** FAPI 2.0 5.3.2.1: the token stays the same, and its idle lifetime starts anew. */
async function prolong(request: TokenRequest, token: string, stored: StoredRefreshToken): Promise<string> {
  const { services, tenant, client } = request;
  const isAlive = await services.database.write(tenant.id, (queries) =>
    prolongRefreshToken(queries, tenant.id, {
      tokenHash: stored.tokenHash,
      clientId: client.clientId,
      lifetimeSeconds: successorLifetimeSeconds(request, stored),
    }),
  );
  if (!isAlive) throw reject('token.refresh_invalid', 'refresh_token_expired_or_revoked');
  return token;
}

/** Seconds in which a retry gets the same successor. A grant bound to a key has them always: the key proves who retries. */
const leewaySecondsOf = (client: Client, grant: Grant): number =>
  Math.max(client.refreshReuseLeewaySeconds, (grant.dpopJkt ?? grant.certificateThumbprint) === undefined ? 0 : boundLeewaySeconds);
const boundLeewaySeconds = 60;

/** Idle lifetime, or what is left of the family's absolute one. */
function successorLifetimeSeconds({ tenant }: TokenRequest, stored: StoredRefreshToken): number {
  const { refresh_token_idle_seconds: idle, refresh_token_absolute_seconds: absolute } = tenant.settings;
  const leftMs = stored.grantCreatedAtMs + absolute * 1000 - stored.nowMs;
  return Math.max(1, Math.min(idle, Math.floor(leftMs / 1000)));
}

/** Only who holds the old token can open its successor. */
const successorEncryption = (token: string): KeyEncryption => createKeyEncryption(Buffer.from(token, 'base64url'));

/** The family is ended and that is committed before the refusal is made. */
async function refuseReuse(request: TokenRequest, token: string, stored: StoredRefreshToken): Promise<Error> {
  try {
    await rotate(request, token, stored);
  } catch (error) {
    return error as Error; // rotate throws ContractErrors and faults, both Errors
  }
  throw new Error('a refresh token was used twice');
}
