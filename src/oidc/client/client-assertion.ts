// client_secret_jwt and private_key_jwt (RFC 7521, RFC 7523, OpenID Connect Core 9): reading a client_assertion and verifying
// it against the registration. Nothing in the assertion's header chooses a key but `kid`, and that only among the client's own.
import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import type { Cause } from '../../contract/contract-error.ts';
import { assertionJtiCharsMax, assertionLifetimeSecondsMax } from '../../contract/limits.ts';
import { assertionPublicKeyAlgs, assertionSecretAlgs, isSignedBy } from '../../crypto/assertion-algorithms.ts';
import { type ParsedJwt, parseJwt } from '../../crypto/jwt.ts';
import type { KeyEncryption } from '../../crypto/key-encryption.ts';
import { hashSecret } from '../../crypto/secret-hash.ts';
import type { Client } from '../../domain/client/client.ts';
import { algsOfProfile, isFapi2 } from '../../domain/client/fapi2.ts';
import type { Tenant } from '../../domain/tenant/tenant.ts';
import { nowSeconds } from '../../platform/clock.ts';
import type { Database } from '../../storage/engine/database.ts';
import { consumeClientAssertion } from '../../storage/oidc/client-assertions.ts';
import { decryptClientSecret } from '../../tokens/client-secret.ts';
import type { RequestParameters } from '../parameters.ts';
import { type ClientKeysDeps, clientKeys } from './client-keys.ts';

export interface AssertionDeps extends ClientKeysDeps {
  readonly database: Database;
  readonly encryption: KeyEncryption;
}

export const jwtBearerAssertionType = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';

/** RFC 6749 appendix A.1, within any length of ours. */
const clientIdSyntax = /^[\x20-\x7e]{1,200}$/;

/** An assertion that is a JWT and names a client; nothing of it is verified yet. */
export interface PresentedAssertion {
  readonly clientId: string;
  readonly jwt: ParsedJwt;
}

/** Reads client_assertion and client_assertion_type; a cause when they are not an assertion of the client of the request. */
export function readAssertion(parameters: RequestParameters): PresentedAssertion | Cause {
  const type = parameters.get('client_assertion_type');
  if (type !== jwtBearerAssertionType) return { reason: 'assertion_type', received: type, expected: jwtBearerAssertionType };
  const jwt = parseJwt(parameters.get('client_assertion') ?? '');
  if (jwt === undefined) return { reason: 'assertion_malformed' };
  const { sub } = jwt.claims;
  const clientId = parameters.get('client_id');
  if (typeof sub !== 'string' || !clientIdSyntax.test(sub)) return { reason: 'assertion_sub', received: typeof sub };
  if (clientId !== undefined && clientId !== sub) return { reason: 'client_id_mismatch', received: clientId, expected: sub };
  return { clientId: sub, jwt };
}

/**
 * Verifies an assertion and takes its one use. `client` is undefined for an unknown client, which costs a verification too.
 * @param calledEndpoint the URL of the request, one of the three audiences taken.
 * @returns why it does not authenticate the client, or undefined when it does.
 */
export async function verifyAssertion(
  services: AssertionDeps,
  tenant: Tenant,
  calledEndpoint: string,
  client: Client | undefined,
  { jwt, clientId }: PresentedAssertion,
): Promise<Cause | undefined> {
  if (client === undefined) {
    await isSignedBy(dummyToken, 'ES256', dummyKey());
    return { reason: 'unknown_client', received: clientId };
  }
  const fault =
    (await findSignatureFault(services, tenant, client, jwt)) ??
    findAudienceFault(tenant, calledEndpoint, client, jwt) ??
    findClaimsFault(services, clientId, jwt);
  if (fault !== undefined) return fault;
  const { jti, exp } = jwt.claims as { jti: string; exp: number }; // findClaimsFault checked both
  const isFirst = await services.database.write(tenant.id, (queries) =>
    consumeClientAssertion(queries, tenant.id, hashSecret(`${clientId}\n${jti}`), Math.ceil(exp * 1000)),
  );
  return isFirst ? undefined : { reason: 'assertion_replayed', received: jti };
}

/** Headers that would bring their own key, or demand what we do not understand (RFC 7515 4.1). */
const refusedHeaders = ['crit', 'jwk', 'jku', 'x5u'] as const;
const acceptedTypes: readonly unknown[] = [undefined, 'JWT', 'jwt', 'client-authentication+jwt'];

