// Design 16, section 6: Gatehouse in another program. What the package exports is called as a stranger's test would call it; people sign
// in over HTTP, and an unmodified OpenID client judges the answers.
import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import * as client from 'openid-client';
import { ConfigError } from '../../src/config.ts';
import { createGatehouse, type EmbeddedGatehouse, type GatehouseSettings } from '../../src/embedding/gatehouse.ts';
import { startTestGatehouse, type TestGatehouse } from '../../src/embedding/test-gatehouse.ts';
import { createTestDatabase, databases } from '../support/databases.ts';

const callback = 'https://app.example/cb';

for (const name of databases)
  describe(`createGatehouse on ${name}`, () => {
    const opened: EmbeddedGatehouse[] = [];
    const dropped: (() => Promise<void>)[] = [];
    const create = async (settings: GatehouseSettings = {}): Promise<EmbeddedGatehouse> => {
      const database = await createTestDatabase(name);
      dropped.push(database.drop);
      const gatehouse = await createGatehouse({
        data: database.dataFolder,
        listen: '127.0.0.1:0',
        log_level: 'silent',
        ...(database.databaseUrl === undefined ? {} : { database_url: database.databaseUrl }),
        ...settings,
      });
      opened.push(gatehouse);
      return gatehouse;
    };
    after(async () => {
      for (const one of opened) await one.close();
      for (const drop of dropped) await drop();
    });

    it('several serve in one process, each with an issuer and keys of its own, and install no signal handler', async () => {
      const signals = ['SIGTERM', 'SIGINT', 'exit', 'uncaughtException', 'unhandledRejection'] as const;
      const before = signals.map((signal) => process.listenerCount(signal));
      const [one, other] = [await create(), await create()];
      assert.equal(one.url, undefined);
      const urls = [await one.listen(), await other.listen()];
      assert.deepEqual([one.url, other.url], urls);
      const kids: string[] = [];
      for (const url of urls) {
        const found = (await (await fetch(`${url}/.well-known/openid-configuration`)).json()) as { issuer: string; jwks_uri: string };
        assert.equal(found.issuer, url);
        const jwks = (await (await fetch(found.jwks_uri)).json()) as { keys: { kid: string }[] };
        kids.push(jwks.keys[0]!.kid);
      }
      assert.notEqual(kids[0], kids[1]);
      assert.deepEqual(
        signals.map((signal) => process.listenerCount(signal)),
        before,
      );
    });

    it('inject answers as the network does, before listening too', async () => {
      const gatehouse = await create({ public_url: 'http://localhost:4711' });
      assert.equal(gatehouse.url, 'http://localhost:4711');
      const answer = await gatehouse.inject({ url: '/.well-known/openid-configuration', headers: { host: 'localhost:4711' } });
      assert.equal(answer.statusCode, 200);
      assert.equal(answer.json().issuer, 'http://localhost:4711');
      const refused = await gatehouse.inject({ method: 'POST', url: '/v1/idp/oidc/token', headers: { host: 'localhost:4711' } });
      assert.equal(refused.statusCode, 400);
      assert.equal(refused.json().error, 'unsupported_grant_type');
    });

    it('reads no environment, and says what was expected of a setting', async () => {
      process.env['GATEHOUSE_PUBLIC_URL'] = 'https://elsewhere.example';
      try {
        assert.equal((await create()).url, undefined);
      } finally {
        delete process.env['GATEHOUSE_PUBLIC_URL'];
      }
      await assert.rejects(
        create({ listen: 'nowhere' }),
        (error) => error instanceof ConfigError && /^listen: expected host:port/.test(error.message),
      );
      await assert.rejects(create({ workers: 2 }), ConfigError);
      await assert.rejects(
        create({ colour: 'red' } as GatehouseSettings),
        (error) => error instanceof ConfigError && /colour/.test(error.message),
      );
    });

    it('close ends what listens', async () => {
      const gatehouse = await create();
      const url = await gatehouse.listen();
      opened.splice(opened.indexOf(gatehouse), 1);
      await gatehouse.close();
      await assert.rejects(fetch(`${url}/health/live`));
    });

    it('close may be called twice, by several at once, before listening and while it begins', async () => {
      for (const start of [() => undefined, (one: EmbeddedGatehouse) => one.listen(), (one: EmbeddedGatehouse) => void one.listen()]) {
        const gatehouse = await create();
        await start(gatehouse);
        opened.splice(opened.indexOf(gatehouse), 1);
        await Promise.all([gatehouse.close(), gatehouse.close()]);
        await gatehouse.close();
      }
    });
  });

