// RSA keys for tests. Finding two primes costs 100 ms, and a server with its tenants has many keys: here every pair of primes is one key, of
// those on file first. Each modulus of a process is another; who knew two of them could factor both. Certificates are ours, made in memory.

import { createPrivateKey, createPublicKey, generateKeyPairSync, generatePrimeSync, type KeyObject } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeSelfSignedCertificate, toPem } from '../../src/crypto/certificate.ts';

export type RsaKeys = { readonly privateKey: KeyObject; readonly publicKey: KeyObject; readonly publicPem: string };

const made = new Map<string, RsaKeys>();

/** The key pair of this name; the same for the same name within a process. */
export function rsaKeys(name = 'first', modulusLength = 2048, publicExponent = 65537): RsaKeys {
  const id = `${name} ${modulusLength} ${publicExponent}`;
  const known = made.get(id);
  if (known !== undefined) return known;
  const isUsual = modulusLength === 2048 && publicExponent === 65537;
  const { privateKey, publicKey } = isUsual ? freshRsaKeys() : generateKeyPairSync('rsa', { modulusLength, publicExponent });
  const keys = { privateKey, publicKey, publicPem: publicKey.export({ type: 'spki', format: 'pem' }).toString() };
  made.set(id, keys);
  return keys;
}

const exponent = 65537n;
const onFile = readFileSync(join(import.meta.dirname, '../vectors/rsa-primes.txt'), 'utf8')
  .trim()
  .split('\n');
if (onFile.length < 24) throw new Error(`rsa-primes.txt: expected 24 primes or more, found ${onFile.length}`);
const primes: bigint[] = [];
/** Pairs of `primes` whose key was not given out yet. */
const pairs: (readonly [bigint, bigint])[] = [];

/** A key of 2048 bits and exponent 65537 that nobody else in this process has. */
export function freshRsaKeys(): Pick<RsaKeys, 'privateKey' | 'publicKey'> {
  while (pairs.length === 0) {
    const known = onFile[primes.length];
    const prime = known === undefined ? generatePrimeSync(1024, { bigint: true }) : BigInt(`0x${known}`); // its two highest bits are set, so that a product has 2048
    if (primes.includes(prime) || (prime - 1n) % exponent === 0n) continue;
    pairs.push(...primes.map((other) => [prime, other] as const));
    primes.push(prime);
  }
  const privateKey = keyOf(...pairs.pop()!);
  return { privateKey, publicKey: createPublicKey(privateKey) };
}

/** Of 2048 bits, with a prime as its exponent. */
export function rsaKeysOfExponent(e: bigint): Pick<RsaKeys, 'privateKey' | 'publicKey'> {
  const [p, q] = [generatePrimeSync(1024, { bigint: true }), generatePrimeSync(1024, { bigint: true })];
  const privateKey = keyOf(p, q, e);
  return { privateKey, publicKey: createPublicKey(privateKey) };
}

/** RFC 8017 3.2 with CRT values, as a JWK (RFC 7518 6.3). */
function keyOf(p: bigint, q: bigint, e = exponent): KeyObject {
  const d = inverse(e, (p - 1n) * (q - 1n));
  const values = { n: p * q, e, d, p, q, dp: d % (p - 1n), dq: d % (q - 1n), qi: inverse(q, p) };
  const members = Object.entries(values).map(([name, value]) => [name, base64url(value)]);
  return createPrivateKey({ format: 'jwk', key: { kty: 'RSA', ...Object.fromEntries(members) } });
}

/** The x with value * x = 1 modulo `modulus`, which have no common divisor (extended Euclid). */
function inverse(value: bigint, modulus: bigint): bigint {
  let [rest, next] = [modulus, value % modulus];
  let [x, nextX] = [0n, 1n];
  while (next !== 0n) {
    const times = rest / next;
    [rest, next] = [next, rest - times * next];
    [x, nextX] = [nextX, x - times * nextX];
  }
  return x < 0n ? x + modulus : x;
}

function base64url(value: bigint): string {
  const hex = value.toString(16);
  return Buffer.from(hex.length % 2 === 0 ? hex : `0${hex}`, 'hex').toString('base64url');
}

/** A self-signed certificate of a key pair, as PEM. */
export async function certificatePem(keys: RsaKeys, commonName = 'Test'): Promise<string> {
  const der = await makeSelfSignedCertificate({
    ...keys,
    commonName,
    notBefore: new Date('2026-01-01T00:00:00Z'),
    notAfter: new Date('2036-01-01T00:00:00Z'),
    serialNumber: Uint8Array.of(1, 2, 3, 4, 5, 6, 7, 8),
  });
  return toPem(der);
}
