// Whom a CIBA request is about (CIBA Core 7.1): login_hint is an email or user name, id_token_hint one of our ID tokens for
// this client, login_hint_token a short-lived JWT the client signed, naming the user by `sub_id` (RFC 9493).
// Nobody is told why a hint resolves to nobody; the reason goes to the audit record.
import type { Cause } from '../../contract/contract-error.ts';
import { assertionLifetimeSecondsMax, identifierCharsMax } from '../../contract/limits.ts';
import { parseJwt } from '../../crypto/signing/jwt.ts';
import type { Client } from '../../domain/client/client.ts';
import type { Tenant } from '../../domain/tenant/tenant.ts';
import { nowSeconds } from '../../platform/clock.ts';
import type { Queries } from '../../storage/engine/database.ts';
import type { UserRow } from '../../storage/people/user-rows.ts';
import { findUser, findUserByIdentifier } from '../../storage/people/users.ts';
import { verifyIdTokenHint } from '../../tokens/id-token.ts';
import type { KeyRings } from '../../tokens/key-rings.ts';
import { type AssertionDeps, findSignatureFault } from '../client/client-assertion.ts';
import type { RequestParameters } from '../parameters.ts';

export interface HintDeps extends AssertionDeps {
  readonly keyRings: KeyRings;
}

export const hintNames = ['login_hint', 'login_hint_token', 'id_token_hint'] as const;

/** What a hint says about its user, verified but not looked up. */
export type UserName = { readonly identifier: string } | { readonly userId: string };

/** Verifies the one hint of a request and gives whom it names, or why it names nobody. */
export async function readHint(
  services: HintDeps,
  tenant: Tenant,
  client: Client,
  parameters: RequestParameters,
): Promise<UserName | Cause> {
  const loginHint = parameters.get('login_hint');
  if (loginHint !== undefined)
    return loginHint.length <= identifierCharsMax
      ? { identifier: loginHint }
      : { reason: 'login_hint_too_long', received: loginHint.length };
  const idTokenHint = parameters.get('id_token_hint');
  if (idTokenHint !== undefined) {
    const verified = verifyIdTokenHint(tenant, await services.keyRings.of(tenant.id), idTokenHint);
    if (!verified.ok) return { reason: `id_token_hint_${verified.reason}` };
    if (verified.hint.clientId !== client.clientId)
      return { reason: 'id_token_hint_of_another_client', received: verified.hint.clientId, expected: client.clientId };
    return { userId: verified.hint.sub };
  }
  return readHintToken(services, tenant, client, parameters.get('login_hint_token') ?? '');
}

/** The user a hint names, or undefined. Two look-ups at most, by indexed keys. */
export function findNamedUser(queries: Queries, tenant: Tenant, name: UserName): Promise<UserRow | undefined> {
  return 'userId' in name ? findUser(queries, tenant.id, name.userId) : findUserByIdentifier(queries, tenant.id, name.identifier);
}

/** A JWT by the client's registered key or secret: iss the client, aud our issuer, exp at most ten minutes ahead. */
async function readHintToken(services: AssertionDeps, tenant: Tenant, client: Client, token: string): Promise<UserName | Cause> {
  const jwt = parseJwt(token);
  if (jwt === undefined) return { reason: 'login_hint_token_malformed' };
  const fault = await findSignatureFault(services, tenant, client, jwt);
  if (fault !== undefined) return { ...fault, reason: `login_hint_token: ${fault.reason}` };
  const { iss, aud, exp, sub_id: subject } = jwt.claims;
  const now = nowSeconds(services.clock);
  if (iss !== client.clientId) return { reason: 'login_hint_token_iss', received: String(iss), expected: client.clientId };
  if (!(Array.isArray(aud) ? aud : [aud]).includes(tenant.baseUrl))
    return { reason: 'login_hint_token_aud', received: JSON.stringify(aud), expected: tenant.baseUrl };
  if (typeof exp !== 'number' || exp <= now || exp > now + assertionLifetimeSecondsMax)
    return { reason: 'login_hint_token_exp', received: String(exp), expected: now };
  return nameOf(tenant, subject);
}

/** Subject identifiers of RFC 9493: `email`, `iss_sub` of ours, and `opaque` holding a `sub`. */
function nameOf(tenant: Tenant, subject: unknown): UserName | Cause {
  if (typeof subject !== 'object' || subject === null) return { reason: 'login_hint_token_sub_id', received: typeof subject };
  const { format, email, iss, sub, id } = subject as Readonly<Record<string, unknown>>; // each member is checked here
  if (format === 'email' && isName(email)) return { identifier: email };
  if (format === 'iss_sub' && iss === tenant.baseUrl && isName(sub)) return { userId: sub };
  if (format === 'opaque' && isName(id)) return { userId: id };
  return { reason: 'login_hint_token_sub_id', received: String(format) };
}

const isName = (value: unknown): value is string =>
  typeof value === 'string' && value !== '' && value.length <= identifierCharsMax && !value.includes('\u0000');
