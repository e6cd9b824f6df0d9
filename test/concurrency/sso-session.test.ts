// A logout under parallel authorization requests: nothing outlives it. Real requests, both databases.
import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { openBrowser } from '../support/browser.ts';
import { databases } from '../support/databases.ts';
import { createUser } from '../support/fixtures.ts';
import { exchange, tokensOf } from '../support/oidc.ts';
import { assertRefusal } from '../support/refusal.ts';
import { openSsoWorld } from '../support/sso.ts';

for (const database of databases) {
  describe(`Logout in parallel on ${database}`, async () => {
    const { authorize, locationOf, signIn, server, tenant, client } = await openSsoWorld(database);
    after(() => server.close());

    it('200 requests racing a logout: every code was made before it, none afterwards', async () => {
      const ada = await createUser(server.gatehouse.services, tenant);
      const browser = openBrowser();
      const { id_token: hint } = await tokensOf(
        await exchange(tenant, client, (await signIn(browser, ada)).searchParams.get('code') ?? ''),
      );
      const asking = Array.from({ length: 200 }, () => authorize(browser));
      const out = browser.send(`${tenant.baseUrl}/v1/idp/oidc/logout?${new URLSearchParams({ id_token_hint: hint ?? '' })}`);
      assert.equal((await out).status, 200);
      const codes = (await Promise.all(asking))
        .map((response) => locationOf(response).searchParams.get('code'))
        .filter((code) => code !== null);
      for (const code of codes.slice(0, 20)) await assertRefusal(await exchange(tenant, client, code), 'token.code_invalid');
      const left = await server.gatehouse.services.database.read(tenant.id, (queries) =>
        queries.selectFrom('authorization_codes').select('code_hash').where('user_id', '=', ada.id).where('used_at', 'is', null).execute(),
      );
      assert.deepEqual(left, []);
    });
  });
}
