// A phone that does as it is told, right or wrong: it signs as docs/device-protocol.md says and lets any part of a request be spoiled.
// Requests go out as they are written, dot segments and all.
import { generateKeyPairSync, type KeyObject, randomUUID } from 'node:crypto';
import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { setTimeout as pause } from 'node:timers/promises';
import { signText } from '../../../sdk/node.ts';
import { enrollText, type RequestToSign, requestText, rotateText } from '../../../sdk/signing.ts';
import { sha256Hex } from '../../crypto/signed-string.ts';

interface ProbeKey {
  readonly keyId: string;
  readonly purpose: 'pop' | 'uv';
  readonly privateKey: KeyObject;
  /** SPKI DER in base64. */
  readonly publicKey: string;
}

export interface Sending {
  readonly body?: unknown;
  readonly key?: ProbeKey;
  readonly timestamp?: string;
  readonly version?: string;
  /** Replace headers after signing; undefined takes one away. */
  readonly headers?: Readonly<Record<string, string | undefined>>;
  /** Changes the signature after signing. */
  readonly spoil?: (signature: Buffer) => Buffer | string;
  /** What is signed instead of what is sent. */
  readonly signed?: Partial<RequestToSign>;
}

export interface Received {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

export type Probe = ReturnType<typeof createProbe>;

const timeoutMs = 40_000;
/** A server that limits us is waited for this long, once. */
const retryAfterSecondsMax = 65;

export function createProbe(baseUrl: string) {
  const deviceId = randomUUID();
  const keys: { pop: ProbeKey; uv: ProbeKey } = { pop: makeKey('pop'), uv: makeKey('uv') };
  let last = 0;
  let skewMs = 0;
  const stamp = (): string => {
    last = Math.max(Date.now() + skewMs, last + 1);
    return String(last);
  };
  const sign = (method: string, target: string, sending: Sending) =>
    signedRequest({ baseUrl, deviceId, stamp }, sending.key ?? keys.pop, {
      method,
      target,
      sending,
    });
  const send = async (method: string, target: string, sending: Sending = {}): Promise<Received> => {
    const answer = await exchange(baseUrl, method, target, sign(method, target, sending));
    const waitSeconds = Number(answer.body['retry_after_seconds'] ?? Number.NaN);
    if (answer.status !== 429 || answer.body['error'] !== 'rate_limited' || !(waitSeconds <= retryAfterSecondsMax)) return answer;
    await pause(waitSeconds * 1000);
    return exchange(baseUrl, method, target, sign(method, target, sending));
  };
  return {
    baseUrl,
    deviceId,
    keys,
    stamp,
    /** Takes the server's time from now on. */
    takeTime: (serverMs: number): void => {
      skewMs = serverMs - Date.now();
    },
    send,
    /** The same bytes twice; the second answer. */
    replay: async (method: string, target: string, again: (headers: Headers) => Headers = (headers) => headers): Promise<Received> => {
      const { headers, body } = sign(method, target, {});
      await exchange(baseUrl, method, target, { headers, body });
      return exchange(baseUrl, method, target, { headers: again(headers), body });
    },
    publicKeys: () =>
      [keys.pop, keys.uv].map(({ keyId, purpose, publicKey }) => ({ key_id: keyId, purpose, alg: 'ES256', public_key: publicKey })),
    proofs: (challenge: string, issuer = baseUrl) =>
      [keys.pop, keys.uv].map((key) => {
        const text = enrollText({ issuer, deviceId, keyId: key.keyId, publicKeySha256: digestOf(key), challenge });
        return { key_id: key.keyId, signature: signText(key.privateKey, text).toString('base64') };
      }),
    rotation: (fresh: ProbeKey, nonce: string) => {
      const text = rotateText({ issuer: baseUrl, deviceId, keyId: fresh.keyId, nonce, alg: 'ES256', publicKeySha256: digestOf(fresh) });
      const old = fresh.purpose === 'uv' ? { old_signature: signText(keys.uv.privateKey, text).toString('base64') } : {};
      const signature = signText(fresh.privateKey, text).toString('base64');
      return { key_id: fresh.keyId, alg: 'ES256', public_key: fresh.publicKey, signature, ...old };
    },
  };
}

/** A P-256 key for a slot; `keyId` continues one. */
export function makeKey(purpose: 'pop' | 'uv', keyId: string = randomUUID()): ProbeKey {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return { keyId, purpose, privateKey, publicKey: publicKey.export({ format: 'der', type: 'spki' }).toString('base64') };
}

const digestOf = (key: ProbeKey): string => sha256Hex(Buffer.from(key.publicKey, 'base64'));

export type Headers = Readonly<Record<string, string>>;
interface Raw {
  readonly headers: Headers;
  readonly body: string;
}

function signedRequest(
  phone: { readonly baseUrl: string; readonly deviceId: string; readonly stamp: () => string },
  key: ProbeKey,
  { method, target, sending }: { readonly method: string; readonly target: string; readonly sending: Sending },
): Raw {
  const { body: value, version = '1', timestamp = phone.stamp(), spoil } = sending;
  const body = value === undefined ? '' : typeof value === 'string' ? value : JSON.stringify(value);
  const [path = '', query = ''] = target.split(/\?(.*)/s, 2);
  const text = requestText({
    protocolVersion: version,
    issuer: phone.baseUrl,
    method,
    path,
    query,
    timestamp,
    deviceId: phone.deviceId,
    keyId: key.keyId,
    bodySha256: sha256Hex(Buffer.from(body)),
    ...sending.signed,
  });
  const signature = signText(key.privateKey, text);
  const spoiled = spoil?.(signature) ?? signature;
  const headers: Record<string, string | undefined> = {
    ...(body === '' ? {} : { 'content-type': 'application/json' }),
    'x-protocol-version': version,
    'x-device-id': phone.deviceId,
    'x-device-key-id': key.keyId,
    'x-timestamp': timestamp,
    'x-signature': typeof spoiled === 'string' ? spoiled : spoiled.toString('base64'),
    ...sending.headers,
  };
  return {
    headers: Object.fromEntries(Object.entries(headers).filter((entry): entry is [string, string] => entry[1] !== undefined)),
    body,
  };
}

function exchange(baseUrl: string, method: string, target: string, { headers, body }: Raw): Promise<Received> {
  const { origin, protocol, pathname } = new URL(baseUrl);
  const { promise, resolve, reject } = Promise.withResolvers<Received>();
  const path = `${pathname === '/' ? '' : pathname}${target}`;
  const length = body === '' ? {} : { 'content-length': String(Buffer.byteLength(body)) };
  const call = (protocol === 'https:' ? httpsRequest : httpRequest)(origin, { method, path, headers: { ...headers, ...length } });
  call.setTimeout(timeoutMs, () => call.destroy(new Error(`${method} ${target}: no answer in ${timeoutMs / 1000} s`)));
  call.on('error', reject);
  call.on('response', async (response) => {
    let text = '';
    response.setEncoding('utf8');
    for await (const chunk of response) text += chunk;
    resolve({ status: response.statusCode ?? 0, body: parse(text) });
  });
  call.end(body);
  return promise;
}

function parse(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
  } catch {
    return {};
  }
}
