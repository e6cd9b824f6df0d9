// What the modules of the OpenID Foundation's plans for transmitters of security events share: a receiver that knows of the transmitter
// only what its metadata say, sends application/json with everything as theirs does, and judges each token by every rule there is.
import assert from 'node:assert/strict';
import { type CryptoKey, createRemoteJWKSet, decodeProtectedHeader, type JWTPayload, jwtVerify } from 'jose';
import type { DatabaseName } from './databases.ts';
import { clientCredentialsToken, createTestClient, createTestTenant, type Json, jsonOf, type Managed } from './management.ts';
import { startTestServer, type TestServer } from './server.ts';
import { pollMethod, pushMethod, type Stream, tellNow } from './ssf.ts';
import { answerWith, loopbackAllowed, startWebhookReceiver, type WebhookReceiver } from './webhooks.ts';

export type Endpoint = 'configuration' | 'status' | 'verification' | 'add_subject' | 'remove_subject';
export type Mode = 'push' | 'poll';

/** How one request differs from a good one. */
export interface Sent {
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  /** Sent as it is, instead of a body as JSON. */
  readonly text?: string;
  /** Null: none. */
  readonly token?: string | null;
}

/** What a token says, once it is found to be a good one. */
export interface Told {
  readonly jti: string;
  readonly subject: Json;
  readonly type: string;
  readonly event: Json;
}

export interface Judge {
  readonly server: TestServer;
  readonly tenant: Managed;
  readonly metadata: Json;
  readonly clientId: string;
  readonly receiver: WebhookReceiver;
  readonly tokenOf: (scope: string) => Promise<string>;
  readonly send: (method: string, endpoint: Endpoint, sent?: Sent) => Promise<Response>;
  /** As the suite asks for one, with what is to differ. */
  readonly create: (mode: Mode, fields?: Json) => Promise<Stream>;
  readonly poll: (stream: Stream, fields: Json, sent?: Sent & { readonly headers?: Readonly<Record<string, string>> }) => Promise<Response>;
  readonly verify: (stream: Stream, state?: string) => Promise<void>;
  /** Everything that arrives now, by the stream's own way, acknowledged. */
  readonly take: (stream: Stream) => Promise<readonly Told[]>;
  readonly check: (stream: Stream, token: string) => Promise<Told>;
  /** Deletes the stream that is left. */
  readonly clean: () => Promise<void>;
  readonly close: () => Promise<void>;
}

export const pushHeader = 'Bearer push_token_of_the_suite';
export const pushPath = '/ssf-push';
export const eventTypes = {
  sessionRevoked: 'https://schemas.openid.net/secevent/caep/event-type/session-revoked',
  credentialChange: 'https://schemas.openid.net/secevent/caep/event-type/credential-change',
  deviceCompliance: 'https://schemas.openid.net/secevent/caep/event-type/device-compliance-change',
  verification: 'https://schemas.openid.net/secevent/ssf/event-type/verification',
} as const;

