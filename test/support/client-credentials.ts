// How test clients authenticate: Basic headers, form bodies and signed assertions, right ones and wrong ones.
import { createSecretKey, generateKeyPairSync, type KeyObject, randomUUID } from 'node:crypto';
import { SignJWT } from 'jose';
import { freshRsaKeys } from './rsa-keys.ts';

export type Form = Readonly<Record<string, string>> | readonly (readonly [string, string])[];

/** Posts a form; `headers` may add Authorization. */
export function postForm(url: string, form: Form | string, headers: Readonly<Record<string, string>> = {}): Promise<Response> {
  const body = typeof form === 'string' ? form : new URLSearchParams(form as Record<string, string>).toString();
  return fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
    body,
    redirect: 'manual',
  });
}

const formEncode = (text: string): string => new URLSearchParams({ v: text }).toString().slice(2);

/** RFC 6749 2.3.1. */
export const basic = (clientId: string, secret: string): { authorization: string } => ({
  authorization: `Basic ${Buffer.from(`${formEncode(clientId)}:${formEncode(secret)}`).toString('base64')}`,
});

export const assertionType = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';
export const assertionForm = (assertion: string): { client_assertion_type: string; client_assertion: string } => ({
  client_assertion_type: assertionType,
  client_assertion: assertion,
});

export interface AssertionKey {
  readonly alg: string;
  readonly kid?: string | undefined;
  readonly key: KeyObject;
}

export interface KeyPair extends AssertionKey {
  readonly kid: string;
  readonly publicJwk: Readonly<Record<string, unknown>>;
}

/** A key pair of a client, with its public JWK. */
export function makeKeyPair(alg: 'ES256' | 'ES384' | 'RS256' | 'PS256' | 'EdDSA', kid: string = randomUUID()): KeyPair {
  const { privateKey, publicKey } = generate(alg);
  return { alg, kid, key: privateKey, publicJwk: { ...publicKey.export({ format: 'jwk' }), kid, use: 'sig', alg } };
}

function generate(alg: string): { privateKey: KeyObject; publicKey: KeyObject } {
  if (alg === 'ES256') return generateKeyPairSync('ec', { namedCurve: 'P-256' });
  if (alg === 'ES384') return generateKeyPairSync('ec', { namedCurve: 'P-384' });
  if (alg === 'EdDSA') return generateKeyPairSync('ed25519');
  return freshRsaKeys();
}

export const secretKey = (secret: string, alg = 'HS256'): AssertionKey => ({ alg, key: createSecretKey(Buffer.from(secret)) });

/** A correct assertion of the client for an audience; `claims` and `header` change it (undefined removes a claim). */
export async function signAssertion(
  key: AssertionKey,
  clientId: string,
  audience: string | readonly string[],
  nowMs: number,
  claims: Readonly<Record<string, unknown>> = {},
  header: Readonly<Record<string, unknown>> = {},
): Promise<string> {
  const now = Math.floor(nowMs / 1000);
  const payload = { iss: clientId, sub: clientId, aud: audience as string, iat: now, exp: now + 60, jti: randomUUID(), ...claims };
  return new SignJWT(payload)
    .setProtectedHeader({ alg: key.alg, ...(key.kid === undefined ? {} : { kid: key.kid }), ...header })
    .sign(key.key, header['crit'] === undefined ? {} : { crit: { 'urn:example:critical': true } });
}

/** A JWT whose signature part is `signature`, whatever the header says. */
export function assembleJwt(header: object, claims: object, signature: Buffer): string {
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  return `${part(header)}.${part(claims)}.${signature.toString('base64url')}`;
}
