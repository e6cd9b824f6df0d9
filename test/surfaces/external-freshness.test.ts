// When and who, by the word of another provider (issue 31, 7 and 8): a sign-in there is as old as the provider says it is, freshness that
// was asked for is asked and checked there, and whoever has no name there is nobody.
import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { databases } from '../support/databases.ts';
import { openExternalWorld } from '../support/external.ts';
import { redirectUri } from '../support/oidc.ts';
import { assertRefusal } from '../support/refusal.ts';

const hour = 3600;

for (const database of databases) {
  describe(`The age of sign-ins with another provider on ${database}`, async () => {
    const world = await openExternalWorld(database);
    const { server, managed, tenant, client, upstream, register, begin, post, jsonOf, leave, visit, finish, links } = world;
    after(async () => {
      await upstream.close();
      await server.close();
    });
    await register({ create_users: true });
    const now = (): number => Math.floor(server.clock.nowMs() / 1000);
    const grace = { sub: 'grace', email: 'grace@acme.example', email_verified: true };

    it('auth_time is that of the provider, and never later than now', async () => {
      const old = await begin();
      const anHourAgo = now() - hour;
      assert.deepEqual(await jsonOf(await visit(old, { ...grace, auth_time: anHourAgo })), { state: 'approved' });
      assert.equal((await finish(old))['auth_time'], anHourAgo);
      for (const claims of [{ auth_time: now() + 1000 }, {}, { auth_time: 'yesterday' }, { auth_time: -5 }]) {
        const at = await begin();
        const back = await visit(at, { ...grace, ...claims });
        if (back.status !== 200) {
          await assertRefusal(back, 'login.external_refused');
          continue;
        }
        assert.ok(Math.abs(Number((await finish(at))['auth_time']) - now()) <= 2, JSON.stringify(claims));
      }
    });

    for (const asked of [{ prompt: 'login' }, { max_age: '0' }, { prompt: 'login', max_age: '600' }] as const)
      it(`${JSON.stringify(asked)} is asked there, and checked`, async () => {
        const at = await begin(asked);
        const there = new URL(await leave(at)).searchParams;
        assert.equal(there.get('prompt'), 'login');
        assert.equal(there.get('max_age'), '0');
        await assertRefusal(await visit(at, { ...grace, auth_time: now() - hour }), 'login.external_refused');
        await assertRefusal(await visit(at, { ...grace, auth_time: now() - 60 }), 'login.external_refused');
        await assertRefusal(await visit(at, grace), 'login.external_refused');
        assert.deepEqual(await jsonOf(await visit(at, { ...grace, auth_time: now() })), { state: 'approved' });
        assert.equal((await jsonOf(await at.browser.send(at.login)))['state'], 'approved');
      });

    it('somebody who takes their time there after signing in comes in', async () => {
      const at = await begin({ prompt: 'login' });
      const there = await leave(at);
      await server.clock.advance(240_000);
      assert.deepEqual(await jsonOf(await at.browser.send(upstream.signIn(there, { ...grace, auth_time: now() - 200 }).href)), {
        state: 'approved',
      });
      const claims = await finish(at);
      assert.ok(now() - Number(claims['auth_time']) >= 200);
    });

    it('a code of a sign-in as old as max_age lets it be is redeemed', async () => {
      const at = await begin({ max_age: '300' });
      assert.deepEqual(await jsonOf(await visit(at, { ...grace, auth_time: now() - 300 })), { state: 'approved' });
      await server.clock.advance(5000);
      assert.ok(now() - Number((await finish(at))['auth_time']) >= 300);
    });

    it('a session is as old as the sign-in behind it', async () => {
      await managed.make('PATCH', '/settings', { sso_session: { idle_seconds: 86_400, absolute_seconds: 86_400 } });
      const at = await begin();
      await jsonOf(await visit(at, { ...grace, auth_time: now() - 8 * hour }));
      await finish(at);
      const silently = async (maxAge: string): Promise<URLSearchParams> => {
        const query = new URLSearchParams({
          ...{ response_type: 'code', client_id: client.clientId, redirect_uri: redirectUri, scope: 'openid', state: 's' },
          ...{ prompt: 'none', max_age: maxAge, code_challenge: 'a'.repeat(43), code_challenge_method: 'S256' },
        });
        const response = await at.browser.send(`${tenant.baseUrl}/v1/idp/oidc/authorize?${query}`);
        return response.status === 303
          ? new URL(response.headers.get('location') ?? '').searchParams
          : new URLSearchParams(JSON.parse(await response.text()));
      };
      assert.equal((await silently('300')).get('error'), 'login_required');
      assert.notEqual((await silently(String(9 * hour))).get('code'), null);
    });

    it('GitHub cannot say it: a request that asks for freshness is refused there', async () => {
      await register({ alias: 'hub', kind: 'github', name: 'Hub', issuer: 'https://github.example', create_users: true });
      for (const asked of [{ prompt: 'login' }, { max_age: '0' }, { max_age: '60' }]) {
        const at = await begin(asked);
        await assertRefusal(await post(at.browser, `${at.login}/external`, { alias: 'hub' }), 'login.external_refused');
        assert.equal((await jsonOf(await at.browser.send(at.login)))['state'], 'identify', 'other ways stay');
      }
      assert.match(await leave(await begin(), 'hub'), /\/login\/oauth\/authorize/);
    });

    it('an empty sub is nobody', async () => {
      for (const sub of ['', ' ', undefined, 7]) {
        const before = await links();
        for (const email of ['first@acme.example', 'second@acme.example'])
          await assertRefusal(await visit(await begin(), { sub, email, email_verified: true }), 'login.external_refused');
        assert.deepEqual(await links(), before);
      }
    });

    it('an address of UserInfo counts by what UserInfo says of it', async () => {
      const cases = [
        // idToken, userInfo, comes in without a proof
        [{ email_verified: true }, { email: 'u1@acme.example', email_verified: false }, false],
        [{ email_verified: true }, { email: 'u2@acme.example' }, false],
        [{}, { email: 'u3@acme.example', email_verified: true }, true],
        [{ email_verified: false }, { email: 'u4@acme.example', email_verified: true }, true],
        [{ email: 'u5@acme.example', email_verified: true }, { email: 'other@acme.example', email_verified: false }, true],
        [{ email: 'u6@acme.example' }, { email: 'u6@acme.example', email_verified: true }, false],
      ] as const;
      for (const [index, [idToken, userInfo, counts]] of cases.entries()) {
        const at = await begin();
        const sub = `userinfo-${index}`;
        upstream.lie({ claims: { email: undefined, email_verified: undefined, ...idToken } });
        const back = await jsonOf(await visit(at, { sub, ...userInfo }));
        upstream.lie({});
        assert.equal(back['state'], counts ? 'approved' : 'pin', `case ${index}`);
      }
    });
  });
}
