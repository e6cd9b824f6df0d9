// Signed request objects (JAR, RFC 9101; CIBA Core 7.1.1): the `request` parameter of authorize, PAR and bc-authorize. Read after
// the client and before all else; from then on only its parameters count. Never fetched from anywhere.
import type { Cause } from '../../contract/contract-error.ts';
import { requestObjectJtiCharsMax, requestObjectSecondsMax } from '../../contract/limits.ts';
import { hashSecret } from '../../crypto/secret-hash.ts';
import { type Claims, isTyped, type ParsedJwt, parseJwt } from '../../crypto/signing/jwt.ts';
import type { Client } from '../../domain/client/client.ts';
import { isFapi2 } from '../../domain/client/fapi2.ts';
import type { TenantId } from '../../domain/ids.ts';
import type { Tenant } from '../../domain/tenant/tenant.ts';
import { nowSeconds } from '../../platform/clock.ts';
import type { Database } from '../../storage/engine/database.ts';
import { consumeClientAssertion } from '../../storage/oidc/client-assertions.ts';
import { findKeyFault } from '../client/client-assertion.ts';
import type { ClientKeysDeps } from '../client/client-keys.ts';
import { parseParameters, type RequestParameters } from '../parameters.ts';

export interface RequestObjectDeps extends ClientKeysDeps {
  readonly database: Database;
}

/** A request as its endpoint judges it. */
export interface ReadRequest {
  readonly parameters: RequestParameters;
  /** True when the client signed them. */
  readonly isSigned: boolean;
  /** Why its object is not to be believed; the parameters then say only where to answer. */
  readonly fault?: Cause;
}

/** Reads the request object of an authorization request, if it brings one its client can have signed. */
export async function readSignedRequest(
  services: RequestObjectDeps,
  tenant: Tenant,
  client: Client,
  sent: RequestParameters,
): Promise<ReadRequest> {
  return read(services, tenant, client, sent, isFapi2(client));
}

/** The same of a CIBA request, whose object is good for one use. */
export async function readSignedCibaRequest(
  services: RequestObjectDeps,
  tenant: Tenant,
  client: Client,
  sent: RequestParameters,
): Promise<ReadRequest> {
  const found = await read(services, tenant, client, sent, true);
  if (!found.isSigned || found.fault !== undefined) return found;
  const { jti, iat, exp } = parseJwt(sent.get('request') ?? '')?.claims ?? {};
  if (!isTime(iat) || iat > nowSeconds(services.clock) + skewSeconds)
    return { ...found, fault: { reason: 'request_object_iat', received: String(iat) } };
  if (typeof jti !== 'string' || jti === '' || jti.length > requestObjectJtiCharsMax)
    return { ...found, fault: { reason: 'request_object_jti', received: typeof jti } };
  // A key of its own kind: an assertion's jti is not a request's.
  const jtiHash = hashSecret(`request-object\n${client.clientId}\n${jti}`);
  const isFirst = await services.database.write(tenant.id, (queries) =>
    consumeClientAssertion(queries, tenant.id, jtiHash, Math.ceil(Number(exp) * 1000)),
  );
  return isFirst ? found : { ...found, fault: { reason: 'request_object_replayed', received: jti } };
}

async function read(
  services: RequestObjectDeps,
  tenant: Tenant,
  client: Client,
  sent: RequestParameters,
  isStrict: boolean,
): Promise<ReadRequest> {
  const token = sent.get('request');
  // Of a client that nobody registered no keys are asked for before a person lets it in.
  const hasKeys = client.origin === undefined && (client.jwks !== undefined || client.jwksUri !== undefined);
  if (token === undefined || !hasKeys) return { parameters: sent, isSigned: false };
  const jwt = parseJwt(token);
  if (jwt === undefined) return { parameters: sent, isSigned: true, fault: { reason: 'request_object_malformed' } };
  const parsed = parametersOf(client, jwt.claims);
  const fault =
    (await findSignatureFault(services, tenant.id, client, jwt)) ??
    findClaimsFault(tenant, client, jwt.claims) ??
    findTimeFault(nowSeconds(services.clock), isStrict, jwt.claims) ??
    (parsed === undefined ? { reason: 'request_object_parameters' } : undefined);
  return { parameters: parsed ?? sent, isSigned: true, ...(fault === undefined ? {} : { fault }) };
}

