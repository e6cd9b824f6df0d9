// Tokens of a grant as the token endpoint issues them, for tests of what happens to tokens afterwards.
import { hashSecret } from '../../src/crypto/secret-hash.ts';
import type { Client } from '../../src/domain/client/client.ts';
import type { GrantId, UserId } from '../../src/domain/ids.ts';
import type { Tenant } from '../../src/domain/tenant/tenant.ts';
import type { Services } from '../../src/http/services.ts';
import { randomSecret, uuidV7 } from '../../src/platform/random.ts';
import { insertGrant } from '../../src/storage/oidc/grants.ts';
import { insertFirstRefreshToken } from '../../src/storage/oidc/refresh-tokens.ts';
import { type AccessTokenInput, mintAccessToken } from '../../src/tokens/access-token.ts';

export interface IssuedTokens {
  readonly grantId: GrantId;
  readonly accessToken: string;
  readonly jti: string;
  readonly refreshToken: string;
}

/** A grant of the user to the client with an access token (900 s) and a refresh token (1 h). */
export async function issueTokens(
  services: Services,
  tenant: Tenant,
  client: Client,
  userId: UserId,
  changes: Partial<AccessTokenInput> = {},
): Promise<IssuedTokens> {
  const grantId = uuidV7(services.clock.nowMs()) as GrantId; // made here
  const refreshToken = randomSecret();
  await services.database.write(tenant.id, async (queries) => {
    await insertGrant(
      queries,
      tenant.id,
      {
        id: grantId,
        clientId: client.clientId,
        userId,
        scope: 'openid offline_access',
        resource: undefined,
        authTimeSeconds: Math.floor(services.clock.nowMs() / 1000),
        acr: undefined,
        amr: ['otp'],
        nonce: undefined,
        maxAgeSeconds: undefined,
        dpopJkt: undefined,
      },
      3600,
    );
    await insertFirstRefreshToken(queries, tenant.id, { tokenHash: hashSecret(refreshToken), grantId, lifetimeSeconds: 3600 });
  });
  const minted = await mintAccessToken(tenant, await services.keyRings.of(tenant.id), services.clock, {
    clientId: client.clientId,
    sub: userId,
    audience: tenant.baseUrl,
    scope: 'openid offline_access',
    lifetimeSeconds: 900,
    sid: grantId,
    ...changes,
  });
  return { grantId, accessToken: minted.token, jti: minted.jti, refreshToken };
}

/** A client_credentials token of the client: no grant, no user. */
export async function issueClientToken(services: Services, tenant: Tenant, client: Client): Promise<string> {
  const minted = await mintAccessToken(tenant, await services.keyRings.of(tenant.id), services.clock, {
    clientId: client.clientId,
    sub: client.clientId,
    audience: tenant.managementApi,
    scope: 'users:read',
    lifetimeSeconds: 900,
  });
  return minted.token;
}