describe('startTestGatehouse', () => {
  let idp: TestGatehouse;
  before(async () => {
    idp = await startTestGatehouse({
      users: [{ user_name: 'ada', email: 'ada@example.com' }, { user_name: 'bob' }],
      clients: [{ name: 'app', redirect_uris: [callback] }],
      tenant: { access_token_lifetime_seconds: 77 },
    });
  });
  after(() => idp.close());

  const configure = async (): Promise<client.Configuration> => {
    const [{ client_id, client_secret }] = idp.clients as [TestGatehouse['clients'][number]];
    return client.discovery(new URL(idp.issuer), client_id, undefined, client.ClientSecretBasic(client_secret ?? ''), {
      execute: [client.allowInsecureRequests],
    });
  };
  const authorize = async (
    config: client.Configuration,
  ): Promise<{ readonly url: URL; readonly verifier: string; readonly state: string }> => {
    const [verifier, state] = [client.randomPKCECodeVerifier(), client.randomState()];
    const challenge = await client.calculatePKCECodeChallenge(verifier);
    const parameters = {
      redirect_uri: callback,
      scope: 'openid profile email',
      state,
      code_challenge: challenge,
      code_challenge_method: 'S256',
    };
    return { url: client.buildAuthorizationUrl(config, parameters), verifier, state };
  };

  it('signs people in, again and at once, for an unmodified OpenID client', async () => {
    const config = await configure();
    for (const users of [['ada'], ['ada', 'bob'], ['ada']])
      await Promise.all(
        users.map(async (user) => {
          const { url, verifier, state } = await authorize(config);
          const { callbackUrl } = await idp.signIn(user, url);
          assert.ok(callbackUrl.startsWith(`${callback}?`));
          const tokens = await client.authorizationCodeGrant(config, new URL(callbackUrl), {
            pkceCodeVerifier: verifier,
            expectedState: state,
          });
          assert.equal(tokens.expires_in, 77);
          const claims = await client.fetchUserInfo(config, tokens.access_token, tokens.claims()?.sub ?? '');
          assert.equal(claims['preferred_username'], user);
          assert.equal(claims['email'], user === 'ada' ? 'ada@example.com' : undefined);
        }),
      );
  });

  it('each sign-in takes its own approval: four at once, two people at once, after one that was abandoned', async () => {
    const config = await configure();
    const signIn = async (user: string): Promise<void> => {
      const { url, verifier, state } = await authorize(config);
      const { callbackUrl } = await idp.signIn(user, url);
      const checks = { pkceCodeVerifier: verifier, expectedState: state };
      const tokens = await client.authorizationCodeGrant(config, new URL(callbackUrl), checks);
      const claims = await client.fetchUserInfo(config, tokens.access_token, tokens.claims()?.sub ?? '');
      assert.equal(claims['preferred_username'], user);
    };
    const opening = await fetch((await authorize(config)).url, { redirect: 'manual' });
    const abandoned = await fetch(`${opening.headers.get('location')}/identify`, {
      method: 'POST',
      headers: {
        ...{ accept: 'application/json', 'content-type': 'application/json' },
        cookie: opening.headers
          .getSetCookie()
          .map((one) => one.split(';', 1)[0])
          .join('; '),
      },
      body: JSON.stringify({ identifier: 'ada' }),
    });
    assert.equal(abandoned.status, 200);
    await signIn('ada');
    await Promise.all(['ada', 'ada', 'ada', 'ada', 'bob', 'bob'].map(signIn));
    for (let turn = 0; turn < 20; turn += 1) await signIn('ada');
  });

  it('a request the server refuses by redirect comes back with its error', async () => {
    const { url } = await authorize(await configure());
    url.searchParams.set('prompt', 'none');
    const { callbackUrl } = await idp.signIn('ada', url);
    assert.equal(new URL(callbackUrl).searchParams.get('error'), 'login_required');
  });

  it('says what is wrong: a person who is not there, a request that has no client', async () => {
    const { url } = await authorize(await configure());
    await assert.rejects(idp.signIn('eve', url), /expected one of the users, found eve/);
    url.searchParams.set('client_id', 'nobody');
    await assert.rejects(idp.signIn('ada', url), /expected a redirect to the sign-in, found 401/);
  });

  it('a mistake in the options names its field, and leaves nothing behind', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'gatehouse-embedding-'));
    const data = join(folder, 'data');
    await assert.rejects(
      startTestGatehouse({ clients: [{ name: 'app', redirect_uris: ['/relative'] }], server: { data } }),
      /clients\[0\]\.redirect_uris/,
    );
    const again = await startTestGatehouse({ server: { data } }); // the folder's lock was given back
    assert.ok(existsSync(data));
    await again.close();
    rmSync(folder, { recursive: true });
  });
});
