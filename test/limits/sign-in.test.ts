// Limits of the pages people see at n and n+1, over HTTP: sign-in, console, account page, and what a server does per connection.
import assert from 'node:assert/strict';
import { request as httpRequest } from 'node:http';
import { after, before, describe, it } from 'node:test';
import {
  accountBodyBytesMax,
  consoleBodyBytesMax,
  identifierCharsMax,
  loginBodyBytesMax,
  loginEventStreamsMax,
  pinCharsMax,
  requestTimeoutMs,
} from '../../src/contract/limits.ts';
import type { Tenant } from '../../src/domain/tenant/tenant.ts';
import { databases } from '../support/databases.ts';
import { changeSettings, unlimited } from '../support/enrolled-phone.ts';
import { createClient, createUser, rootTenant, type TestClient, type TestUser } from '../support/fixtures.ts';
import { beginLogin, type TestLogin } from '../support/login.ts';
import { assertRefusal } from '../support/refusal.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

for (const database of databases) {
  describe(`limits of the sign-in pages on ${database}`, () => {
    let server: TestServer;
    let tenant: Tenant;
    let client: TestClient;
    let user: TestUser;
    before(async () => {
      server = await startTestServer(database);
      await changeSettings(server, {
        rate_limits: { ...unlimited.rate_limits, login_starts_per_ip: null },
        login_methods: ['phone', 'email_pin'],
      });
      tenant = await rootTenant(server.gatehouse.services);
      client = await createClient(server.gatehouse.services, tenant);
      user = await createUser(server.gatehouse.services, tenant);
    });
    after(() => server.close());
    const begin = (): Promise<TestLogin> => beginLogin(server, tenant, client);

    it('identifierCharsMax', async () => {
      const login = await begin();
      assert.equal((await login.post('identify', { identifier: 'i'.repeat(identifierCharsMax) })).status, 200);
      const field = { kind: 'identifier', text: /./ };
      await assertRefusal(await login.post('identify', { identifier: 'i'.repeat(identifierCharsMax + 1) }), 'login.invalid_request', field);
    });

    it('pinCharsMax', async () => {
      const login = await begin();
      await login.post('identify', { identifier: user.email });
      await login.post('method', { method: 'email_pin' });
      await assertRefusal(await login.post('pin', { pin: 'x'.repeat(pinCharsMax) }), 'pin.invalid', { fields: { attempts_left: 4 } });
      await assertRefusal(await login.post('pin', { pin: 'x'.repeat(pinCharsMax + 1) }), 'login.invalid_request', {
        kind: 'pin',
        text: /./,
      });
    });

    it('loginBodyBytesMax, of JSON and of forms', async () => {
      const login = await begin();
      const send = (type: string, body: string): Promise<Response> =>
        fetch(`${login.location}/identify`, {
          method: 'POST',
          headers: { cookie: login.cookie, accept: 'application/json', 'content-type': type },
          body,
        });
      const json = (bytes: number): string => JSON.stringify({ identifier: 'a' }).padEnd(bytes, ' ');
      const form = (bytes: number): string => 'identifier=a&more='.padEnd(bytes, 'x');
      for (const [type, make] of [
        ['application/json', json],
        ['application/x-www-form-urlencoded', form],
      ] as const) {
        assert.equal((await send(type, make(loginBodyBytesMax))).status, 200, type);
        await assertRefusal(await send(type, make(loginBodyBytesMax + 1)), 'management.payload_too_large');
      }
    });

    it('consoleBodyBytesMax, accountBodyBytesMax: a longer form is not read', async () => {
      for (const [path, max] of [
        ['/console', consoleBodyBytesMax],
        ['/account', accountBodyBytesMax],
      ] as const) {
        const send = async (bytes: number): Promise<number> => {
          const body = 'a='.padEnd(bytes, 'x');
          const headers = { 'content-type': 'application/x-www-form-urlencoded', accept: 'application/json' };
          return (await fetch(`${server.url}${path}/sign-out`, { method: 'POST', body, headers, redirect: 'manual' })).status;
        };
        assert.notEqual(await send(max), 413, path);
        assert.equal(await send(max + 1), 413, path);
      }
    });

    it('requestTimeoutMs: what the server gives a request to arrive, and nothing more', () => {
      const { server: http } = server.gatehouse.app;
      assert.deepEqual([http.requestTimeout, http.headersTimeout <= requestTimeoutMs], [requestTimeoutMs, true]);
    });
  });
}

describe('limits of waiting pages', () => {
  let server: TestServer;
  before(async () => {
    server = await startTestServer('sqlite');
    await changeSettings(server, { login_methods: ['phone', 'email_pin'] });
  });
  after(() => server.close());

  it('loginEventStreamsMax: so many pages may wait, one more is told to come back, and a place that is left is free', async () => {
    const tenant = await rootTenant(server.gatehouse.services);
    const login = await beginLogin(server, tenant, await createClient(server.gatehouse.services, tenant));
    const address = new URL(`${login.location}/events`);
    /** The status, and how to leave; a stream stays open until then. */
    const open = (): Promise<{ readonly status: number | undefined; readonly leave: () => Promise<void> }> =>
      new Promise((resolve, reject) => {
        const request = httpRequest(address, { agent: false, headers: { cookie: login.cookie } });
        request.on('error', reject);
        request.on('response', (response) => {
          response.resume();
          const left = new Promise<void>((done) => response.on('close', () => done()));
          const leave = (): Promise<void> => {
            request.removeAllListeners('error').on('error', () => undefined);
            request.destroy();
            return left;
          };
          response.on('error', () => undefined);
          resolve({ status: response.statusCode, leave });
        });
        request.end();
      });
    const streams: Awaited<ReturnType<typeof open>>[] = [];
    while (streams.length < loginEventStreamsMax) streams.push(...(await Promise.all(Array.from({ length: 100 }, open))));
    assert.deepEqual([...new Set(streams.map(({ status }) => status))], [200]);
    const refused = await login.get('/events');
    await assertRefusal(refused, 'management.rate_limited', { fields: { retry_after_seconds: 5 } });
    await streams.pop()!.leave();
    for (;;) {
      // The server hears of the closed connection in its own time.
      const again = await open();
      await again.leave();
      if (again.status === 200) break;
    }
    await Promise.all(streams.map(({ leave }) => leave()));
  });
});
