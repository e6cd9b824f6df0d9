// Apple Push Notification service over HTTP/2 with a provider token (JWT, ES256), without a vendor's SDK. One connection is
// kept and opened again when it ends.
import { createPrivateKey, type KeyObject, sign } from 'node:crypto';
import { type ClientHttp2Session, connect } from 'node:http2';
import type { Clock } from './clock.ts';
import type { PushOutcome, PushSender } from './push.ts';

export interface ApnsAccount {
  readonly keyId: string;
  readonly teamId: string;
  /** Bundle id of the app. */
  readonly topic: string;
  readonly privateKey: KeyObject;
  readonly origin: string;
}

const timeoutMs = 10_000;
/** Apple takes a token for 20 to 60 minutes. */
const tokenLifetimeMs = 40 * 60_000;

/** The account in our JSON file `{key_id, team_id, topic, private_key[, origin]}`; throws when something is missing. */
export function parseApnsAccount(text: string): ApnsAccount {
  const fields = JSON.parse(text) as Readonly<Record<string, unknown>>; // every member is checked below
  const member = (name: string, fallback?: string): string => {
    const value = fields[name] ?? fallback;
    if (typeof value !== 'string') throw new Error(`push_apns: expected "${name}" in the account file, found none`);
    return value;
  };
  return {
    keyId: member('key_id'),
    teamId: member('team_id'),
    topic: member('topic'),
    privateKey: createPrivateKey(member('private_key')),
    origin: member('origin', 'https://api.push.apple.com'),
  };
}

export function createApnsPush(account: ApnsAccount, clock: Clock): PushSender {
  let session: ClientHttp2Session | undefined;
  let provider: { readonly token: string; readonly madeAtMs: number } | undefined;
  const openSession = (): ClientHttp2Session => {
    if (session !== undefined && !session.closed && !session.destroyed) return session;
    const opened = connect(account.origin);
    opened.on('error', () => opened.destroy());
    opened.unref();
    session = opened;
    return opened;
  };
  return (token) => {
    const nowMs = clock.nowMs();
    if (provider === undefined || nowMs - provider.madeAtMs > tokenLifetimeMs)
      provider = { token: makeToken(account, nowMs), madeAtMs: nowMs };
    return post(openSession(), account.topic, provider.token, token);
  };
}

function makeToken(account: ApnsAccount, nowMs: number): string {
  const parts = [
    { alg: 'ES256', kid: account.keyId },
    { iss: account.teamId, iat: Math.floor(nowMs / 1000) },
  ];
  const head = parts.map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.');
  const signature = sign('sha256', Buffer.from(head), { key: account.privateKey, dsaEncoding: 'ieee-p1363' });
  return `${head}.${signature.toString('base64url')}`;
}

function post(session: ClientHttp2Session, topic: string, providerToken: string, token: string): Promise<PushOutcome> {
  return new Promise((resolve) => {
    const stream = session.request({
      ':method': 'POST',
      ':path': `/3/device/${encodeURIComponent(token)}`,
      authorization: `bearer ${providerToken}`,
      'apns-topic': topic,
      'apns-push-type': 'background',
      'apns-priority': '5',
      'apns-expiration': '0',
    });
    stream.setTimeout(timeoutMs, () => stream.close());
    stream.on('response', (headers) => {
      const status = Number(headers[':status']);
      resolve(status === 200 ? 'sent' : status === 410 ? 'gone' : 'failed');
      stream.close();
    });
    stream.on('error', () => resolve('failed'));
    stream.on('close', () => resolve('failed')); // does nothing after an answer
    stream.end(JSON.stringify({ aps: { 'content-available': 1 }, type: 'approval' }));
  });
}
