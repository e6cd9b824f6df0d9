// Web Push (RFC 8030, 8291, 8292) to the push services of the browsers. A subscription names an address, so only those vendors'
// hosts are called, through the guarded way out. Encryption and the VAPID header are web-push's.
import { ECDH } from 'node:crypto';
import { pushEndpointCharsMax } from '../../contract/limits.ts';
import type { Clock } from '../clock.ts';
import type { Outbound } from '../net/outbound.ts';
import { type PushNotice, type PushResult, type PushSend, parseAnswer, pushAnswerBytesMax, pushTimeoutMs, reasonOf } from './push.ts';

/** The key by which push services know a tenant (RFC 8292). */
export interface VapidAccount {
  /** Whose share of calls it takes. */
  readonly share: string;
  /** Whom the push service may ask: an https URL or a mailto one. */
  readonly subject: string;
  /** P-256 point and number, base64url. */
  readonly publicKey: string;
  readonly privateKey: string;
}

interface Subscription {
  readonly endpoint: URL;
  /** Whose push service. */
  readonly vendor: string;
  readonly p256dh: string;
  readonly auth: string;
}

const vendorHosts: Readonly<Record<string, RegExp>> = {
  google: /^fcm\.googleapis\.com$/, // Chrome and what is built on it
  mozilla: /^updates\.push\.services\.mozilla\.com$/,
  apple: /^(?:[a-z0-9-]+\.)*push\.apple\.com$/,
  microsoft: /^(?:[a-z0-9-]+\.)*notify\.windows\.com$/,
};
const publicKeyBytes = 65;
const authBytes = 16;
const tokenSeconds = 12 * 3600; // RFC 8292: 24 hours at most

/** A subscription as `PushSubscription.toJSON()` gives it, of a vendor we push to; undefined for anything else. */
export function parseSubscription(text: string): Subscription | undefined {
  const { endpoint, keys } = parseAnswer(text);
  const { p256dh, auth } = (typeof keys === 'object' && keys !== null ? keys : {}) as Readonly<Record<string, unknown>>;
  const url = typeof endpoint === 'string' && endpoint.length <= pushEndpointCharsMax ? URL.parse(endpoint) : null;
  const vendor = url === null ? undefined : vendorOf(url);
  if (url === null || vendor === undefined || !isPoint(p256dh) || bytesOf(auth)?.byteLength !== authBytes) return undefined;
  return { endpoint: url, vendor, p256dh, auth: auth as string }; // bytesOf takes texts only
}

function vendorOf({ protocol, port, username, password, hostname }: URL): string | undefined {
  if (protocol !== 'https:' || port !== '' || username !== '' || password !== '') return undefined;
  return Object.keys(vendorHosts).find((vendor) => vendorHosts[vendor]!.test(hostname));
}

function isPoint(value: unknown): value is string {
  const bytes = bytesOf(value);
  if (bytes?.byteLength !== publicKeyBytes) return false;
  try {
    ECDH.convertKey(bytes, 'prime256v1'); // throws for what is no point of the curve
    return true;
  } catch {
    return false;
  }
}

function bytesOf(value: unknown): Buffer | undefined {
  return typeof value === 'string' && /^[\w-]+={0,2}$/.test(value) ? Buffer.from(value, 'base64url') : undefined;
}

/** @param origin stands in for the vendors' */
export function createWebPush(outbound: Outbound, clock: Clock, origin?: string): PushSend<VapidAccount> {
  return async (account, token, notice, signal) => {
    const subscription = parseSubscription(token);
    if (subscription === undefined) return { outcome: 'gone', reason: 'no_subscription' };
    const { endpoint } = subscription;
    const url = origin === undefined ? endpoint.href : `${origin}${endpoint.pathname}${endpoint.search}`;
    const { headers, body } = await requestOf(account, subscription, notice, clock.nowMs());
    const answer = await outbound.fetch({
      url,
      share: account.share,
      method: 'POST',
      headers,
      body,
      timeoutMs: pushTimeoutMs,
      responseBytesMax: pushAnswerBytesMax,
      signal,
    });
    return answer.ok ? resultOf(answer.status, answer.body) : { outcome: 'failed', reason: answer.reason };
  };
}

async function requestOf(account: VapidAccount, { endpoint, p256dh, auth }: Subscription, notice: PushNotice, nowMs: number) {
  const { default: webPush } = await import('web-push');
  const { type, id, sentence, expiresAtMs } = notice;
  const payload = JSON.stringify({ type, approval_id: id, body: sentence });
  const { cipherText } = webPush.encrypt(p256dh, auth, payload, 'aes128gcm');
  const expiresAt = Math.floor(nowMs / 1000) + tokenSeconds;
  const { subject, publicKey, privateKey } = account;
  const { Authorization: authorization } = webPush.getVapidHeaders(endpoint.origin, subject, publicKey, privateKey, 'aes128gcm', expiresAt);
  const headers = {
    authorization,
    'content-type': 'application/octet-stream',
    'content-encoding': 'aes128gcm',
    ttl: String(Math.max(0, Math.floor((expiresAtMs - nowMs) / 1000))),
    urgency: 'high',
    topic: id,
  };
  return { headers, body: cipherText };
}

function resultOf(status: number, text: string): PushResult {
  if (status >= 200 && status < 300) return { outcome: 'sent' };
  const { reason: word, error } = parseAnswer(text);
  const reason = reasonOf(word, error, `HTTP ${status}`);
  if (status === 404 || status === 410) return { outcome: 'gone', reason };
  if (status === 429 || status >= 500) return { outcome: 'failed', reason };
  return { outcome: status === 401 || status === 403 ? 'refused' : 'rejected', reason };
}
