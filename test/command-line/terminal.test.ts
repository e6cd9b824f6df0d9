// What commands show of refused requests and of sign-ins was typed by strangers, and is read at an operator's terminal.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type Running, startBesideCommands } from '../support/command-line.ts';
import { databases } from '../support/databases.ts';
import { eventually } from '../support/eventually.ts';

for (const name of databases) {
  describe(`terminal of commands on ${name}`, () => {
    let running: Running;
    before(async () => {
      running = await startBesideCommands(name);
    });
    after(() => running.stop());

    it('what strangers typed does not command the terminal of explain, sign-ins, events and lists', async () => {
      const client = await running.json<{ readonly client_id: string }>(
        ...['client', 'create', 'Red', '--type', 'public', '--auth-method', 'none', '--redirect-uri', 'https://red.example/cb'],
      );
      const authorize = (redirectUri: string): Promise<Response> => {
        const asked = new URLSearchParams({
          client_id: client.client_id,
          redirect_uri: redirectUri,
          response_type: 'code',
          scope: 'openid',
        });
        asked.set('code_challenge', 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM');
        asked.set('code_challenge_method', 'S256');
        return fetch(`${running.url}/v1/idp/oidc/authorize?${asked}`, { redirect: 'manual' });
      };
      const command = '\u001b]52;c;aGk=\u0007\u009b31m\r';
      const refused = await authorize(`https://red.example/${command}\n  check     all_is_well`);
      const explained = await running.command('explain', refused.headers.get('x-request-id')!);
      assert.match(
        explained.stdout,
        /received +https:\/\/red\.example\/\\u001b\]52;c;aGk=\\u0007\\u009b31m\\u000d\\u000a +check +all_is_well\n/,
      );
      const asJson = await running.command('explain', refused.headers.get('x-request-id')!, '--json');
      const items = (JSON.parse(asJson.stdout) as { readonly items: readonly { readonly received: string }[] }).items;
      assert.equal(items[0]!.received, `https://red.example/${command}\n  check     all_is_well`);
      const signIn = await authorize('https://red.example/cb');
      const cookie = signIn.headers.getSetCookie()[0]!.split(';', 1)[0]!;
      await fetch(`${signIn.headers.get('location')}/identify`, {
        method: 'POST',
        headers: { cookie, 'content-type': 'application/json', accept: 'application/json' },
        body: JSON.stringify({ identifier: `red${command}\nred@example.com` }),
      });
      const tries = await eventually(async () => {
        const { stdout } = await running.command('sign-ins');
        return stdout.includes('red@example.com') ? stdout : '';
      });
      assert.match(tries, /“red\\u001b\]52;c;aGk=\\u0007\\u009b31m\\u000d\\u000ared@example\.com” at/);
      for (const { stdout } of [explained, asJson, await running.command('events'), await running.command('client', 'list')])
        assert.doesNotMatch(stdout, /(?![\n\t])\p{Cc}/u);
      assert.doesNotMatch(tries, /(?![\n\t])\p{Cc}/u);
    });
  });
}
