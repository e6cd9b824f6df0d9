// What a whole sign-in with a mailed code asks of the database (bar P3 of docs/performance.md): its transactions and statements are
// counted, not timed, so that one more is seen.
import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { createClient, createUser } from '../support/fixtures.ts';
import { openLogin, signInByPin } from '../support/login.ts';
import { createTestTenant } from '../support/management.ts';
import { challenge, exchange, redirectUri, tokensOf } from '../support/oidc.ts';
import { startTestServer } from '../support/server.ts';
import { statementsOf } from '../support/statements.ts';

const writesMax = 6;
const statementsMax = 63;

/** Every statement as often as each run has it: jobs of the server fall between those of some. */
function inEach(runs: readonly (readonly string[])[]): readonly string[] {
  const [first = new Map<string, string[]>(), ...others] = runs.map((run) => Map.groupBy(run, (text) => text));
  return [...first].flatMap(([text, all]) => all.slice(0, Math.min(...others.map((run) => run.get(text)?.length ?? 0), all.length)));
}

describe('a whole sign-in with a mailed code', async () => {
  const server = await startTestServer('sqlite');
  after(() => server.close());
  const { slug } = await createTestTenant(server, { settings: { login_methods: ['email_pin'] } });
  const tenant = (await server.gatehouse.services.tenants.bySlug(slug))!;
  const client = await createClient(server.gatehouse.services, tenant, { scopes: ['openid', 'email'] });
  const signIn = async (email: string): Promise<void> => {
    const query = new URLSearchParams({
      response_type: 'code',
      client_id: client.clientId,
      redirect_uri: redirectUri,
      scope: 'openid email',
      state: 's',
      nonce: 'n',
      code_challenge: challenge,
      code_challenge_method: 'S256',
    });
    const started = await fetch(`${tenant.baseUrl}/v1/idp/oidc/authorize?${query}`, { redirect: 'manual' });
    const redirect = await signInByPin(server, openLogin(started), email);
    await tokensOf(await exchange(tenant, client, redirect.searchParams.get('code') ?? ''));
  };

  it(`writes in ${writesMax} transactions, by at most ${statementsMax} statements`, async () => {
    await signIn((await createUser(server.gatehouse.services, tenant)).email); // what is loaded once
    const runs: (readonly string[])[] = [];
    for (let run = 0; run < 8; run += 1) {
      const { email } = await createUser(server.gatehouse.services, tenant);
      const all = await statementsOf(() => signIn(email));
      // The test itself reads the mail.
      runs.push(all.filter((text) => !/^(?:BEGIN|COMMIT|SAVEPOINT|RELEASE)/.test(text) && !text.includes('"recipient_key" = ')));
    }
    const least = inEach(runs);
    const writes = least.filter((text) => text.includes('"moving" is not null')); // each write of a tenant asks that first
    assert.equal(writes.length, writesMax, least.join('\n'));
    assert.ok(least.length <= statementsMax, `${least.length} statements:\n${least.join('\n')}`);
  });
});
