// Linking an account elsewhere from the account page (design 14, 2): after a sign-in of the last minutes, in the session that asked, by the
// browser that went there. Attacks on it link nothing.
import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { accountFreshSeconds } from '../../src/contract/limits.ts';
import { databases } from '../support/databases.ts';
import { openExternalWorld } from '../support/external.ts';
import { type AppVisitor, openApp } from '../support/first-party-app.ts';
import { mailsTo } from '../support/mailbox.ts';
import { createTestUser, type Json } from '../support/management.ts';
import { assertRefusal } from '../support/refusal.ts';
import { buildResponse, idpMetadata, readAsked, signElement } from '../support/saml-upstream.ts';
import { startUpstream } from '../support/upstream.ts';

for (const database of databases) {
  describe(`Linking from the account page on ${database}`, async () => {
    const world = await openExternalWorld(database);
    const { server, managed, tenant, upstream, register, begin, leave, visit, finish, jsonOf, links } = world;
    after(async () => {
      await upstream.close();
      await server.close();
    });
    const provider = await register();
    let people = 0;
    const arrive = async (): Promise<{ readonly id: string; readonly email: string; readonly visitor: AppVisitor }> => {
      people += 1;
      const email = `person${people}@acme.example`;
      const { id } = await createTestUser(managed, email);
      await server.clock.advance(2000);
      return { id: String(id), email, visitor: (await openApp(server, 'account', managed, email)).visitor };
    };
    /** Presses the button; gives the provider's address. */
    const ask = async (visitor: AppVisitor, alias = 'acme'): Promise<string> => {
      const page = await visitor.submit(`/links/${alias}/add`, {});
      const text = await page.text();
      assert.equal(page.status, 200, text.slice(0, 500));
      const location = (/id="go-on" href="([^"]+)"/.exec(text)?.[1] ?? '').replaceAll('&#38;', '&');
      assert.equal(page.headers.get('refresh'), `0; url=${location}`);
      return location;
    };
    const claimsOf = (sub: string) => ({ sub, email: `${sub}@elsewhere.example`, email_verified: false });
    /** The browser brings the answer to the callback; gives the address of the account page it is sent to. */
    const bring = async (location: string, sub: string): Promise<URL> => {
      const kept = await fetch(upstream.signIn(location, claimsOf(sub)), { redirect: 'manual' });
      const to = new URL(kept.headers.get('location') ?? '');
      assert.deepEqual([kept.status, to.pathname], [303, `${new URL(tenant.baseUrl).pathname}/account/links/return`]);
      return to;
    };
    const back = (visitor: AppVisitor, { search }: URL): Promise<Response> => visitor.page(`/links/return${search}`);
    const linksOf = async (userId: string): Promise<readonly string[]> =>
      (await links()).filter((link) => link.user_id === userId).map(({ subject }) => subject);
    const isRefused = async (response: Response): Promise<void> => {
      assert.equal(response.status, 400);
      assert.match(await response.text(), /No account was linked\. Nothing has changed\./);
    };

    it('there and back: linked whatever email it has there, mailed, and signed in by it from then on', async () => {
      const { id, email, visitor } = await arrive();
      assert.match(await (await visitor.page('')).text(), /id="link-acme"[^>]*>Link an account at Acme</);
      const location = await ask(visitor);
      assert.equal(new URL(location).searchParams.get('prompt'), 'login', 'they sign in there again');
      const done = await back(visitor, await bring(location, 'mine'));
      assert.deepEqual([done.status, done.headers.get('location')], [303, `${new URL(tenant.baseUrl).pathname}/account?done=doneLinked`]);
      assert.deepEqual(await linksOf(id), ['mine']);
      const page = await (await visitor.page('')).text();
      assert.match(page, /<h3>Acme<\/h3>/);
      assert.doesNotMatch(page, /id="link-acme"/);
      assert.match(await (await visitor.page('/activity')).text(), /An account elsewhere was linked/);
      assert.match((await mailsTo(server, email))[0]?.subject ?? '', /^Acme can now sign you in/);
      const at = await begin();
      assert.deepEqual(await jsonOf(await visit(at, claimsOf('mine'))), { state: 'approved' });
      assert.equal((await finish(at))['sub'], id);
    });

    it('a forged, foreign or missing form token leads nowhere, and neither does GET', async () => {
      const { visitor } = await arrive();
      assert.equal((await visitor.submit('/links/acme/add', {}, { csrf: 'forged' })).status, 403);
      assert.equal((await visitor.submit('/links/acme/add', {}, { origin: 'https://evil.example' })).status, 403);
      assert.equal((await visitor.page('/links/acme/add')).status, 405);
      const other = await arrive();
      assert.equal((await visitor.submit('/links/acme/add', {}, { csrf: other.visitor.csrf })).status, 403);
    });

    it('a sign-in of a while ago, or by less than one has, must be done again first', async () => {
      const { id, visitor } = await arrive();
      await server.clock.advance((accountFreshSeconds - 20) * 1000);
      await ask(visitor);
      await server.clock.advance(21_000);
      const stale = await visitor.submit('/links/acme/add', {});
      assert.equal(stale.status, 400);
      assert.match(await stale.text(), /Sign in again to link an account/);
      const again = await visitor.page('/links/sign-in');
      assert.equal(again.status, 303);
      assert.match(again.headers.get('location') ?? '', /prompt=login/);
      const weak = await arrive();
      await givePhone(weak.id);
      const refused = await weak.visitor.submit('/links/acme/add', {});
      assert.equal(refused.status, 400);
      assert.match(await refused.text(), /sign in with your phone, a passkey or a recovery code/);
      assert.deepEqual([...(await linksOf(id)), ...(await linksOf(weak.id))], []);
    });

    it('an answer is taken once, also when it is brought and fetched many times at once', async () => {
      const { id, visitor } = await arrive();
      const callback = upstream.signIn(await ask(visitor), claimsOf('raced'));
      const kept = await Promise.all(
        Array.from({ length: 10 }, () => fetch(callback, { redirect: 'manual', headers: { accept: 'application/json' } })),
      );
      const [first, ...others] = kept.toSorted((one, other) => one.status - other.status);
      assert.equal(first?.status, 303);
      for (const one of others) await assertRefusal(one, 'login.external_refused');
      const to = new URL(first?.headers.get('location') ?? '');
      const answers = await Promise.all(Array.from({ length: 10 }, () => back(visitor, to)));
      assert.deepEqual(answers.map(({ status }) => status).toSorted(), [303, ...Array.from({ length: 9 }, () => 400)]);
      assert.deepEqual(await linksOf(id), ['raced']);
    });

    it('an answer that somebody else’s browser brought is not for whoever asked', async () => {
      const evil = await arrive();
      const to = await bring(await ask(evil.visitor), 'victim');
      for (const key of ['', 'guessed', to.searchParams.get('state') ?? '']) {
        const guess = new URL(to);
        guess.searchParams.set('answer', key);
        await isRefused(await back(evil.visitor, guess));
      }
      const victim = await arrive();
      await isRefused(await back(victim.visitor, to));
      assert.deepEqual([...(await linksOf(evil.id)), ...(await linksOf(victim.id))], []);
      const { items } = await managed.make<{ items: readonly Json[] }>('GET', '/events?type=external_identity.link_failed');
      assert.equal(items[0]?.['reason'], 'of_another_session');
    });

    it('another session of the same person does not fetch it, and nobody does without a session', async () => {
      const { id, email, visitor } = await arrive();
      const to = await bring(await ask(visitor), 'two-sessions');
      await server.clock.advance(2000);
      const other = (await openApp(server, 'account', managed, email)).visitor;
      const nobody = await fetch(to, { redirect: 'manual', headers: { accept: 'text/html' } });
      assert.match(nobody.headers.get('location') ?? '', /\/v1\/idp\/oidc\/authorize\?/);
      await isRefused(await back(other, to));
      assert.deepEqual(await linksOf(id), []);
    });

    it('an account elsewhere that is somebody’s stays theirs', async () => {
      const [first, second] = [await arrive(), await arrive()];
      assert.equal((await back(first.visitor, await bring(await ask(first.visitor), 'shared'))).status, 303);
      await isRefused(await back(second.visitor, await bring(await ask(second.visitor), 'shared')));
      assert.deepEqual([await linksOf(first.id), await linksOf(second.id)], [['shared'], []]);
    });

    it('states of sign-ins and of links are not exchanged', async () => {
      const { id, visitor } = await arrive();
      const to = await bring(await ask(visitor), 'exchanged');
      const at = await begin();
      await assertRefusal(await at.browser.send(`${at.login}${to.search}`), 'login.external_refused');
      const signIn = upstream.signIn(await leave(at), claimsOf('exchanged'));
      await isRefused(await visitor.page(`/links/return?state=${signIn.searchParams.get('state')}&answer=x`));
      await isRefused(await visitor.page('/links/return'));
      assert.deepEqual(await linksOf(id), []);
    });

    it('what the provider refuses, or a provider that is down, unknown or disabled meanwhile, links nothing', async () => {
      const { id, visitor } = await arrive();
      upstream.lie({ claims: { nonce: 'wrong' } });
      await isRefused(await back(visitor, await bring(await ask(visitor), 'lied')));
      upstream.lie({});
      await isRefused(await visitor.submit('/links/nobody/add', {}));
      const to = await bring(await ask(visitor), 'disabled');
      await managed.make('PATCH', `/identity-providers/${provider.id}`, { enabled: false });
      assert.doesNotMatch(await (await visitor.page('')).text(), /id="link-acme"/);
      await isRefused(await back(visitor, to));
      await managed.make('PATCH', `/identity-providers/${provider.id}`, { enabled: true });
      const down = await startUpstream(server.clock.nowMs);
      await register({ alias: 'down' }, down);
      down.setDown(true);
      await isRefused(await visitor.submit('/links/down/add', {}));
      await down.close();
      assert.deepEqual(await linksOf(id), []);
    });

    it('by SAML it is the same', async () => {
      await managed.make('POST', '/identity-providers', { alias: 'corp', kind: 'saml', name: 'Corp', metadata: await idpMetadata() });
      const { id, visitor } = await arrive();
      const asked = readAsked(await ask(visitor, 'corp'));
      assert.match(asked.xml, /ForceAuthn="true"/);
      const xml = signElement(buildResponse(asked, server.clock.nowMs(), { nameId: 'by-saml' }), 'Assertion');
      const body = new URLSearchParams({ SAMLResponse: Buffer.from(xml).toString('base64'), RelayState: asked.relayState });
      const kept = await fetch(asked.acsUrl, { method: 'POST', redirect: 'manual', body });
      assert.equal((await back(visitor, new URL(kept.headers.get('location') ?? ''))).status, 303);
      assert.deepEqual(await linksOf(id), ['by-saml']);
    });

    const givePhone = (userId: string): Promise<unknown> =>
      server.gatehouse.services.database.write(tenant.id, (queries) =>
        queries
          .insertInto('devices')
          .values({
            tenant_id: tenant.id,
            id: `device-of-${userId}`,
            user_id: userId,
            state: 'active',
            platform: 'ios',
            name: 'Phone',
            push_provider: 'none',
            created_at: 0,
          } as never)
          .execute(),
      );

    it('nothing is linked by a session that ends while the provider is asked', async () => {
      const { id, visitor } = await arrive();
      const to = await bring(await ask(visitor), 'late');
      const { database, jobs } = server.gatehouse.services;
      await jobs.stop(); // what they write is not of this request; it is the last test here
      const { write } = database;
      let writes = 0;
      Object.assign(database, {
        write: async (...args: Parameters<typeof write>) => {
          writes += 1;
          if (writes === 2) await managed.make('DELETE', `/users/${id}/sessions`); // the first one uses the answer up
          return write(...args);
        },
      });
      const answer = await back(visitor, to);
      Object.assign(database, { write });
      assert.ok(writes >= 2, String(writes));
      await isRefused(answer);
      assert.deepEqual(await linksOf(id), []);
    });
  });
}
