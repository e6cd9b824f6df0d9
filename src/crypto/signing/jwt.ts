// Compact JWTs of our own making (RFC 7519): minting under a prepared header, and parsing before verification.
// Forged tokens end here: nothing in a header but `alg`, `kid` and `typ` is ever used, and both are checked against our keys.

import type { KeyObject } from 'node:crypto';
import type { SigningAlg } from '../../domain/client/client.ts';
import { inSpan } from '../../platform/tracing/span.ts';
import { verifyBytes } from './signing.ts';
import { signInput } from './signing-pool.ts';

export type Claims = Readonly<Record<string, unknown>>;

/** A key ready to sign: its header parts are encoded once. */
export interface SigningKey {
  readonly kid: string;
  readonly alg: SigningAlg;
  readonly privateKey: KeyObject;
}

export interface VerificationKey {
  readonly kid: string;
  readonly alg: SigningAlg;
  readonly publicKey: KeyObject;
}

const headers = new WeakMap<SigningKey, Map<string, string>>();

/** Signs claims as a compact JWS with the given `typ`. */
export async function signJwt(key: SigningKey, typ: string, claims: Claims): Promise<string> {
  const input = `${encodedHeader(key, typ)}.${Buffer.from(JSON.stringify(claims)).toString('base64url')}`;
  return `${input}.${await inSpan('signature', () => signInput(key, input))}`;
}

function encodedHeader(key: SigningKey, typ: string): string {
  let byTyp = headers.get(key);
  if (byTyp === undefined) {
    byTyp = new Map();
    headers.set(key, byTyp);
  }
  let header = byTyp.get(typ);
  if (header === undefined) {
    header = Buffer.from(JSON.stringify({ alg: key.alg, typ, kid: key.kid })).toString('base64url');
    byTyp.set(typ, header);
  }
  return header;
}

export interface ParsedJwt {
  /** The whole, as it came. */
  readonly token: string;
  readonly header: Claims;
  readonly claims: Claims;
  readonly signingInput: Buffer;
  readonly signature: Buffer;
}

const jwtCharsMax = 16 * 1024;
const compact = /^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+$/;

/** Splits a compact JWS; undefined when it is not one (five-part JWEs included) or a part is not canonical base64url JSON. */
export function parseJwt(token: string): ParsedJwt | undefined {
  if (token.length > jwtCharsMax || !compact.test(token)) return undefined;
  const [header, payload, signature] = token.split('.') as [string, string, string]; // the pattern has exactly three parts
  const headerJson = parseObject(header);
  const claims = parseObject(payload);
  const signatureBytes = Buffer.from(signature, 'base64url');
  if (headerJson === undefined || claims === undefined || signatureBytes.toString('base64url') !== signature) return undefined;
  return { token, header: headerJson, claims, signingInput: Buffer.from(`${header}.${payload}`, 'latin1'), signature: signatureBytes };
}

/** Verifies a parsed JWT with one of our keys: alg and kid must be the key's own, `typ` the wanted one, no critical headers. */
export function verifyJwt(jwt: ParsedJwt, key: VerificationKey, typ: string): boolean {
  if (jwt.header['alg'] !== key.alg || jwt.header['kid'] !== key.kid || jwt.header['typ'] !== typ || 'crit' in jwt.header) return false;
  return verifyBytes(key.alg, key.publicKey, jwt.signingInput, jwt.signature);
}

/** Whether a `typ` is one of these media types, written in lower case: they have no case, and `application/` may be left out (RFC 7515 4.1.9). */
export function isTyped(typ: unknown, types: readonly string[]): boolean {
  return typeof typ === 'string' && types.includes(typ.toLowerCase().replace(/^application\//, ''));
}

function parseObject(part: string): Claims | undefined {
  const bytes = Buffer.from(part, 'base64url');
  if (bytes.toString('base64url') !== part) return undefined;
  try {
    const value: unknown = JSON.parse(bytes.toString('utf8'));
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Claims) : undefined;
  } catch {
    return undefined;
  }
}
