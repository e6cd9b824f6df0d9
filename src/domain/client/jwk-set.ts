// A JWK set (RFC 7517) as somebody registers one: public keys only, that this build can verify with. Pure.
import { createPublicKey, type JsonWebKey } from 'node:crypto';
import { jwksKeysMax } from '../../contract/limits.ts';
import { rsaJwkFault } from '../rsa-public-key.ts';

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
    return key.asymmetricKeyType === 'rsa' ? rsaJwkFault(key) : undefined;
  } catch {
    return 'must hold EC, OKP or RSA public keys (RFC 7517)';
  }
}
