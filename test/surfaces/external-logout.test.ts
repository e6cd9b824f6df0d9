// Back-channel logout of other providers (design 14, 2): what a right logout token ends, and what a wrong one does not.
import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { databases } from '../support/databases.ts';
import { openExternalWorld, type Visit } from '../support/external.ts';
import { challenge, redirectUri } from '../support/oidc.ts';
import { assertRefusal } from '../support/refusal.ts';
import { startUpstream } from '../support/upstream.ts';

for (const database of databases) {
  describe(`Logout at another provider on ${database}`, async () => {
    const world = await openExternalWorld(database);
    const { server, managed, tenant, client, upstream, register, begin, visit, finish, jsonOf } = world;
    after(async () => {
      await upstream.close();
      await server.close();
    });
    await managed.make('PATCH', '/settings', { sso_session: 'browser' });
    const made = await register({ create_users: true });
    const uri = String(made['backchannel_logout_uri']);
    const person = (sub: string, sid?: string) => ({ sub, sid, email: `${sub}@acme.example`, email_verified: true });
    const signIn = async (claims: object): Promise<Visit> => {
      const at = await begin();
      await jsonOf(await visit(at, claims as never));
      await finish(at);
      return at;
    };
    const isSignedIn = async ({ browser }: Visit): Promise<boolean> => {
      const query = new URLSearchParams({
        ...{ response_type: 'code', client_id: client.clientId, redirect_uri: redirectUri, scope: 'openid', state: 's', prompt: 'none' },
        ...{ code_challenge: challenge, code_challenge_method: 'S256' },
      });
      const response = await browser.send(`${tenant.baseUrl}/v1/idp/oidc/authorize?${query}`);
      return new URL(response.headers.get('location') ?? '').searchParams.has('code');
    };
    const tell = (token: string, where = uri): Promise<Response> =>
      fetch(where, { method: 'POST', body: new URLSearchParams({ logout_token: token }) });

    it('by session: that one ends, and nobody else’s', async () => {
      const [one, two] = [await signIn(person('ada', 'sid-1')), await signIn(person('ada', 'sid-2'))];
      assert.deepEqual([await isSignedIn(one), await isSignedIn(two)], [true, true]);
      const answer = await tell(await upstream.logoutToken({ sid: 'sid-1' }));
      assert.deepEqual([answer.status, await answer.text(), answer.headers.get('cache-control')], [200, '', 'no-store']);
      assert.deepEqual([await isSignedIn(one), await isSignedIn(two)], [false, true]);
      assert.equal((await tell(await upstream.logoutToken({ sub: 'grace', sid: 'sid-2' }))).status, 200);
      assert.equal(await isSignedIn(two), true, 'a session of somebody else is not theirs to end');
    });

    it('by subject: every session of theirs from there', async () => {
      const [one, two, other] = [await signIn(person('bob')), await signIn(person('bob')), await signIn(person('eve'))];
      assert.equal((await tell(await upstream.logoutToken({ sub: 'bob' }))).status, 200);
      assert.deepEqual([await isSignedIn(one), await isSignedIn(two), await isSignedIn(other)], [false, false, true]);
    });

    it('a wrong token ends nothing, and every wrong one has the same answer', async () => {
      const at = await signIn(person('mallory', 'sid-m'));
      const now = Math.floor(server.clock.nowMs() / 1000);
      const bodies: string[] = [];
      const isRefused = async (token: string): Promise<void> =>
        void bodies.push(await assertRefusal(await tell(token), 'login.logout_refused'));
      for (const claims of [
        { sub: 'mallory', aud: 'another' },
        { sub: 'mallory', iss: 'https://elsewhere.example' },
        { sub: 'mallory', events: {} },
        { sub: 'mallory', events: undefined },
        { sub: 'mallory', nonce: 'n' },
        { sub: 'mallory', jti: undefined },
        { sub: 'mallory', iat: undefined },
        { sub: 'mallory', iat: now - 400 },
        { sub: 'mallory', exp: now - 60 },
        { sub: 7 },
        {},
      ])
        await isRefused(await upstream.logoutToken(claims));
      for (const alg of ['none', 'HS256', 'foreign'] as const) {
        upstream.lie({ alg });
        await isRefused(await upstream.logoutToken({ sub: 'mallory' }));
      }
      upstream.lie({});
      await isRefused('no token');
      assert.equal(new Set(bodies).size, 1);
      assert.equal(await isSignedIn(at), true);
    });

    it('a token of one provider ends nothing of another’s, and an unknown alias is no address', async () => {
      const other = await startUpstream(server.clock.nowMs);
      const registered = await register({ alias: 'other', create_users: true }, other);
      const at = await signIn(person('carol', 'sid-c'));
      await assertRefusal(
        await tell(await upstream.logoutToken({ sub: 'carol' }), String(registered['backchannel_logout_uri'])),
        'login.logout_refused',
      );
      assert.equal((await tell(await other.logoutToken({ sub: 'carol' }), String(registered['backchannel_logout_uri']))).status, 200);
      assert.equal((await tell(await other.logoutToken({ sid: 'sid-c' }), String(registered['backchannel_logout_uri']))).status, 200);
      assert.equal(await isSignedIn(at), true);
      await assertRefusal(await tell('x', uri.replace('/acme/', '/nobody/')), 'login.not_found');
      await other.close();
    });

    it('a provider whose keys cannot be had: 503, so that it tells again', async () => {
      const token = await upstream.logoutToken({ sub: 'ada' });
      upstream.setDown(true);
      await assertRefusal(await tell(token), 'login.external_unavailable');
      upstream.setDown(false);
    });

    it('a link that is removed, or a provider that is disabled, ends what it opened', async () => {
      const at = await signIn(person('dora'));
      assert.equal(await isSignedIn(at), true);
      await managed.make('PATCH', `/identity-providers/${made.id}`, { enabled: false });
      assert.equal(await isSignedIn(at), false);
      await managed.make('PATCH', `/identity-providers/${made.id}`, { enabled: true });
      assert.equal(await isSignedIn(at), true);
      await managed.make('DELETE', `/identity-providers/${made.id}`);
      assert.equal(await isSignedIn(at), false);
    });
  });
}
