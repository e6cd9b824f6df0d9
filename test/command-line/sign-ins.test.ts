// What happened lately, on the command line beside a running server: tries to sign in, and events of a time.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type Running, startBesideCommands } from '../support/command-line.ts';
import { databases } from '../support/databases.ts';
import { openLogin } from '../support/login.ts';
import { challenge } from '../support/oidc.ts';

for (const name of databases)
  describe(`sign-ins and events on the command line on ${name}`, () => {
    let running: Running;
    before(async () => {
      running = await startBesideCommands(name);
    });
    after(() => running.stop());
    const fails: Running['fails'] = (...args) => running.fails(...args);

    it('sign-ins says why somebody could not sign in, by the name they typed; explain says it of one request', async () => {
      const redirectUri = 'https://rp.example/callback';
      const made = ['client', 'create', 'Tried', '--type', 'public', '--redirect-uri', redirectUri] as const;
      const { client_id: clientId } = await running.json<{ client_id: string }>(...made);
      const query = {
        response_type: 'code',
        client_id: clientId,
        redirect_uri: redirectUri,
        code_challenge: challenge,
        code_challenge_method: 'S256',
      };
      const begun = await fetch(`${running.url}/v1/idp/oidc/authorize?${new URLSearchParams(query)}`, { redirect: 'manual' });
      const login = openLogin(begun);
      const asked = await login.post('identify', { identifier: 'grcae@example.com' });
      assert.equal(asked.status, 200, await asked.text());
      const { stdout } = await running.command('sign-ins', '--name', 'GRCAE', '--since', '1h');
      assert.match(
        stdout,
        /Z {2}“grcae@example\.com” at Tried, from 127\.0\.0\.1\n {2}Said who they are: No person has this name or email\.\n {2}Look for a typing error/,
      );
      const found = await running.json<{ items: readonly { check: string; application: string }[] }>(
        'sign-ins',
        '--application',
        `client:${clientId}`,
      );
      assert.deepEqual(
        found.items.map(({ check }) => check),
        ['unknown_person'],
      );
      assert.match((await running.command('sign-ins', '--name', 'nobody-typed-this')).stdout, /^No try to sign in was found\.$/m);
      assert.match((await running.command('explain', asked.headers.get('x-request-id')!)).stdout, /No person has this name or email/);
      await fails(2, /--since: expected a time such as 30m, 1h or 7d, found soon/, 'sign-ins', '--since', 'soon');
    });

    it('events --since leaves out what is older', async () => {
      await running.json('user', 'create', 'since@example.com');
      const typesSince = async (since: string): Promise<readonly string[]> => {
        const { stdout, code } = await running.command('events', '--json', '--types', 'user.created', '--since', since);
        assert.equal(code, 0);
        return stdout.split('\n').filter((line) => line !== '');
      };
      assert.equal((await typesSince('1h')).length, 1);
      assert.deepEqual(await typesSince('0m'), []);
      await fails(2, /--since: expected a time such as 30m, 1h or 7d, found 1w/, 'events', '--since', '1w');
    });
  });
