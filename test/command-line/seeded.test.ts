// Design 16, section 6: a server seeded by GATEHOUSE_APPLY, and `gatehouse sign-in` for tests of applications in any language.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { runCommand } from '../support/commands.ts';
import { createTestDatabase, databases, type TestDatabase } from '../support/databases.ts';
import { type Ended, type GatehouseProcess, runGatehouse } from '../support/gatehouse-process.ts';

const callback = 'https://app.example/cb';
const secret = 'a-secret-of-the-app-0123456789abcdef';
const seed = `gatehouse: 1
clients:
  - client_id: app
    name: App
    redirect_uris: ["${callback}"]
    scopes: [openid, profile]
    client_secret: ${secret}
users:
  - { user_name: ada, emails: [{ value: ada@example.com }] }
`;

for (const name of databases)
  describe(`a seeded server on ${name}`, () => {
    let database: TestDatabase;
    let file: string;
    let server: GatehouseProcess;
    let environment: Readonly<Record<string, string>>;
    const start = (): GatehouseProcess =>
      runGatehouse(database.dataFolder, {
        args: ['serve', '--listen', '127.0.0.1:0'],
        environment: { ...environment, GATEHOUSE_APPLY: file },
      });
    const command = (...args: readonly string[]): Promise<Ended> => runCommand(database.dataFolder, args, environment);
    before(async () => {
      database = await createTestDatabase(name);
      file = join(database.dataFolder, 'seed.yaml');
      writeFileSync(file, seed);
      environment = {
        GATEHOUSE_DEV: '1',
        GATEHOUSE_LOG_LEVEL: 'silent',
        GATEHOUSE_DATA: database.dataFolder,
        ...(database.databaseUrl === undefined ? {} : { GATEHOUSE_DATABASE_URL: database.databaseUrl }),
      };
      server = start();
      await server.ready;
    });
    after(async () => {
      server.signal('SIGTERM');
      await server.ended;
      await database.drop();
    });

    it('has what the document says once it is ready, and a person signs in with one command, again with the same phone', async () => {
      const url = await server.ready;
      const query = new URLSearchParams({
        response_type: 'code',
        client_id: 'app',
        redirect_uri: callback,
        scope: 'openid profile',
        state: 's-1',
        code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
        code_challenge_method: 'S256',
      });
      for (const user of ['ada', 'ada@example.com']) {
        const signedIn = await command('sign-in', `${url}/v1/idp/oidc/authorize?${query}`, '--user', user, '--json');
        assert.equal(signedIn.code, 0, signedIn.stderr);
        const to = new URL(JSON.parse(signedIn.stdout).callback_url);
        assert.deepEqual([`${to.origin}${to.pathname}`, to.searchParams.get('state')], [callback, 's-1']);
        const response = await fetch(`${url}/v1/idp/oidc/token`, {
          method: 'POST',
          headers: { authorization: `Basic ${Buffer.from(`app:${secret}`).toString('base64')}` },
          body: new URLSearchParams({
            grant_type: 'authorization_code',
            code: to.searchParams.get('code') ?? '',
            redirect_uri: callback,
            code_verifier: 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk',
          }),
        });
        assert.equal(response.status, 200, await response.text());
      }
      const devices = await command('api', 'GET', '/users?search=ada');
      assert.equal(devices.code, 0, devices.stderr);
      const nobody = await command('sign-in', `${url}/v1/idp/oidc/authorize?${query}`, '--user', 'eve');
      assert.equal(nobody.code, 1);
      assert.match(nobody.stderr, /expected a user's id, email or user name, found none of eve/);
    });

    it('another start changes nothing; a document with a mistake stops the start and names the place', async () => {
      server.signal('SIGTERM');
      assert.equal((await server.ended).code, 0);
      server = start();
      await server.ready;
      const plan = await command('plan', '-f', file, '--exit-code');
      assert.equal(plan.code, 0, plan.stderr);
      server.signal('SIGTERM');
      await server.ended;
      for (const [text, message] of [
        [seed.replace('user_name: ada', 'user_nam: ada'), /users\[0\]/],
        [undefined, /apply: expected a document at .*, found none/],
      ] as const) {
        if (text === undefined) file = join(database.dataFolder, 'not-there.yaml');
        else writeFileSync(file, text);
        const ended = await start().ended;
        assert.equal(ended.code, 1);
        assert.match(ended.stderr, message);
        assert.equal(ended.stdout, '');
      }
      file = join(database.dataFolder, 'seed.yaml');
      writeFileSync(file, seed);
      server = start();
      await server.ready;
    });
  });
