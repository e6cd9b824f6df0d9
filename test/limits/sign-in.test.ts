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
  loginEventStreamsPerAddressMax,
  loginEventStreamsPerLoginMax,
  pinCharsMax,
  requestTimeoutMs,
  signInLinesPerTryMax,
  signInTriesPerAddressMax,
  signInTriesPerPersonMax,
  signInTryDetailCharsMax,
  unknownSignInTriesMax,
} from '../../src/contract/limits.ts';
import type { TransactionId, UserId } from '../../src/domain/ids.ts';
import type { Tenant } from '../../src/domain/tenant/tenant.ts';
import type { Queries } from '../../src/storage/engine/database.ts';
import { trimTries } from '../../src/storage/sign-in/kept-tries.ts';
import { listLines, listTries, noteOnTry, noteTry, type TryFilter } from '../../src/storage/sign-in/sign-in-tries.ts';
import { databases } from '../support/databases.ts';
import { changeSettings, unlimited } from '../support/enrolled-phone.ts';
import { createClient, createUser, rootTenant, type TestClient, type TestUser } from '../support/fixtures.ts';
import { beginLogin, type TestLogin } from '../support/login.ts';
import { assertRefusal } from '../support/refusal.ts';
import { roomyRate } from '../support/roomy-rate.ts';
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
        rate_limits: { ...unlimited.rate_limits, login_starts_per_ip: roomyRate },
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

    it('signInTriesPerPersonMax, unknownSignInTriesMax and signInTriesPerAddressMax: the oldest go', async () => {
      const { database } = server.gatehouse.services;
      const login = {
        kind: 'oidc',
        client_id: client.clientId,
        service_provider_id: null,
        initiated_ip: null,
        initiated_user_agent: null,
        organization_id: null,
        chosen_organization_id: null,
      } as const;
      const other = (await createUser(server.gatehouse.services, tenant)).id as UserId;
      const note = (queries: Queries, id: string, userId: UserId | undefined, addressBlock: string) => {
        const tried = { login: { ...login, id: id as TransactionId }, addressBlock };
        return noteTry(queries, tenant.id, tried, { type: 'login.started', requestId: undefined }, { userId, typed: id });
      };
      const add = async (id: string, userId: UserId | undefined, addressBlock: string): Promise<void> => {
        const grown = await database.write(tenant.id, (queries) => note(queries, id, userId, addressBlock));
        await trimTries(database, tenant.id, grown);
      };
      const kept = async (of: Pick<TryFilter, 'userId' | 'typed'>): Promise<readonly string[]> => {
        const tries = await database.read(tenant.id, (queries) => listTries(queries, tenant.id, { ...of, limit: 2000 }));
        return tries.map(({ id }) => id).toSorted();
      };
      const named = (prefix: string, from: number, to: number): readonly string[] =>
        Array.from({ length: to - from + 1 }, (_none, index) => `${prefix}${String(from + index).padStart(5, '0')}`);
      for (const [of, userId, max] of [
        [{ userId: other }, other, signInTriesPerPersonMax],
        [{ typed: 'limit' }, undefined, unknownSignInTriesMax],
      ] as const) {
        const prefix = userId === undefined ? 'limit-u' : 'limit-p';
        await database.write(tenant.id, async (queries) => {
          for (const [index, id] of named(prefix, 1, max - 1).entries())
            await note(queries, id, userId, `block ${Math.floor(index / signInTriesPerAddressMax)}`);
        });
        await server.clock.advance(1);
        await add(named(prefix, max, max)[0]!, userId, 'another block');
        await server.clock.advance(1);
        assert.deepEqual(await kept(of), named(prefix, 1, max));
        await add(named(prefix, max + 1, max + 1)[0]!, userId, 'block of nobody else');
        assert.deepEqual(await kept(of), named(prefix, 2, max + 1));
      }
      const flooded = (await createUser(server.gatehouse.services, tenant)).id as UserId;
      await add('limit-a-own', flooded, 'own');
      for (const id of named('limit-a', 1, signInTriesPerAddressMax)) {
        await server.clock.advance(1);
        await add(id, flooded, 'flood');
      }
      assert.equal((await kept({ userId: flooded })).length, signInTriesPerAddressMax + 1);
      await server.clock.advance(1);
      await add('limit-a-last', flooded, 'flood');
      assert.deepEqual(
        await kept({ userId: flooded }),
        ['limit-a-last', 'limit-a-own', ...named('limit-a', 2, signInTriesPerAddressMax)].toSorted(),
      );
    });

    it('signInLinesPerTryMax and signInTryDetailCharsMax', async () => {
      const { database } = server.gatehouse.services;
      const login = await begin();
      await login.post('identify', { identifier: user.email });
      const id = login.location.split('/').at(-1)!;
      const note = (detail: string): Promise<void> =>
        database.write(tenant.id, (queries) => noteOnTry(queries, tenant.id, id, { type: 'mail.failed', detail, requestId: undefined }));
      const lines = () => database.read(tenant.id, (queries) => listLines(queries, tenant.id, [id]));
      await note('d'.repeat(signInTryDetailCharsMax));
      await note('e'.repeat(signInTryDetailCharsMax + 1));
      const details = (await lines()).slice(-2).map(({ detail }) => detail);
      assert.deepEqual(details, ['d'.repeat(signInTryDetailCharsMax), 'e'.repeat(signInTryDetailCharsMax)]);
      while ((await lines()).length < signInLinesPerTryMax) await note('more');
      const full = await lines();
      await note('one too many');
      assert.deepEqual(await lines(), full);
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
  let begin: () => Promise<TestLogin>;
  before(async () => {
    server = await startTestServer('sqlite', { flags: { trusted_proxies: '127.0.0.1/32' } });
    await changeSettings(server, {
      rate_limits: { ...unlimited.rate_limits, login_starts_per_ip: roomyRate },
      login_methods: ['phone', 'email_pin'],
    });
    const tenant = await rootTenant(server.gatehouse.services);
    const client = await createClient(server.gatehouse.services, tenant);
    begin = () => beginLogin(server, tenant, client);
  });
  after(() => server.close());

  const [here, elsewhere] = ['2001:db8:0:1::1', '203.0.113.9'];

  interface Stream {
    readonly status: number | undefined;
    readonly leave: () => Promise<void>;
  }

  /** The status, and how to leave; a stream stays open until then. */
  const open = (login: TestLogin, address: string): Promise<Stream> =>
    new Promise((resolve, reject) => {
      const headers = { cookie: login.cookie, 'x-forwarded-for': address };
      const request = httpRequest(new URL(`${login.location}/events`), { agent: false, headers });
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
  const openAll = async (login: TestLogin, address: string): Promise<readonly Stream[]> => {
    const streams = await Promise.all(Array.from({ length: loginEventStreamsPerLoginMax }, () => open(login, address)));
    assert.deepEqual([...new Set(streams.map(({ status }) => status))], [200]);
    return streams;
  };
  /** A stream instead would have no end to read to. */
  const assertFull = async (login: TestLogin, address: string): Promise<void> => {
    const response = await login.get('/events', { 'x-forwarded-for': address });
    assert.equal(response.status, 429);
    await assertRefusal(response, 'management.rate_limited', { fields: { retry_after_seconds: 5 } });
  };
  /** The server hears of the closed connection in its own time. */
  const assertFree = async (login: TestLogin): Promise<void> => {
    for (;;) {
      const again = await open(login, here);
      await again.leave();
      if (again.status === 200) return;
    }
  };

  /** One that leaves is followed by one of this sign-in; then all leave. */
  const assertFollowed = async ([first, ...rest]: readonly Stream[], login: TestLogin): Promise<void> => {
    await first!.leave();
    await assertFree(login);
    await Promise.all(rest.map(({ leave }) => leave()));
  };
  const assertWaits = async (login: TestLogin, address: string): Promise<void> => {
    const beside = await open(login, address);
    assert.equal(beside.status, 200);
    await beside.leave();
  };

  it('loginEventStreamsPerLoginMax: one more of a sign-in is told to come back, others wait beside it, and a place that is left is free', async () => {
    const [login, other] = [await begin(), await begin()];
    const streams = await openAll(login, here);
    await assertFull(login, here);
    await assertFull(login, elsewhere);
    await assertWaits(other, here);
    await assertFollowed(streams, login);
  });

  /** Fills an address's places, with sign-ins of their own. */
  const fill = async (address: string): Promise<readonly Stream[]> => {
    const streams: Stream[] = [];
    while (streams.length < loginEventStreamsPerAddressMax) streams.push(...(await openAll(await begin(), address)));
    assert.equal(streams.length, loginEventStreamsPerAddressMax);
    return streams;
  };

  it('loginEventStreamsPerAddressMax: one more of a /64 is told to come back, others wait beside it, and a place that is left is free', async () => {
    const streams = await fill(here);
    const late = await begin();
    await assertFull(late, here);
    await assertFull(late, '2001:db8:0:1:ffff::2');
    await assertWaits(late, elsewhere);
    await assertFollowed(streams, late);
  });

  it('loginEventStreamsMax: so many pages may wait, one more is told to come back, and a place that is left is free', async () => {
    const streams: Stream[] = [];
    for (let address = 1; streams.length < loginEventStreamsMax; address += 1) streams.push(...(await fill(`203.0.113.${address}`)));
    assert.equal(streams.length, loginEventStreamsMax);
    const late = await begin();
    await assertFull(late, here);
    await assertFollowed(streams, late);
  });
});
