// Apple Push Notification service over HTTP/2 with a provider token (JWT, ES256), without a vendor's SDK. Each account keeps one
// connection, as Apple wants, opened again when it ends.
import { createPrivateKey, type KeyObject, sign } from 'node:crypto';
import { type ClientHttp2Session, connect } from 'node:http2';
import type { Clock } from '../clock.ts';
import { accountMember, type PushNotice, type PushResult, type PushSend, parseAnswer, pushAnswerBytesMax, reasonOf } from './push.ts';

export interface ApnsAccount {
  readonly keyId: string;
  readonly teamId: string;
  /** Bundle id of the app. */
  readonly topic: string;
  /** P-256. */
  readonly privateKey: KeyObject;
  readonly origin: string;
}

const apnsOrigins = { production: 'https://api.push.apple.com', development: 'https://api.sandbox.push.apple.com' } as const;

/** Apple takes a token for 20 to 60 minutes. */
const tokenLifetimeMs = 40 * 60_000;
const idleMs = 10 * 60_000;
const refusedTopics = ['BadTopic', 'MissingTopic', 'TopicDisallowed'];

/**
 * The account in `{key_id, team_id, topic, private_key[, environment]}`; throws when something is missing or no P-256 key.
 * `origin` counts in the operator's file alone.
 */
export function parseApnsAccount(fields: Readonly<Record<string, unknown>>, origin?: unknown): ApnsAccount {
  const member = (name: string): string => accountMember(fields, 'apns', name);
  const privateKey = createPrivateKey(member('private_key'));
  if (privateKey.asymmetricKeyDetails?.namedCurve !== 'prime256v1') throw new Error('apns: expected a P-256 key as "private_key"');
  return {
    keyId: member('key_id'),
    teamId: member('team_id'),
    topic: member('topic'),
    privateKey,
    origin: typeof origin === 'string' ? origin : apnsOrigins[fields['environment'] === 'development' ? 'development' : 'production'],
  };
}

interface Connection {
  session: ClientHttp2Session | undefined;
  token: { readonly text: string; readonly madeAtMs: number } | undefined;
}

/** @param origin stands in for Apple's */
export function createApnsPush(clock: Clock, origin?: string): PushSend<ApnsAccount> {
  const connections = new WeakMap<ApnsAccount, Connection>();
  return async (account, token, notice, signal) => {
    const connection = connections.get(account) ?? { session: undefined, token: undefined };
    connections.set(account, connection);
    const nowMs = clock.nowMs();
    if (connection.token === undefined || nowMs - connection.token.madeAtMs > tokenLifetimeMs)
      connection.token = { text: makeToken(account, nowMs), madeAtMs: nowMs };
    if (connection.session === undefined || connection.session.closed || connection.session.destroyed)
      connection.session = open(origin ?? account.origin);
    const result = await post(connection.session, requestOf(account, connection.token.text, token, notice), signal);
    if (result.reason === 'ExpiredProviderToken') connection.token = undefined;
    return result;
  };
}

function open(origin: string): ClientHttp2Session {
  const session = connect(origin);
  session.on('error', () => session.destroy());
  session.setTimeout(idleMs, () => session.close());
  session.unref();
  return session;
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

interface ApnsRequest {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** An alert that passes Focus, is shown at once or not at all, and replaces an earlier one of the same approval. */
function requestOf(
  { topic }: ApnsAccount,
  providerToken: string,
  token: string,
  { type, id, sentence, expiresAtMs }: PushNotice,
): ApnsRequest {
  return {
    headers: {
      ':method': 'POST',
      ':path': `/3/device/${encodeURIComponent(token)}`,
      authorization: `bearer ${providerToken}`,
      'apns-topic': topic,
      'apns-push-type': 'alert',
      'apns-priority': '10',
      'apns-expiration': String(Math.floor(expiresAtMs / 1000)),
      'apns-collapse-id': id,
    },
    body: JSON.stringify({
      aps: { alert: { body: sentence }, sound: 'default', 'mutable-content': 1, 'interruption-level': 'time-sensitive' },
      type,
      approval_id: id,
    }),
  };
}

function post(session: ClientHttp2Session, { headers, body }: ApnsRequest, signal: AbortSignal): Promise<PushResult> {
  const { promise, resolve } = Promise.withResolvers<PushResult>();
  const stream = session.request(headers);
  const giveUp = (): void => {
    resolve({ outcome: 'failed', reason: 'timeout' });
    session.destroy(); // a connection that does not answer is not used again
  };
  signal.addEventListener('abort', giveUp);
  let status = 0;
  let text = '';
  stream.setEncoding('utf8');
  stream.on('response', (answer) => {
    status = Number(answer[':status']);
  });
  stream.on('data', (chunk: string) => {
    if (text.length < pushAnswerBytesMax) text += chunk;
  });
  stream.on('error', () => resolve({ outcome: 'failed', reason: 'network' }));
  stream.on('close', () => {
    signal.removeEventListener('abort', giveUp);
    resolve(status === 0 ? { outcome: 'failed', reason: 'network' } : resultOf(status, text));
  });
  stream.end(body);
  return promise;
}

function resultOf(status: number, text: string): PushResult {
  if (status === 200) return { outcome: 'sent' };
  const reason = reasonOf(parseAnswer(text)['reason'], `HTTP ${status}`);
  if (status === 410) return { outcome: 'gone', reason };
  if (reason === 'ExpiredProviderToken' || status === 429 || status >= 500) return { outcome: 'failed', reason };
  return { outcome: status === 403 || refusedTopics.includes(reason) ? 'refused' : 'rejected', reason };
}