/** Why a JWT is not one the client signed by its registration, or undefined when it is. Its claims are not looked at. */
export async function findSignatureFault(
  services: AssertionDeps,
  tenant: Tenant,
  client: Client,
  jwt: ParsedJwt,
): Promise<Cause | undefined> {
  const { alg, typ } = jwt.header;
  if (!acceptedTypes.includes(typ)) return { reason: 'assertion_typ', received: String(typ) };
  if (client.tokenEndpointAuthMethod === 'client_secret_jwt') {
    const fault = findHeaderFault(jwt, assertionSecretAlgs);
    if (fault !== undefined || typeof alg !== 'string') return fault;
    const secret = decryptClientSecret(services.encryption, tenant.id, client.clientId, client.secretEncrypted ?? '');
    return (await isSignedBy(jwt.token, alg, secret)) ? undefined : { reason: 'assertion_signature' };
  }
  return findKeyFault(services, client, jwt);
}

/** Why a JWT is not signed by one of the client's registered public keys, or undefined when it is. */
export async function findKeyFault(services: ClientKeysDeps, client: Client, jwt: ParsedJwt): Promise<Cause | undefined> {
  const fault = findHeaderFault(jwt, algsOfProfile(client, assertionPublicKeyAlgs));
  if (fault !== undefined) return fault;
  const { alg, kid } = jwt.header as { alg: string; kid?: unknown }; // findHeaderFault checked it
  if (kid !== undefined && typeof kid !== 'string') return { reason: 'assertion_header', received: 'kid' };
  for (const again of [false, true]) {
    const keys = await clientKeys(services, client, alg, kid, again);
    for (const key of keys) if (await isSignedBy(jwt.token, alg, key)) return undefined;
  }
  return { reason: 'assertion_signature', received: kid };
}

function findHeaderFault({ header }: ParsedJwt, algs: readonly string[]): Cause | undefined {
  const refused = refusedHeaders.find((name) => name in header);
  if (refused !== undefined) return { reason: 'assertion_header', received: refused };
  const { alg } = header;
  return typeof alg === 'string' && algs.includes(alg)
    ? undefined
    : { reason: 'assertion_alg', received: String(alg), expected: algs.join(' ') };
}

/** One audience: an assertion for several could be replayed at the others. FAPI 2.0 5.3.2.1: the issuer, as a string. */
function findAudienceFault(tenant: Tenant, calledEndpoint: string, client: Client, { claims: { aud } }: ParsedJwt): Cause | undefined {
  const isStrict = isFapi2(client);
  const audience: unknown = !isStrict && Array.isArray(aud) && aud.length === 1 ? aud[0] : aud;
  const accepted: readonly unknown[] = isStrict
    ? [tenant.baseUrl]
    : [tenant.baseUrl, `${tenant.baseUrl}/v1/idp/oidc/token`, calledEndpoint];
  return accepted.includes(audience) ? undefined : { reason: 'assertion_aud', received: JSON.stringify(aud), expected: accepted.join(' ') };
}

function findClaimsFault({ clock }: AssertionDeps, clientId: string, jwt: ParsedJwt): Cause | undefined {
  const { iss, exp, nbf, iat, jti } = jwt.claims;
  const now = nowSeconds(clock);
  if (iss !== clientId) return { reason: 'assertion_iss', received: String(iss), expected: clientId };
  if (!isTime(exp)) return { reason: 'assertion_exp', received: String(exp) };
  if (exp <= now) return { reason: 'assertion_expired', received: exp, expected: now };
  if (exp > now + assertionLifetimeSecondsMax)
    return { reason: 'assertion_exp_too_far', received: exp, expected: now + assertionLifetimeSecondsMax };
  for (const [name, time] of Object.entries({ nbf, iat })) {
    if (time !== undefined && (!isTime(time) || time > now + skewSeconds))
      return { reason: `assertion_${name}`, received: String(time), expected: now };
  }
  if (typeof jti !== 'string' || jti === '' || jti.length > assertionJtiCharsMax) return { reason: 'assertion_jti', received: typeof jti };
  return undefined;
}

/** How far the client's clock may be ahead of ours. */
const skewSeconds = 30;
const isTime = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value);

const dummyToken = `${Buffer.from('{"alg":"ES256"}').toString('base64url')}.e30.${Buffer.alloc(64, 1).toString('base64url')}`;
let dummy: KeyObject | undefined;
/** A key nobody holds, so that an unknown client costs a verification too. */
function dummyKey(): KeyObject {
  dummy ??= generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey;
  return dummy;
}
