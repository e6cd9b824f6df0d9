// Firebase Cloud Messaging over its HTTP v1 API with a service account (RFC 7523 grant), without a vendor's SDK.
// The account file is the operator's, so its addresses are trusted like any other setting.
import { createPrivateKey, type KeyObject, sign } from 'node:crypto';
import type { Clock } from './clock.ts';
import type { PushOutcome, PushSender } from './push.ts';

export interface FcmAccount {
  readonly projectId: string;
  readonly clientEmail: string;
  readonly privateKey: KeyObject;
  readonly tokenUri: string;
}

const scope = 'https://www.googleapis.com/auth/firebase.messaging';
const timeoutMs = 10_000;
const renewBeforeMs = 60_000;

/** The account in the JSON file Google gives; throws when something is missing. */
export function parseFcmAccount(text: string): FcmAccount {
  const fields = JSON.parse(text) as Readonly<Record<string, unknown>>; // every member is checked below
  const member = (name: string): string => {
    const value = fields[name];
    if (typeof value !== 'string') throw new Error(`push_fcm: expected "${name}" in the service account file, found none`);
    return value;
  };
  return {
    projectId: member('project_id'),
    clientEmail: member('client_email'),
    privateKey: createPrivateKey(member('private_key')),
    tokenUri: member('token_uri'),
  };
}

/** @param origin of the messaging API */
export function createFcmPush(account: FcmAccount, clock: Clock, origin = 'https://fcm.googleapis.com'): PushSender {
  let access: { readonly token: string; readonly expiresAtMs: number } | undefined;
  return async (token) => {
    if (access === undefined || access.expiresAtMs - renewBeforeMs < clock.nowMs()) access = await fetchAccess(account, clock);
    const response = await fetch(`${origin}/v1/projects/${encodeURIComponent(account.projectId)}/messages:send`, {
      method: 'POST',
      headers: { authorization: `Bearer ${access.token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ message: { token, data: { type: 'approval' }, android: { priority: 'HIGH', ttl: '60s' } } }),
      redirect: 'error',
      signal: AbortSignal.timeout(timeoutMs),
    });
    await response.body?.cancel();
    if (response.status === 401) access = undefined;
    return outcomeOf(response.status);
  };
}

function outcomeOf(status: number): PushOutcome {
  if (status >= 200 && status < 300) return 'sent';
  return status === 404 ? 'gone' : 'failed'; // UNREGISTERED is 404
}

async function fetchAccess(account: FcmAccount, clock: Clock): Promise<{ readonly token: string; readonly expiresAtMs: number }> {
  const nowSeconds = Math.floor(clock.nowMs() / 1000);
  const claims = { iss: account.clientEmail, scope, aud: account.tokenUri, iat: nowSeconds, exp: nowSeconds + 3600 };
  const head = [{ alg: 'RS256', typ: 'JWT' }, claims].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.');
  const assertion = `${head}.${sign('sha256', Buffer.from(head), account.privateKey).toString('base64url')}`;
  const response = await fetch(account.tokenUri, {
    method: 'POST',
    body: new URLSearchParams({ grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer', assertion }),
    redirect: 'error',
    signal: AbortSignal.timeout(timeoutMs),
  });
  if (!response.ok) throw new Error(`the token endpoint of the push provider answered ${response.status}`);
  const { access_token: token, expires_in: seconds } = (await response.json()) as { access_token?: unknown; expires_in?: unknown };
  if (typeof token !== 'string' || typeof seconds !== 'number') throw new Error('the token endpoint of the push provider gave no token');
  return { token, expiresAtMs: clock.nowMs() + seconds * 1000 };
}
