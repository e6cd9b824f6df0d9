// Makes of an authorization response what the browser carries: a query, the fields of a form, or one signed JWT in either (JARM).
// After the commit, as signing has no place in a transaction. Called by whoever answers an authorization request.
import { signJwt } from '../crypto/signing/jwt.ts';
import { type AuthorizationResponse, type Destination, withQuery } from '../domain/oidc/authorization-response.ts';
import type { Tenant } from '../domain/tenant/tenant.ts';
import { type Clock, nowSeconds } from '../platform/clock.ts';
import { findCachedClient } from '../storage/registry/clients/clients.ts';
import { type KeySupply, ringWith } from '../tokens/signing-key-supply.ts';

export interface DeliveryDeps extends KeySupply {
  readonly clock: Clock;
}

/** Seconds a signed response is good for: the browser carries it at once. */
const responseLifetimeSeconds = 300;

/** Where the browser is sent with this response. */
export async function destinationOf(deps: DeliveryDeps, tenant: Tenant, response: AuthorizationResponse): Promise<Destination> {
  const { redirectUri, mode } = response;
  const parameters = mode === 'query' || mode === 'form_post' ? response.parameters : { response: await signed(deps, tenant, response) };
  return mode.startsWith('form_post') ? { location: redirectUri, fields: parameters } : { location: withQuery(redirectUri, parameters) };
}

/** JARM 2.1: signed as the client's ID tokens are. */
async function signed(deps: DeliveryDeps, tenant: Tenant, { clientId, parameters }: AuthorizationResponse): Promise<string> {
  const alg = (await findCachedClient(deps.cache, tenant.id, clientId))?.idTokenSignedResponseAlg ?? 'RS256';
  const key = (await ringWith(deps, tenant.id, [alg])).signing(alg);
  if (key === undefined) throw new Error(`tenant ${tenant.slug} has no current ${alg} key`);
  const iat = nowSeconds(deps.clock);
  return signJwt(key, 'JWT', { ...parameters, iss: tenant.baseUrl, aud: clientId, iat, exp: iat + responseLifetimeSeconds });
}
