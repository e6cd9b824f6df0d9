// client_secret_jwt and private_key_jwt (RFC 7521, RFC 7523, OpenID Connect Core 9): reading a client_assertion and verifying
// it against the registration. Nothing in the assertion's header chooses a key but `kid`, and that only among the client's own.
import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import type { Cause } from '../contract/contract-error.ts';
import { assertionJtiCharsMax, assertionLifetimeSecondsMax } from '../contract/limits.ts';
import { assertionPublicKeyAlgs, assertionSecretAlgs, verifyWithPublicKey, verifyWithSecret } from '../crypto/assertion-algorithms.ts';
import { type ParsedJwt, parseJwt } from '../crypto/jwt.ts';
import { hashSecret } from '../crypto/secret-hash.ts';
import type { Client } from '../domain/client.ts';
import type { Tenant } from '../domain/tenant.ts';
import type { Services } from '../http/services.ts';
import { nowSeconds } from '../platform/clock.ts';
import { consumeClientAssertion } from '../storage/client-assertions.ts';
import { decryptClientSecret } from '../tokens/client-secret.ts';
import { clientKeys } from './client-keys.ts';
import type { RequestParameters } from './parameters.ts';

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
  services: Services,
  tenant: Tenant,
  calledEndpoint: string,
  client: Client | undefined,
  { jwt, clientId }: PresentedAssertion,
): Promise<Cause | undefined> {
  if (client === undefined) {
    verifyWithPublicKey('ES256', dummyKey(), jwt.signingInput, Buffer.alloc(64, 1));
    return { reason: 'unknown_client', received: clientId };
  }
  const fault =
    (await findSignatureFault(services, tenant, client, jwt)) ?? findClaimsFault(services, tenant, calledEndpoint, clientId, jwt);
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
export async function findSignatureFault(services: Services, tenant: Tenant, client: Client, jwt: ParsedJwt): Promise<Cause | undefined> {
  const { alg, kid, typ } = jwt.header;
  const refused = refusedHeaders.find((name) => name in jwt.header);
  if (refused !== undefined) return { reason: 'assertion_header', received: refused };
  if (!acceptedTypes.includes(typ)) return { reason: 'assertion_typ', received: String(typ) };
  const algs = client.tokenEndpointAuthMethod === 'client_secret_jwt' ? assertionSecretAlgs : assertionPublicKeyAlgs;
  if (typeof alg !== 'string' || !algs.includes(alg)) return { reason: 'assertion_alg', received: String(alg), expected: algs.join(' ') };
  if (client.tokenEndpointAuthMethod === 'client_secret_jwt') {
    const secret = decryptClientSecret(services.encryption, tenant.id, client.clientId, client.secretEncrypted ?? '');
    return verifyWithSecret(alg, secret, jwt.signingInput, jwt.signature) ? undefined : { reason: 'assertion_signature' };
  }
  if (kid !== undefined && typeof kid !== 'string') return { reason: 'assertion_header', received: 'kid' };
  for (const again of [false, true]) {
    const keys = await clientKeys(services, client, alg, kid, again);
    if (keys.some((key) => verifyWithPublicKey(alg, key, jwt.signingInput, jwt.signature))) return undefined;
  }
  return { reason: 'assertion_signature', received: kid };
}

function findClaimsFault(services: Services, tenant: Tenant, calledEndpoint: string, clientId: string, jwt: ParsedJwt): Cause | undefined {
  const { iss, aud, exp, nbf, iat, jti } = jwt.claims;
  const now = nowSeconds(services.clock);
  if (iss !== clientId) return { reason: 'assertion_iss', received: String(iss), expected: clientId };
  const audiences: readonly unknown[] = Array.isArray(aud) ? aud : [aud];
  const accepted: readonly unknown[] = [tenant.baseUrl, `${tenant.baseUrl}/v1/idp/oidc/token`, calledEndpoint];
  if (!audiences.some((audience) => accepted.includes(audience)))
    return { reason: 'assertion_aud', received: JSON.stringify(aud), expected: accepted.join(' ') };
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

let dummy: KeyObject | undefined;
/** A key nobody holds, so that an unknown client costs a verification too. */
function dummyKey(): KeyObject {
  dummy ??= generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey;
  return dummy;
}