/** RFC 9101 10.8: other JWTs of the client are no requests. */
const acceptedTypes = ['jwt', 'oauth-authz-req+jwt'] as const;

async function findSignatureFault(services: ClientKeysDeps, tenant: TenantId, client: Client, jwt: ParsedJwt): Promise<Cause | undefined> {
  const { typ } = jwt.header;
  if (typ !== undefined && !isTyped(typ, acceptedTypes)) return { reason: 'request_object_typ', received: String(typ) };
  const fault = await findKeyFault(services, tenant, client, jwt);
  return fault && { ...fault, reason: `request_object: ${fault.reason}` };
}

function findClaimsFault(tenant: Tenant, { clientId }: Client, claims: Claims): Cause | undefined {
  const { iss, aud, sub, client_id: named } = claims;
  if (iss !== clientId) return { reason: 'request_object_iss', received: String(iss), expected: clientId };
  if (!(Array.isArray(aud) ? aud : [aud]).includes(tenant.baseUrl))
    return { reason: 'request_object_aud', received: JSON.stringify(aud), expected: tenant.baseUrl };
  if (named !== undefined && named !== clientId) return { reason: 'request_object_client_id', received: String(named), expected: clientId };
  // RFC 9101 10.8: so that it is never taken for a client assertion
  if (sub === clientId) return { reason: 'request_object_sub', received: clientId };
  if ('request' in claims || 'request_uri' in claims) return { reason: 'request_object_nested' };
  return undefined;
}

/** How far the client's clock may be ahead of ours. */
const skewSeconds = 30;
const isTime = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value);

/** FAPI 2.0 Message Signing 5.3.1 and CIBA Core 7.1.1 ask for both times, an hour apart at most; others give what they like. */
function findTimeFault(now: number, isStrict: boolean, { exp, nbf }: Claims): Cause | undefined {
  if ((isStrict || exp !== undefined) && (!isTime(exp) || exp <= now))
    return { reason: 'request_object_exp', received: String(exp), expected: now };
  if ((isStrict || nbf !== undefined) && (!isTime(nbf) || nbf > now + skewSeconds))
    return { reason: 'request_object_nbf', received: String(nbf), expected: now };
  if (!isStrict) return undefined;
  if (Number(nbf) < now - requestObjectSecondsMax) return { reason: 'request_object_nbf_too_old', received: Number(nbf), expected: now };
  if (Number(exp) > Number(nbf) + requestObjectSecondsMax)
    return { reason: 'request_object_exp_too_far', received: Number(exp), expected: Number(nbf) + requestObjectSecondsMax };
  return undefined;
}

/** Claims of the JWT itself (RFC 7519 4.1). */
const ownClaims: ReadonlySet<string> = new Set(['iss', 'aud', 'sub', 'exp', 'nbf', 'iat', 'jti']);
const lists: ReadonlySet<string> = new Set(['resource', 'audience']);

/** The claims as the parameters they stand for (RFC 9101 4), under the same limits; undefined when they are none. */
function parametersOf({ clientId }: Client, claims: Claims): RequestParameters | undefined {
  const pairs = Object.entries({ ...claims, client_id: clientId }).flatMap(([name, value]): readonly [string, string][] => {
    if (ownClaims.has(name) || value === null) return [];
    const values: readonly unknown[] = lists.has(name) && Array.isArray(value) ? value : [value];
    return values.map((one) => [name, typeof one === 'string' ? one : JSON.stringify(one)]);
  });
  const parsed = parseParameters(new URLSearchParams(pairs).toString());
  return parsed.ok ? parsed.parameters : undefined;
}
