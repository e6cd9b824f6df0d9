// client_secret_jwt and private_key_jwt (RFC 7521, RFC 7523, OpenID Connect Core 9): reading a client_assertion and verifying
// it against the registration. Nothing in the assertion's header chooses a key but `kid`, and that only among the client's own.
import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import type { Cause } from '../../contract/contract-error.ts';
import { assertionJtiCharsMax, assertionLifetimeSecondsMax } from '../../contract/limits.ts';
import { assertionPublicKeyAlgs, assertionSecretAlgs, isSignedBy } from '../../crypto/assertion-algorithms.ts';
import type { KeyEncryption } from '../../crypto/key-encryption.ts';
import { hashSecret } from '../../crypto/secret-hash.ts';
import { isTyped, type ParsedJwt, parseJwt } from '../../crypto/signing/jwt.ts';
import type { Client } from '../../domain/client/client.ts';
import { algsOfProfile, isFapi2 } from '../../domain/client/fapi2.ts';
import type { TenantId } from '../../domain/ids.ts';
import type { Tenant } from '../../domain/tenant/tenant.ts';
import type { Parts } from '../../http/services.ts';
import { nowSeconds } from '../../platform/clock.ts';
import type { Database } from '../../storage/engine/database.ts';
import { consumeClientAssertion } from '../../storage/oidc/client-assertions.ts';
import { decryptClientSecret } from '../../tokens/client-secret.ts';
import { addressesOf } from '../discovery/mtls-metadata.ts';
import type { RequestParameters } from '../parameters.ts';
import { type ClientKeysDeps, clientKeys, type SoughtKey } from './client-keys.ts';

/** What an assertion was sent to. */
export interface CalledEndpoint {
  /** Below the tenant's address. */
  readonly path: string;
  /** True: a request of CIBA begins or is asked about. */
  readonly isCiba: boolean;
}

export interface AssertionDeps extends ClientKeysDeps, Parts<'config'> {
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
  return readNamed(parameters, parameters.get('client_assertion') ?? '');
}

/** Reads a JWT that speaks of whoever made it; a cause when that is not the client of the request. */
export function readNamed(parameters: RequestParameters, text: string): PresentedAssertion | Cause {
  const jwt = parseJwt(text);
  if (jwt === undefined) return { reason: 'assertion_malformed' };
  const { sub } = jwt.claims;
  const clientId = parameters.get('client_id');
  if (typeof sub !== 'string' || !clientIdSyntax.test(sub)) return { reason: 'assertion_sub', received: typeof sub };
  if (clientId !== undefined && clientId !== sub) return { reason: 'client_id_mismatch', received: clientId, expected: sub };
  return { clientId: sub, jwt };
}

/**
 * Verifies an assertion and takes its one use. `client` is undefined for an unknown client, which costs a verification too.
 * @returns why it does not authenticate the client, or undefined when it does.
 */
export async function verifyAssertion(
  services: AssertionDeps,
  tenant: Tenant,
  called: CalledEndpoint,
  client: Client | undefined,
  { jwt, clientId }: PresentedAssertion,
): Promise<Cause | undefined> {
  if (client === undefined) {
    await verifyNothing();
    return { reason: 'unknown_client', received: clientId };
  }
  const fault =
    (await findSignatureFault(services, tenant, client, jwt)) ??
    findAudienceFault(audiencesFor(services, tenant, called, client), client, called, jwt) ??
    findClaimsFault(services, clientId, jwt);
  if (fault !== undefined) return fault;
  return useAssertion(services, tenant, { jwt, clientId });
}

/** Takes the one use of a verified assertion, whatever it is used for; a cause when it was taken before. */
export async function useAssertion(
  { database }: Pick<AssertionDeps, 'database'>,
  tenant: Tenant,
  { jwt, clientId }: PresentedAssertion,
): Promise<Cause | undefined> {
  const { jti, exp } = jwt.claims as { jti: string; exp: number }; // findClaimsFault checked both
  const isFirst = await database.write(tenant.id, (queries) =>
    consumeClientAssertion(queries, tenant.id, hashSecret(`${clientId}\n${jti}`), Math.ceil(exp * 1000)),
  );
  return isFirst ? undefined : { reason: 'assertion_replayed', received: jti };
}

/** Why an assertion is no grant of the client (RFC 7523 2.1): signed by one of its public keys, for us, not used up by this. Costs the same for no client. */
export async function findGrantFault(
  services: AssertionDeps,
  tenant: Tenant,
  client: Client | undefined,
  { jwt, clientId }: PresentedAssertion,
): Promise<Cause | undefined> {
  if (client === undefined) {
    await verifyNothing();
    return { reason: 'unknown_client', received: clientId };
  }
  const { typ } = jwt.header;
  if (typ !== undefined && !isTyped(typ, ['jwt'])) return { reason: 'assertion_typ', received: String(typ) };
  const called = { path: '/v1/idp/oidc/token', isCiba: false };
  return (
    (await findKeyFault(services, tenant.id, client, jwt)) ??
    findAudienceFault(audiencesFor(services, tenant, called, client), client, called, jwt) ??
    findClaimsFault(services, clientId, jwt)
  );
}

/** Headers that would bring their own key, or demand what we do not understand (RFC 7515 4.1). */
const refusedHeaders = ['crit', 'jwk', 'jku', 'x5u'] as const;
const acceptedTypes = ['jwt', 'client-authentication+jwt'] as const;

