// Who calls an API of ours with a bearer access token: the one verification behind the Management API and SCIM.
// The surface answers; the reason is for its `detail` or the audit trail.
import type { Client } from '../domain/client/client.ts';
import type { UserId } from '../domain/ids.ts';
import { fail, type Outcome } from '../domain/outcome.ts';
import type { Tenant } from '../domain/tenant/tenant.ts';
import type { Clock } from '../platform/clock.ts';
import type { ConfigCache } from '../storage/engine/config/config-cache.ts';
import type { Database } from '../storage/engine/database.ts';
import { findTokenState } from '../storage/oidc/revoked-tokens.ts';
import { hasBetter } from '../storage/people/own-keys.ts';
import { findCapabilities } from '../storage/people/user-roles.ts';
import { findCachedClient } from '../storage/registry/clients/clients.ts';
import { type AccessToken, type AccessTokenFailure, verifyAccessToken } from './access-token.ts';
import type { KeyRings } from './key-rings.ts';

export interface BearerDependencies {
  readonly clock: Clock;
  readonly database: Database;
  readonly cache: ConfigCache;
  readonly keyRings: KeyRings;
}

export interface Bearer {
  readonly token: AccessToken;
  readonly client: Client;
  /** What it allows now: for a person, what both the token and the roles they hold allow. */
  readonly scopes: readonly string[];
  /** For the audit trail: `user:<id>`, or `client:<id>` for client_credentials. */
  readonly actor: string;
}

export type BearerFailure =
  | 'missing_token'
  | AccessTokenFailure
  | 'wrong_audience'
  | 'sender_constrained'
  | 'token_revoked'
  | 'client_disabled'
  | 'user_inactive'
  | 'not_an_administrator'
  /** Of somebody who administers and has a passkey or phone, but signed in by less. */
  | 'sign_in_too_weak';

const scheme = /^Bearer +([A-Za-z0-9\-._~+/]+=*) *$/i;

/** The token of an `Authorization: Bearer` header (RFC 6750 2.1), or undefined when there is none. */
export function bearerTokenOf(authorization: string | undefined): string | undefined {
  return authorization === undefined ? undefined : scheme.exec(authorization)?.[1];
}

/** Verifies the bearer token of a request for one audience: signature, expiry, audience, deny-list, grant, client, user. */
export async function verifyBearer(
  { clock, database, cache, keyRings }: BearerDependencies,
  tenant: Tenant,
  authorization: string | undefined,
  audience: string,
): Promise<Outcome<Bearer, BearerFailure>> {
  const presented = bearerTokenOf(authorization);
  if (presented === undefined) return fail('missing_token');
  const keys = keyRings.peek(tenant.id) ?? (await keyRings.of(tenant.id));
  const verified = verifyAccessToken(tenant, keys, clock, presented);
  if (!verified.ok) return verified;
  const { token } = verified;
  if (!token.audience.includes(audience)) return fail('wrong_audience');
  // A token bound to a key is worth nothing to whoever only holds it (RFC 9449 7.1).
  if (token.claims['cnf'] !== undefined) return fail('sender_constrained');
  const client = await findCachedClient(cache, tenant.id, token.clientId);
  if (client?.enabled !== true) return fail('client_disabled');
  // An open resource may have been registered at what has become the address of our own API since.
  if (client.origin !== undefined) return fail('wrong_audience');
  const { state, held, isTooWeak } = await database.read(tenant.id, async (queries) => {
    const found = await findTokenState(queries, tenant.id, token);
    const person = token.sid === undefined ? undefined : (token.sub as UserId); // the id we put there
    return {
      state: found,
      held: person && (await findCapabilities(queries, tenant.id, person)),
      isTooWeak: person !== undefined && (await hasBetter(queries, tenant, person, found)),
    };
  });
  if (token.sid !== undefined && state.userState !== undefined && state.userState !== 'active') return fail('user_inactive');
  if (state.isRevoked) return fail('token_revoked');
  // A client may hold capabilities for the people who use it; only administrators may use them.
  if (held === undefined) return { ok: true, token, client, scopes: token.scopes, actor: `client:${token.clientId}` };
  if (state.userRole !== 'admin') return fail('not_an_administrator');
  if (isTooWeak) return fail('sign_in_too_weak');
  const allowed: ReadonlySet<string> = new Set(held);
  return { ok: true, token, client, scopes: token.scopes.filter((scope) => allowed.has(scope)), actor: `user:${token.sub}` };
}
