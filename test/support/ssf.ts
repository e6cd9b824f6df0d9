// Security events in tests: a receiver, which is an OAuth client with a token of its own, and how its tokens are verified.
import assert from 'node:assert/strict';
import { createRemoteJWKSet, type JWTPayload, jwtVerify } from 'jose';
import { callJson, clientCredentialsToken, createTestClient, type Json, jsonOf, type Managed } from './management.ts';
import type { TestServer } from './server.ts';

export const pushMethod = 'urn:ietf:rfc:8935';
export const pollMethod = 'urn:ietf:rfc:8936';

export type Stream = Json & { readonly stream_id: string; readonly delivery: { readonly method: string; readonly endpoint_url: string } };

export interface Receiver {
  readonly clientId: string;
  readonly call: (method: string, path: string, body?: unknown) => Promise<Response>;
  readonly makeStream: (fields?: Json) => Promise<Stream>;
  readonly setStatus: (stream: Stream, status: string) => Promise<Json>;
  /** Asks without waiting. */
  readonly poll: (
    stream: Stream,
    fields?: Json,
  ) => Promise<{ readonly sets: Readonly<Record<string, string>>; readonly moreAvailable?: boolean }>;
}

/** Registers a client that may receive security events. */
export async function makeReceiver(tenant: Managed, fields: Json = {}, scope = 'ssf.read ssf.manage'): Promise<Receiver> {
  const client = await createTestClient(tenant, {
    name: 'Receiver',
    token_endpoint_auth_method: 'client_secret_post',
    grant_types: ['client_credentials'],
    redirect_uris: [],
    scopes: ['ssf.read', 'ssf.manage'],
    ...fields,
  });
  let held = '';
  const call: Receiver['call'] = async (method, path, body) => {
    held ||= await clientCredentialsToken(tenant.baseUrl, client.client_id, client.client_secret, scope);
    const response = await callJson(`${tenant.baseUrl}/v1/ssf${path}`, held, method, body);
    if (response.status !== 401) return response;
    held = await clientCredentialsToken(tenant.baseUrl, client.client_id, client.client_secret, scope); // time has passed
    return callJson(`${tenant.baseUrl}/v1/ssf${path}`, held, method, body);
  };
  return {
    clientId: client.client_id,
    call,
    makeStream: async (given = {}) => jsonOf<Stream>(await call('POST', '/streams', given), 201),
    setStatus: async ({ stream_id }, status) => jsonOf(await call('POST', '/status', { stream_id, status }), 200),
    poll: async ({ stream_id }, given = {}) => jsonOf(await call('POST', `/poll/${stream_id}`, { returnImmediately: true, ...given }), 200),
  };
}

/** Verifies a token as a receiver does, by the keys at jwks_uri. */
export async function verifySet(tenant: Managed, receiver: Pick<Receiver, 'clientId'>, token: string): Promise<JWTPayload & Json> {
  const { jwks_uri: keys, issuer } = await jsonOf<Readonly<Record<string, string>>>(
    await fetch(`${tenant.baseUrl}/.well-known/ssf-configuration`),
    200,
  );
  const { payload, protectedHeader } = await jwtVerify(token, createRemoteJWKSet(new URL(keys!)), {
    issuer: issuer!,
    audience: receiver.clientId,
    typ: 'secevent+jwt',
    algorithms: ['RS256'],
    clockTolerance: '3650 days',
  });
  assert.deepEqual(Object.keys(protectedHeader).toSorted(), ['alg', 'kid', 'typ']);
  return payload;
}

/** What a token says, its varying parts checked and left out. */
export async function toldBy(
  tenant: Managed,
  receiver: Pick<Receiver, 'clientId'>,
  token: string,
): Promise<readonly [unknown, string, Json]> {
  const { iss, jti, iat, aud, txn, sub_id, events, ...rest } = await verifySet(tenant, receiver, token);
  assert.deepEqual([iss, aud, rest], [tenant.baseUrl, receiver.clientId, {}]);
  assert.match(String(jti), /^[0-9a-f-]{36}$/);
  assert.ok(Number.isInteger(iat));
  assert.match(String(txn), /^[A-Za-z0-9_-]{22}$|^[0-9a-f-]{36}$/, 'the request that brought it about, or the record of it');
  const [[type, event] = ['', {}], ...others] = Object.entries(events as Readonly<Record<string, Json>>);
  assert.deepEqual(others, []);
  const { event_timestamp: at, ...facts } = event;
  assert.ok(at === undefined || Number.isInteger(at));
  return [sub_id, type.slice('https://schemas.openid.net/secevent/'.length), facts];
}

/** Makes tokens of what has happened, and every attempt that is due. */
export async function tellNow({ gatehouse: { services } }: TestServer): Promise<void> {
  await services.jobs.runNow('feeders-catch-up');
  await services.jobs.runNow('ssf-feed');
  await services.jobs.runNow('deliveries');
}
