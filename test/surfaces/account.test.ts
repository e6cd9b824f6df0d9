// The account page over HTTP: who gets in and for how long, what each page does for the person, and what it never does for
// anybody else.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { createConsoleTenant } from '../support/console.ts';
import { databases } from '../support/databases.ts';
import { type AppVisitor, openApp } from '../support/own-app.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

const pages = [''];

for (const database of databases) {
  describe(`account on ${database}`, () => {
    let server: TestServer;
    let visitor: AppVisitor;
    before(async () => {
      server = await startTestServer(database);
      ({ visitor } = await signedIn());
    });
    after(() => server.close());

    const signedIn = async (): Promise<{ readonly visitor: AppVisitor; readonly email: string }> => {
      const { tenant, email } = await createConsoleTenant(server, { role: 'user' });
      return { visitor: (await openApp(server, 'account', tenant, email)).visitor, email };
    };
    const textOf = async (response: Response, status: number): Promise<string> => {
      const text = await response.text();
      assert.equal(response.status, status, text.slice(0, 800));
      return text;
    };

    it('nobody is signed in: every page leads to the sign-in', async () => {
      for (const path of pages) {
        const response = await fetch(`${visitor.tenant.baseUrl}/account${path}`, { redirect: 'manual' });
        assert.equal(response.status, 303, path);
        const location = new URL(response.headers.get('location') ?? '');
        assert.equal(location.origin + location.pathname, `${visitor.tenant.baseUrl}/v1/idp/oidc/authorize`, path);
        assert.equal(location.searchParams.get('client_id'), 'gatehouse-account');
        assert.equal(location.searchParams.get('code_challenge_method'), 'S256');
      }
    });

    it('every page answers a person who is no administrator, with a policy and their name', async () => {
      for (const path of pages) {
        const response = await visitor.page(path);
        const text = await textOf(response, 200);
        assert.match(text, /Ada Lovelace/, path);
        const policy = response.headers.get('content-security-policy') ?? '';
        assert.match(policy, /^default-src 'none'; style-src 'nonce-[^']+'; .*frame-ancestors 'none'/, path);
        assert.equal(response.headers.get('x-frame-options'), 'DENY', path);
        assert.equal(response.headers.get('cache-control'), 'no-store', path);
        assert.ok(Buffer.byteLength(text) < 60_000, `${path}: ${Buffer.byteLength(text)} bytes`);
      }
    });

    it('forged posts: a wrong token, none, a foreign origin', async () => {
      for (const changes of [{ csrf: 'wrong' }, { csrf: '' }, { origin: 'https://evil.example' }]) {
        const response = await visitor.submit('/sign-out', {}, changes);
        assert.equal(response.status, 403, JSON.stringify(changes));
        assert.equal(response.headers.get('set-cookie'), null);
      }
      await textOf(await visitor.page(''), 200);
    });

    it('a callback nobody asked for signs nobody in', async () => {
      const response = await fetch(`${visitor.tenant.baseUrl}/account/callback?code=x&state=y&iss=${visitor.tenant.baseUrl}`);
      assert.match(await textOf(response, 400), /not started in this browser/);
      assert.equal(response.headers.get('set-cookie'), null);
    });

    it('signing out revokes the grant and forgets the session', async () => {
      const { visitor: leaving } = await signedIn();
      const stolen = leaving.cookie();
      assert.match(await textOf(await leaving.submit('/sign-out', {}), 200), /Signed out/);
      const replayed = await fetch(`${leaving.tenant.baseUrl}/account`, { redirect: 'manual', headers: { cookie: stolen } });
      assert.equal(replayed.status, 303);
    });

    it('a suspended person is signed out at once; a session of another tenant or of the console opens nothing', async () => {
      const { visitor: other, email } = await signedIn();
      const list = await other.tenant.make<{ items: readonly { id: string }[] }>('GET', `/users?search=${email}`);
      await other.tenant.make('POST', `/users/${list.items[0]?.id}/suspend`);
      assert.equal((await other.page('')).status, 303);
      const cookie = visitor.cookie();
      for (const foreign of [cookie.replaceAll(visitor.tenant.slug, other.tenant.slug), cookie.replaceAll('gh-account', 'gh-console')]) {
        const base = foreign.includes('gh-console') ? `${visitor.tenant.baseUrl}/console` : `${other.tenant.baseUrl}/account`;
        assert.equal((await fetch(base, { redirect: 'manual', headers: { cookie: foreign } })).status, 303);
      }
    });
  });
}
