// A JWK set (RFC 7517) as somebody registers one: public keys only, that this build can verify with. Pure.
import { createPublicKey, type JsonWebKey } from 'node:crypto';
import { jwksKeysMax } from '../../contract/limits.ts';

type Jwk = Readonly<Record<string, unknown>>;
export interface JwkSet {
  readonly keys: readonly Jwk[];
}

/** JSON Schema of one. */
export const jwkSetShape = {
  type: 'object',
  required: ['keys'],
  properties: { keys: { type: 'array', items: { type: 'object', properties: {} }, minItems: 1, maxItems: jwksKeysMax } },
} as const;

const privateMembers = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k'];

/** What is wrong with keys that are given. */
export function keysFault({ keys }: JwkSet): string | undefined {
  for (const key of keys) {
    if (privateMembers.some((member) => Object.hasOwn(key, member))) return 'must hold public keys only';
    const fault = publicKeyFault(key);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

function publicKeyFault(jwk: Jwk): string | undefined {
  try {
    const key = createPublicKey({ key: jwk as JsonWebKey, format: 'jwk' });
    const { modulusLength } = key.asymmetricKeyDetails ?? {};
    return key.asymmetricKeyType === 'rsa' && (modulusLength ?? 0) < 2048 ? 'must hold RSA keys of 2048 bits or more' : undefined;
  } catch {
    return 'must hold EC, OKP or RSA public keys (RFC 7517)';
  }
}
