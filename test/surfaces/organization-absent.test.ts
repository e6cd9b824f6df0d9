// A tenant without organisations answers as before there were any, and asks the database nothing about them (design 19).
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, describe, it } from 'node:test';
import { openBrowser } from '../support/browser.ts';
import { databases } from '../support/databases.ts';
import { createClient, createUser } from '../support/fixtures.ts';
import { decodeJwt, exchange, refresh, tokensOf } from '../support/oidc.ts';
import { openSsoWorld } from '../support/sso.ts';
import { statementsOf } from '../support/statements.ts';

for (const database of databases)
  describe(`a tenant without organisations on ${database}`, async () => {
    const world = await openSsoWorld(database);
    const { server, tenant, authorize, signInAt, asksToSignIn } = world;
    after(() => server.close());

    it('ignores the parameter, says nothing of organisations, and runs the same statements with it as without', async () => {
      const metadata = await (await fetch(`${tenant.baseUrl}/.well-known/openid-configuration`)).text();
      assert.doesNotMatch(metadata, /organization|org_id/);
      const client = await createClient(server.gatehouse.services, tenant, { scopes: ['openid', 'offline_access', 'organization'] });
      /** The statements of a sign-in with its tokens and their refresh, where they can be seen. */
      const signIn = async (changes: Record<string, string>): Promise<readonly string[]> => {
        const user = await createUser(server.gatehouse.services, tenant);
        let work: readonly string[] = [];
        const browser = openBrowser();
        const run = async (): Promise<void> => {
          const login = asksToSignIn(await authorize(browser, { scope: 'openid offline_access organization', ...changes }, client));
          const redirect = await signInAt(browser, login, user);
          const tokens = await tokensOf(await exchange(tenant, client, redirect.searchParams.get('code') ?? ''));
          assert.equal(decodeJwt(tokens.access_token).claims['org_id'], undefined);
          const next = await tokensOf(await refresh(tenant, client, tokens.refresh_token));
          assert.equal(decodeJwt(next.access_token).claims['org_id'], undefined);
        };
        if (database === 'sqlite') work = await statementsOf(run);
        else await run();
        // One is asked whenever the tenant itself is loaded, which a sign-in does not do.
        return work.filter((text) => /organization(?:s|_members|_roles)\b/.test(text) && !/AS scopes FROM tenants/.test(text));
      };
      await signIn({}); // what is loaded once
      assert.deepEqual(await signIn({}), []);
      for (const organization of ['no-such', randomUUID()]) assert.deepEqual(await signIn({ organization }), []);
    });
  });
