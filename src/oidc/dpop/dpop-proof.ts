// DPoP proofs (RFC 9449 4.3): a JWT in the `DPoP` header that proves the sender holds a key. Verified at the token endpoint, at
// PAR and at UserInfo, which each answer a failure in their own way. A proof is good for one request: its use is a row.
import { hash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { dpopJtiCharsMax, dpopKeyCharsMax, dpopProofCharsMax } from '../../contract/limits.ts';
import { isSignedBy, publicKeyFor } from '../../crypto/assertion-algorithms.ts';
import type { KeyEncryption } from '../../crypto/key-encryption.ts';
import { hashSecret } from '../../crypto/secret-hash.ts';
import { type Claims, isTyped, parseJwt } from '../../crypto/signing/jwt.ts';
import { thumbprint } from '../../crypto/signing/signing.ts';
import { fail, type Outcome } from '../../domain/outcome.ts';
import type { Tenant } from '../../domain/tenant/tenant.ts';
import type { Parts } from '../../http/services.ts';
import { type Clock, nowSeconds } from '../../platform/clock.ts';
import type { Database } from '../../storage/engine/database.ts';
import { insertDpopProof } from '../../storage/oidc/dpop-proofs.ts';
import { addressesOf } from '../discovery/mtls-metadata.ts';

interface NonceDeps {
  readonly clock: Clock;
  readonly encryption: KeyEncryption;
}

export interface ProofDeps extends NonceDeps, Parts<'config'> {
  readonly database: Database;
}

/** Seconds a proof's `iat` may lie before or after our clock, and how long a nonce of ours is taken. */
const iatSkewSeconds = 60;
const nonceLifetimeSeconds = 300;
/** Seconds a used proof is remembered: longer than it could be taken. */
const rememberedSeconds = 2 * iatSkewSeconds + nonceLifetimeSeconds;

type ProofFailure =
  | 'proof_malformed'
  | 'proof_typ'
  | 'proof_key'
  | 'proof_signature'
  | 'proof_method'
  | 'proof_target'
  | 'proof_jti'
  | 'proof_iat'
  | 'proof_ath'
  | 'proof_replayed'
  | 'nonce_missing'
  | 'nonce_invalid';

export const isNonceFailure = (reason: ProofFailure): boolean => reason === 'nonce_missing' || reason === 'nonce_invalid';

interface ProofRequirements {
  /** The endpoint below /v1/idp/oidc, e.g. `token`. */
  readonly endpoint: string;
  /** The access token the proof must be for; undefined where none is presented. */
  readonly accessToken: string | undefined;
  /** True where a proof without a nonce of ours is refused. */
  readonly needsNonce: boolean;
  /** What the proof may be signed with. */
  readonly algs: readonly string[];
}

/** True when the request carries a proof. */
export const hasProof = (request: FastifyRequest): boolean => request.headers['dpop'] !== undefined;

/** Verifies the proof of a request and takes its one use; gives the thumbprint of the key it proves. */
export async function verifyProof(
  services: ProofDeps,
  request: FastifyRequest,
  requirements: ProofRequirements,
): Promise<Outcome<{ readonly thumbprint: string }, ProofFailure>> {
  const { tenant } = request;
  const header = request.headers['dpop'];
  const jwt = typeof header === 'string' && header.length <= dpopProofCharsMax ? parseJwt(header) : undefined;
  if (jwt === undefined) return fail('proof_malformed');
  const { typ, alg, jwk, crit } = jwt.header;
  if (!isTyped(typ, ['dpop+jwt']) || crit !== undefined) return fail('proof_typ');
  const key = typeof alg === 'string' && requirements.algs.includes(alg) && isPublicJwk(jwk) ? publicKeyFor(alg, jwk) : undefined;
  if (key === undefined || typeof alg !== 'string') return fail('proof_key');
  if (!(await isSignedBy(jwt.token, alg, key))) return fail('proof_signature');
  const fault = findClaimFault(services, request, jwt.claims, requirements);
  if (fault !== undefined) return fail(fault);
  const proved = thumbprint(key);
  const proofHash = hashSecret(`${proved}\n${jwt.claims['jti']}\n${requirements.endpoint}`);
  const isFirst = await services.database.write(tenant.id, (queries) => insertDpopProof(queries, tenant.id, proofHash, rememberedSeconds));
  return isFirst ? { ok: true, thumbprint: proved } : fail('proof_replayed');
}

const privateMembers = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'k', 'oth'];

/** A public JWK of a size worth verifying with. */
function isPublicJwk(jwk: unknown): jwk is Readonly<Record<string, unknown>> {
  if (typeof jwk !== 'object' || jwk === null || Array.isArray(jwk)) return false;
  if (privateMembers.some((member) => member in jwk)) return false;
  return Object.values(jwk).every((value) => typeof value !== 'string' || value.length <= dpopKeyCharsMax);
}

function findClaimFault(
  services: ProofDeps,
  request: FastifyRequest,
  claims: Claims,
  { endpoint, accessToken, needsNonce }: ProofRequirements,
): ProofFailure | undefined {
  const { tenant } = request;
  const { htm, htu, jti, iat, ath, nonce } = claims;
  if (htm !== request.method) return 'proof_method';
  const targets: readonly unknown[] = addressesOf(services.config, tenant).map((base) => `${base}/v1/idp/oidc/${endpoint}`);
  if (typeof htu !== 'string' || !targets.includes(withoutQuery(htu))) return 'proof_target';
  if (typeof jti !== 'string' || jti === '' || jti.length > dpopJtiCharsMax) return 'proof_jti';
  if (accessToken !== undefined && ath !== hash('sha256', accessToken, 'base64url')) return 'proof_ath';
  if (nonce === undefined && needsNonce) return 'nonce_missing';
  if (nonce !== undefined && !isOwnNonce(services, tenant, nonce)) return 'nonce_invalid';
  // With a nonce of ours we know when the proof was made, whatever the client's clock says.
  if (typeof iat !== 'number' || !Number.isFinite(iat)) return 'proof_iat';
  const skew = nonce === undefined ? iatSkewSeconds : nonceLifetimeSeconds;
  return Math.abs(nowSeconds(services.clock) - iat) <= skew ? undefined : 'proof_iat';
}

/** RFC 9449 4.3: compared without query and fragment, after the normalisation of RFC 3986. */
function withoutQuery(uri: string): string | undefined {
  if (!URL.canParse(uri)) return undefined;
  const { origin, pathname } = new URL(uri);
  return `${origin}${pathname}`;
}

const noncePurpose = (tenant: Tenant): string => `dpop-nonce:${tenant.id}`;

/** A nonce any node of ours recognises: the time it was made, under the master key. */
const makeNonce = ({ encryption, clock }: NonceDeps, tenant: Tenant): string =>
  encryption.seal(String(nowSeconds(clock)), noncePurpose(tenant));

function isOwnNonce({ encryption, clock }: NonceDeps, tenant: Tenant, nonce: unknown): boolean {
  if (typeof nonce !== 'string' || nonce.length > dpopJtiCharsMax) return false;
  try {
    const madeAt = Number(encryption.open(nonce, noncePurpose(tenant)));
    const age = nowSeconds(clock) - madeAt;
    return age <= nonceLifetimeSeconds && age >= -nonceLifetimeSeconds;
  } catch {
    return false; // not made by us, or for another tenant
  }
}

/** Gives the client a nonce for its next proof (RFC 9449 8.2). */
export function offerNonce(services: NonceDeps, request: FastifyRequest, reply: FastifyReply): void {
  reply.header('dpop-nonce', makeNonce(services, request.tenant));
}