export async function openJudge(database: DatabaseName): Promise<Judge> {
  const receiver = await startWebhookReceiver();
  receiver.answer(pushPath, answerWith(202));
  const server = await startTestServer(database, { flags: loopbackAllowed });
  const tenant = await createTestTenant(server, { settings: { rate_limits: { management_requests_per_client: null } } });
  const client = await createTestClient(tenant, {
    ...{ name: 'Suite', token_endpoint_auth_method: 'client_secret_post', grant_types: ['client_credentials'], redirect_uris: [] },
    scopes: ['ssf.read', 'ssf.manage'],
  });
  const metadata = await jsonOf(await fetch(`${tenant.baseUrl}/.well-known/ssf-configuration`), 200);
  const tokenOf = (scope: string): Promise<string> => clientCredentialsToken(tenant.baseUrl, client.client_id, client.client_secret, scope);
  const full = await tokenOf('ssf.read ssf.manage');
  const request = (method: string, url: URL, { query = {}, body, text, token = full, ...more }: Sent & { readonly headers?: object }) => {
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
    const payload = text ?? (body === undefined ? undefined : JSON.stringify(body));
    return fetch(url, {
      method,
      headers: { ...(token !== null && { authorization: `Bearer ${token}` }), 'content-type': 'application/json', ...more.headers },
      ...(payload !== undefined && { body: payload }),
    });
  };
  const send: Judge['send'] = (method, endpoint, sent = {}) => request(method, new URL(String(metadata[`${endpoint}_endpoint`])), sent);
  const poll: Judge['poll'] = (stream, fields, sent = {}) =>
    request('POST', new URL(stream.delivery.endpoint_url), { body: fields, ...sent });
  const check: Judge['check'] = (stream, token) => checkSet({ metadata, nowMs: server.clock.nowMs() }, stream, token);
  let pushed = 0;
  return {
    ...{ server, tenant, metadata, receiver, tokenOf, send, poll, check, clientId: client.client_id },
    create: async (mode, fields = {}) => {
      pushed = receiver.received.length;
      const push = { method: pushMethod, endpoint_url: receiver.url(pushPath), authorization_header: pushHeader };
      const body = {
        events_requested: [eventTypes.sessionRevoked, eventTypes.credentialChange],
        description: 'Stream of the suite',
        delivery: mode === 'push' ? push : { method: pollMethod },
        ...fields,
      };
      return jsonOf<Stream>(await send('POST', 'configuration', { body }), 201);
    },
    verify: async ({ stream_id }, state) => {
      const answer = await send('POST', 'verification', { body: { stream_id, ...(state !== undefined && { state }) } });
      assert.deepEqual([answer.status, await answer.text()], [204, '']);
    },
    take: async (stream) => {
      await tellNow(server);
      if (stream.delivery.method === pollMethod) {
        const { sets } = await jsonOf<{ sets: Readonly<Record<string, string>> }>(
          await poll(stream, { maxEvents: 10, returnImmediately: true }),
          200,
        );
        await jsonOf(await poll(stream, { maxEvents: 0, returnImmediately: true, ack: Object.keys(sets) }), 200);
        return Promise.all(Object.values(sets).map((token) => check(stream, token)));
      }
      for (let before = -1; before !== receiver.received.length; ) {
        before = receiver.received.length;
        await server.gatehouse.services.jobs.runNow('deliveries');
      }
      const fresh = receiver.received.slice(pushed);
      pushed = receiver.received.length;
      return Promise.all(fresh.map(({ body }) => check(stream, body)));
    },
    clean: async () => {
      const streams = await jsonOf<readonly Stream[]>(await send('GET', 'configuration'), 200);
      for (const { stream_id } of streams) assert.equal((await send('DELETE', 'configuration', { query: { stream_id } })).status, 204);
    },
    close: async () => {
      await server.close();
      await receiver.close();
    },
  };
}

/** The envelope of a token: SSF 1.0, 4; RFC 8417; CAEP Interoperability Profile 1.0, 2.6 and 2.8. */
async function checkSet(
  { metadata, nowMs }: { readonly metadata: Json; readonly nowMs: number },
  stream: Stream,
  token: string,
): Promise<Told> {
  const { payload, key } = (await jwtVerify(token, createRemoteJWKSet(new URL(String(metadata['jwks_uri']))), {
    ...{ algorithms: ['RS256'], typ: 'secevent+jwt', issuer: String(metadata['issuer']), audience: String(stream['aud']) },
    currentDate: new Date(nowMs),
  })) as { readonly payload: JWTPayload & Json; readonly key: CryptoKey }; // of a JWKS
  assert.equal(decodeProtectedHeader(token).alg, 'RS256');
  assert.ok((key.algorithm as { readonly name: string; readonly modulusLength?: number }).modulusLength! >= 2048);
  const { iss, iat, jti, txn, sub_id: subject, events } = payload;
  assert.equal(iss, stream['iss']);
  for (const name of ['sub', 'exp']) assert.equal(name in payload, false, name);
  assert.ok(Number.isInteger(iat) && Number(iat) * 1000 <= nowMs);
  for (const text of [jti, txn]) assert.ok(typeof text === 'string' && text !== '');
  const told = Object.entries(events as Readonly<Record<string, Json>>);
  assert.equal(told.length, 1, 'one event a token');
  const [type, event] = told[0]!;
  assert.ok(typeof event === 'object' && event !== null && !Array.isArray(event));
  return { jti: jti!, subject: subject as Json, type, event };
}
