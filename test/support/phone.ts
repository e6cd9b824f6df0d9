// A phone for black-box tests: holds keys, signs as the documentation says, and lets a test spoil any part of a request.
// Built on the SDK's signing only, so that nothing of the server judges itself.
import { createHash, generateKeyPairSync, type KeyObject, randomUUID } from 'node:crypto';
import { type SoftwareAlgorithm, signText } from '../../sdk/node.ts';
import { enrollText, requestText, rotateText } from '../../sdk/signing.ts';
import { freshRsaKeys } from './rsa-keys.ts';

export interface PhoneKey {
  readonly keyId: string;
  readonly purpose: 'pop' | 'uv';
  readonly alg: string;
  readonly privateKey: KeyObject;
  /** SPKI in base64. */
  readonly publicKey: string;
  /** How the key signs, when not by itself. */
  readonly sign?: (text: string) => Buffer;
}

export interface CallOptions {
  /** Parsed into JSON; a string is sent as it is. */
  readonly body?: unknown;
  readonly purpose?: 'pop' | 'uv';
  /** Signs with this key instead. */
  readonly key?: PhoneKey;
  readonly timestamp?: string;
  readonly protocolVersion?: string;
  /** Replaces headers after signing; undefined takes one away. */
  readonly headers?: Readonly<Record<string, string | undefined>>;
  /** Changes the signature after signing. */
  readonly spoil?: (signature: Buffer) => Buffer;
  /** What is signed instead of what is sent. */
  readonly signed?: Partial<Parameters<typeof requestText>[0]>;
}

export type Phone = ReturnType<typeof createPhone>;

let lastTimestamp = 0;

/** A phone of one tenant with fresh keys; `nowMs` is its clock. */
export function createPhone(
  baseUrl: string,
  nowMs: () => number,
  algs: Readonly<Record<'pop' | 'uv', SoftwareAlgorithm>> = { pop: 'ES256', uv: 'ES256' },
) {
  const deviceId: string = randomUUID();
  const keys: Record<'pop' | 'uv', PhoneKey> = { pop: makeKey('pop', algs.pop), uv: makeKey('uv', algs.uv) };
  const call = async (method: string, target: string, options: CallOptions = {}): Promise<Response> => {
    const { url, init } = signCall({ baseUrl, deviceId, nowMs }, options.key ?? keys[options.purpose ?? 'pop'], method, target, options);
    return fetch(url, init);
  };
  return {
    baseUrl,
    deviceId,
    keys,
    call,
    post: (path: string, body: unknown = {}, options: CallOptions = {}) => call('POST', `/v1/device${path}`, { ...options, body }),
    get: (path: string, options: CallOptions = {}) => call('GET', `/v1/device${path}`, options),
    publicKeys: () => [keys.pop, keys.uv].map(publicFields),
    /** The proofs of an enrolment over a challenge. */
    proofs: (challenge: string, over: Partial<{ issuer: string; deviceId: string }> = {}) =>
      [keys.pop, keys.uv].map((key) => {
        const { keyId } = key;
        const text = enrollText({ issuer: baseUrl, deviceId, keyId, publicKeySha256: spkiSha256(key), challenge, ...over });
        return { key_id: keyId, signature: signWith(key, text).toString('base64') };
      }),
    /** One entry of a rotation's confirmation. */
    rotation: (old: PhoneKey, fresh: PhoneKey, nonce: string) => {
      const { keyId, alg } = fresh;
      const text = rotateText({ issuer: baseUrl, deviceId, keyId, nonce, alg, publicKeySha256: spkiSha256(fresh) });
      const prove = (key: PhoneKey) => signWith(key, text).toString('base64');
      const oldSignature = old.purpose === 'uv' ? { old_signature: prove(old) } : {};
      return { key_id: fresh.keyId, alg: fresh.alg, public_key: fresh.publicKey, signature: prove(fresh), ...oldSignature };
    },
  };
}

/** A key for a slot; `keyId` continues an existing slot. */
export function makeKey(purpose: 'pop' | 'uv', alg: SoftwareAlgorithm, keyId: string = randomUUID()): PhoneKey {
  const pair = makePair(alg);
  const publicKey = pair.publicKey.export({ format: 'der', type: 'spki' }).toString('base64');
  return { keyId, purpose, alg, privateKey: pair.privateKey, publicKey };
}

/** Lower-case hex. */
export const sha256Hex = (bytes: string | Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

/** How the signed texts name a public key. */
export const spkiSha256 = (key: Pick<PhoneKey, 'publicKey'>): string => sha256Hex(Buffer.from(key.publicKey, 'base64'));

function makePair(alg: SoftwareAlgorithm): { readonly privateKey: KeyObject; readonly publicKey: KeyObject } {
  if (alg === 'ES256') return generateKeyPairSync('ec', { namedCurve: 'P-256' });
  if (alg === 'EdDSA') return generateKeyPairSync('ed25519');
  return freshRsaKeys();
}

const signWith = (key: PhoneKey, text: string): Buffer => key.sign?.(text) ?? signText(key.privateKey, text);

export function publicFields(key: PhoneKey) {
  return { key_id: key.keyId, purpose: key.purpose, alg: key.alg, public_key: key.publicKey };
}

/** One signed request, ready to be sent any number of times. */
export function signCall(
  phone: { readonly baseUrl: string; readonly deviceId: string; readonly nowMs: () => number },
  key: PhoneKey,
  method: string,
  target: string,
  options: CallOptions = {},
): { readonly url: string; readonly init: RequestInit } {
  const body = options.body === undefined ? undefined : typeof options.body === 'string' ? options.body : JSON.stringify(options.body);
  const [path = '', query = ''] = target.split(/\?(.*)/s, 2);
  lastTimestamp = Math.max(lastTimestamp + 1, phone.nowMs());
  if (lastTimestamp > phone.nowMs() + 1000) lastTimestamp = phone.nowMs();
  const timestamp = options.timestamp ?? String(lastTimestamp);
  const protocolVersion = options.protocolVersion ?? '1';
  const text = requestText({
    protocolVersion,
    issuer: phone.baseUrl,
    method,
    path,
    query,
    timestamp,
    deviceId: phone.deviceId,
    keyId: key.keyId,
    bodySha256: sha256Hex(body ?? ''),
    ...options.signed,
  });
  const signature = signWith(key, text);
  const headers: Record<string, string | undefined> = {
    'X-Protocol-Version': protocolVersion,
    'X-Device-Id': phone.deviceId,
    'X-Device-Key-Id': key.keyId,
    'X-Timestamp': timestamp,
    'X-Signature': (options.spoil?.(signature) ?? signature).toString('base64'),
    ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
    ...options.headers,
  };
  const sent = Object.fromEntries(Object.entries(headers).filter((entry): entry is [string, string] => entry[1] !== undefined));
  return { url: `${phone.baseUrl}${target}`, init: { method, headers: sent, ...(body === undefined ? {} : { body }) } };
}