/** Why a JWT is not one the client signed by its registration, or undefined when it is. Its claims are not looked at. */
export async function findSignatureFault(
  services: AssertionDeps,
  tenant: Tenant,
  client: Client,
  jwt: ParsedJwt,
): Promise<Cause | undefined> {
  const { alg, typ } = jwt.header;
  if (typ !== undefined && !isTyped(typ, acceptedTypes)) return { reason: 'assertion_typ', received: String(typ) };
  if (client.tokenEndpointAuthMethod === 'client_secret_jwt') {
    const fault = findHeaderFault(jwt, assertionSecretAlgs);
    if (fault !== undefined || typeof alg !== 'string') return fault;
    const secret = decryptClientSecret(services.encryption, tenant.id, client.clientId, client.secretEncrypted ?? '');
    return (await isSignedBy(jwt.token, alg, secret)) ? undefined : { reason: 'assertion_signature' };
  }
  return findKeyFault(services, tenant.id, client, jwt);
}

/** Why a JWT is not signed by one of the client's registered public keys, or undefined when it is. */
export async function findKeyFault(services: ClientKeysDeps, tenant: TenantId, client: Client, jwt: ParsedJwt): Promise<Cause | undefined> {
  return findUnsigned(jwt, algsOfProfile(client, assertionPublicKeyAlgs), (sought) => clientKeys(services, tenant, client, sought));
}

/** Why a JWT is not signed by one of these keys, or undefined when it is. Costs a verification where there is none of its name. */
export async function findUnsigned(
  jwt: ParsedJwt,
  algs: readonly string[],
  keysFor: (sought: SoughtKey) => Promise<readonly KeyObject[]>,
): Promise<Cause | undefined> {
  const fault = findHeaderFault(jwt, algs);
  if (fault !== undefined) return fault;
  const { alg, kid } = jwt.header as { alg: string; kid?: unknown }; // findHeaderFault checked it
  if (kid !== undefined && typeof kid !== 'string') return { reason: 'assertion_header', received: 'kid' };
  let tried = 0;
  for (const again of [false, true])
    for (const key of await keysFor({ alg, kid, again })) {
      if (await isSignedBy(jwt.token, alg, key)) return undefined;
      tried += 1;
    }
  if (tried === 0) await verifyNothing();
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

/** FAPI 2.0 5.3.2.1 takes the issuer alone; CIBA Core 7.1 leaves the choice to every client. */
const isIssuerOnly = (client: Client, { isCiba }: CalledEndpoint): boolean => isFapi2(client) && !isCiba;

/** The audiences an assertion may have: the issuer, the token endpoint, the one that is called, and of CIBA where it begins; by either host. */
function audiencesFor({ config }: AssertionDeps, tenant: Tenant, called: CalledEndpoint, client: Client): readonly string[] {
  if (isIssuerOnly(client, called)) return [tenant.baseUrl];
  const paths = ['/v1/idp/oidc/token', called.path, ...(called.isCiba ? ['/v1/idp/oidc/bc-authorize'] : [])];
  return [tenant.baseUrl, ...addressesOf(config, tenant).flatMap((base) => paths.map((path) => `${base}${path}`))];
}

/** One audience: an assertion for several could be replayed at the others. */
function findAudienceFault(
  accepted: readonly unknown[],
  client: Client,
  called: CalledEndpoint,
  { claims: { aud } }: ParsedJwt,
): Cause | undefined {
  const audience: unknown = !isIssuerOnly(client, called) && Array.isArray(aud) && aud.length === 1 ? aud[0] : aud;
  return accepted.includes(audience) ? undefined : { reason: 'assertion_aud', received: JSON.stringify(aud), expected: accepted.join(' ') };
}

function findClaimsFault({ clock }: AssertionDeps, clientId: string, jwt: ParsedJwt): Cause | undefined {
  const { iss } = jwt.claims;
  const now = nowSeconds(clock);
  if (iss !== clientId) return { reason: 'assertion_iss', received: String(iss), expected: clientId };
  return findOnceFault(now, jwt);
}

/** Why an assertion is not one that is good once: for minutes, and with a name to remember. */
export function findOnceFault(now: number, jwt: ParsedJwt): Cause | undefined {
  const fault = findTimesFault(now, jwt);
  if (fault !== undefined) return fault;
  const { exp, jti } = jwt.claims;
  const latest = now + assertionLifetimeSecondsMax;
  if (!isTime(exp) || exp > latest) return { reason: 'assertion_exp_too_far', received: String(exp), expected: latest };
  if (typeof jti !== 'string' || jti === '' || jti.length > assertionJtiCharsMax) return { reason: 'assertion_jti', received: typeof jti };
  return undefined;
}

/** Why an assertion is not good now. */
export function findTimesFault(now: number, { claims: { exp, nbf, iat } }: ParsedJwt): Cause | undefined {
  if (!isTime(exp)) return { reason: 'assertion_exp', received: String(exp) };
  if (exp <= now) return { reason: 'assertion_expired', received: exp, expected: now };
  for (const [name, time] of Object.entries({ nbf, iat }))
    if (time !== undefined && (!isTime(time) || time > now + skewSeconds))
      return { reason: `assertion_${name}`, received: String(time), expected: now };
  return undefined;
}

/** How far the client's clock may be ahead of ours. */
const skewSeconds = 30;
export const isTime = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value);

/** Costs what a verification does. */
export async function verifyNothing(): Promise<void> {
  await isSignedBy(dummyToken, 'ES256', dummyKey());
}

const dummyToken = `${Buffer.from('{"alg":"ES256"}').toString('base64url')}.e30.${Buffer.alloc(64, 1).toString('base64url')}`;
let dummy: KeyObject | undefined;
/** A key nobody holds, so that an unknown client costs a verification too. */
function dummyKey(): KeyObject {
  dummy ??= generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey;
  return dummy;
}
