// Firebase Cloud Messaging over its HTTP v1 API with a service account (RFC 7523 grant), without a vendor's SDK.
import { createPrivateKey, type KeyObject, sign } from 'node:crypto';
import type { Clock } from '../clock.ts';
import { accountMember, type PushNotice, type PushResult, type PushSend, parseAnswer, reasonOf } from './push.ts';

export interface FcmAccount {
  readonly projectId: string;
  readonly clientEmail: string;
  /** RSA. */
  readonly privateKey: KeyObject;
}

/** Where Google takes assertions, and pushes. */
export interface FcmOrigins {
  readonly token: string;
  readonly messages: string;
}

const vendor: FcmOrigins = { token: 'https://oauth2.googleapis.com', messages: 'https://fcm.googleapis.com' };
const scope = 'https://www.googleapis.com/auth/firebase.messaging';
const renewBeforeMs = 60_000;

/** The account in the JSON Google gives; throws when something is missing or no RSA key. Its addresses are not used: ours are fixed. */
export function parseFcmAccount(fields: Readonly<Record<string, unknown>>): FcmAccount {
  const member = (name: string): string => accountMember(fields, 'fcm', name);
  const privateKey = createPrivateKey(member('private_key'));
  if (privateKey.asymmetricKeyType !== 'rsa') throw new Error('fcm: expected an RSA key as "private_key"');
  return { projectId: member('project_id'), clientEmail: member('client_email'), privateKey };
}

interface Access {
  readonly token: string;
  readonly expiresAtMs: number;
}

type Granted = Access | PushResult;

/** @param origins stand in for Google's */
export function createFcmPush(clock: Clock, origins: FcmOrigins = vendor): PushSend<FcmAccount> {
  const granted = new WeakMap<FcmAccount, Promise<Granted>>();
  // One at a time an account, so that pushes at the same time share an answer.
  const accessOf = (account: FcmAccount, signal: AbortSignal): Promise<Granted> => {
    const before = granted.get(account) ?? Promise.resolve(undefined);
    const access = before.then((known) =>
      known !== undefined && 'token' in known && known.expiresAtMs - renewBeforeMs > clock.nowMs()
        ? known
        : askAccess(account, origins.token, clock, signal),
    );
    granted.set(account, access);
    return access;
  };
  return async (account, token, notice, signal) => {
    const access = await accessOf(account, signal);
    if (!('token' in access)) return access;
    const url = `${origins.messages}/v1/projects/${encodeURIComponent(account.projectId)}/messages:send`;
    const body = messageOf(token, notice, clock.nowMs());
    const answer = await post(url, body, signal, { authorization: `Bearer ${access.token}`, 'content-type': 'application/json' });
    if (answer.status === 401) granted.delete(account);
    return resultOf(answer);
  };
}

/** Shown by the system at once, replaced by a later one of the same approval, dropped when the approval ends. */
function messageOf(token: string, { type, id, sentence, expiresAtMs }: PushNotice, nowMs: number): string {
  const ttlSeconds = Math.max(0, Math.floor((expiresAtMs - nowMs) / 1000));
  return JSON.stringify({
    message: {
      token,
      notification: { body: sentence },
      data: { type, approval_id: id },
      android: { priority: 'HIGH', ttl: `${ttlSeconds}s`, notification: { tag: id } },
    },
  });
}

interface Answer {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
  readonly failure?: string;
}

async function post(
  url: string,
  body: string | URLSearchParams,
  signal: AbortSignal,
  headers: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  try {
    const response = await fetch(url, { method: 'POST', headers, body, redirect: 'error', signal });
    return { status: response.status, body: parseAnswer(await response.text()) };
  } catch (error) {
    return { status: 0, body: {}, failure: error instanceof Error && error.name === 'TimeoutError' ? 'timeout' : 'network' };
  }
}

function resultOf({ status, body, failure }: Answer): PushResult {
  if (status >= 200 && status < 300) return { outcome: 'sent' };
  const error = (body['error'] ?? {}) as Readonly<Record<string, unknown>>; // Google's envelope
  const details = Array.isArray(error['details']) ? (error['details'] as readonly Readonly<Record<string, unknown>>[]) : [];
  const code = details.map((detail) => detail?.['errorCode']).find((found) => typeof found === 'string');
  const reason = reasonOf(failure, code, error['status'], `HTTP ${status}`);
  if (code === 'UNREGISTERED') return { outcome: 'gone', reason };
  if (status === 0 || status === 401 || status === 429 || status >= 500) return { outcome: 'failed', reason };
  return { outcome: status === 403 || status === 404 ? 'refused' : 'rejected', reason };
}

async function askAccess(account: FcmAccount, origin: string, clock: Clock, signal: AbortSignal): Promise<Granted> {
  const nowMs = clock.nowMs();
  const nowSeconds = Math.floor(nowMs / 1000);
  const claims = { iss: account.clientEmail, scope, aud: `${vendor.token}/token`, iat: nowSeconds, exp: nowSeconds + 3600 };
  const head = [{ alg: 'RS256', typ: 'JWT' }, claims].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.');
  const assertion = `${head}.${sign('sha256', Buffer.from(head), account.privateKey).toString('base64url')}`;
  const form = new URLSearchParams({ grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer', assertion });
  const { status, body, failure } = await post(`${origin}/token`, form, signal);
  const { access_token: token, expires_in: seconds, error } = body;
  if (status === 200 && typeof token === 'string' && typeof seconds === 'number') return { token, expiresAtMs: nowMs + seconds * 1000 };
  const reason = reasonOf(failure, error, `HTTP ${status}`);
  return { outcome: status >= 400 && status < 500 && status !== 429 ? 'refused' : 'failed', reason };
}
