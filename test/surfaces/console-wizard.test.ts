// The wizard of applications (design 13, section 2): five kinds, a name and addresses, and a page with what the program needs. What is
// made works: tokens are issued for it.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import { frameworks } from '../../src/console/applications/snippets.ts';
import { insertAuditEvent } from '../../src/storage/records/audit-events.ts';
import { createConsoleTenant, openConsole } from '../support/console.ts';
import { databases } from '../support/databases.ts';
import type { AppVisitor } from '../support/first-party-app.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

const textOf = (page: string, id: string): string => (new RegExp(`id="${id}">([^<]*)<`).exec(page)?.[1] ?? '').replaceAll('&#38;', '&');

for (const database of databases) {
  describe(`console wizard on ${database}`, () => {
    let server: TestServer;
    let visitor: AppVisitor;
    before(async () => {
      server = await startTestServer(database);
      const { tenant, email } = await createConsoleTenant(server);
      ({ visitor } = await openConsole(server, tenant, email));
    });
    after(() => server.close());
    const show = async (path: string): Promise<string> => (await visitor.page(path)).text();

    it('offers five kinds and every field by hand; each kind asks for no more than it needs', async () => {
      const page = await show('/clients/new');
      assert.deepEqual(
        [...page.matchAll(/id="kind-(\w+)"/g)].map(([, kind]) => kind),
        ['web', 'spa', 'mobile', 'machine', 'ciba', 'platform', 'all'],
      );
      for (const [kind, names] of [
        ['web', ['name', 'redirect_uris']],
        ['spa', ['name', 'redirect_uris']],
        ['mobile', ['name', 'redirect_uris']],
        ['machine', ['name', 'scopes']],
        ['ciba', ['name']],
      ] as const) {
        const asked = [...(await show(`/clients/new?kind=${kind}`)).matchAll(/<(?:input|textarea)[^>]* name="([a-z_]+)"/g)].map(
          ([, name]) => name,
        );
        assert.deepEqual([...new Set(asked.filter((name) => name !== 'csrf' && name !== 'q'))], names, kind);
      }
      assert.match(await show('/clients/new?kind=all'), /name="token_endpoint_auth_method"/);
      assert.match(await show('/clients/new?kind=__proto__'), /id="kind-web"/);
    });

    it('a web application: its page has issuer, id, secret and .env; a reload keeps them; later only the place of the secret', async () => {
      const page = await visitor.act('/clients/new?kind=web', { name: 'Shop & Co', redirect_uris: 'http://localhost:3000/callback' });
      const [id, secret] = [textOf(page, 'client-id'), textOf(page, 'secret-client_secret')];
      assert.match(secret, /^[A-Za-z0-9_-]{43}$/);
      assert.equal(textOf(page, 'issuer'), visitor.tenant.baseUrl);
      assert.equal(textOf(page, 'env'), `ISSUER=${visitor.tenant.baseUrl}\nCLIENT_ID=${id}\nCLIENT_SECRET=${secret}`);
      assert.equal(textOf(await show(`/clients/${id}/start`), 'secret-client_secret'), secret);
      const client = await visitor.tenant.make('GET', `/clients/${id}`);
      assert.deepEqual(
        [client['type'], client['grant_types'], client['scopes'], client['redirect_uris']],
        [
          'confidential',
          ['authorization_code', 'refresh_token'],
          ['openid', 'profile', 'email', 'offline_access'],
          ['http://localhost:3000/callback'],
        ],
      );
      for (const [, guide] of page.matchAll(/href="(\/docs\/how-to\/[^"]+)"/g))
        assert.equal((await fetch(`${server.url}${guide}`)).status, 200, guide);
      assert.match(page, /\/docs\/how-to\/oidc-express/);
      assert.match(page, /id="try" href="[^"]*\/try\/start\?scope=openid\+profile\+email\+offline_access"/);
      await server.clock.advance(600_000);
      const later = await show(`/clients/${id}/start`);
      assert.match(later, /CLIENT_SECRET=&#60;client secret&#62;/);
      assert.ok(!later.includes(secret));
      assert.equal((await visitor.page('/clients/nobody/start')).status, 404);
    });

    it('waits for the first sign-in of the application: who it was, or why it was refused', async () => {
      const { tenant } = visitor;
      const redirectUri = 'http://localhost:3000/callback';
      const made = await visitor.act('/clients/new?kind=web', { name: 'Waits', redirect_uris: redirectUri });
      const id = textOf(made, 'client-id');
      assert.match(made, /id="waiting" role="status" data-waits="yes"><h2>Waiting for your app<\/h2>/);
      assert.match(made, new RegExp(`id="look-again" href="[^"]*/console/clients/${id}/start"`));
      const stored = (await server.gatehouse.services.tenants.bySlug(tenant.slug))!;
      const { items } = await tenant.make<{ items: readonly { id: string }[] }>('GET', '/users?sort=name');
      const record = (type: 'login.finished' | 'login.refused', more: object): Promise<void> =>
        server.gatehouse.services.database.write(stored.id, (queries) =>
          insertAuditEvent(queries, stored.id, server.clock.nowMs(), { type, target: `client:${id}`, requestId: 'req-waits', ...more }),
        );
      await record('login.refused', { reason: 'access_policy' });
      const refused = await show(`/clients/${id}/start`);
      assert.match(
        refused,
        /A sign-in did not end well[\s\S]*It was refused: access_policy\.[\s\S]*\/explain\?request_id=req-waits">Explain/,
      );
      await server.clock.advance(5);
      await record('login.finished', { actor: `user:${items[0]!.id}` });
      const arrived = await show(`/clients/${id}/start`);
      assert.match(arrived, /<h2>Your app works<\/h2><p>[^<]+ signed in, /);
      assert.doesNotMatch(arrived, /data-waits="yes"/);
      const machine = await visitor.act('/clients/new?kind=machine', { name: 'No people', scopes: 'users:read' });
      assert.doesNotMatch(machine, /id="waiting"/);
    });

    it('snippets have the application’s values, and say what the guides say', async () => {
      const page = await visitor.act('/clients/new?kind=web', { name: 'Snippets', redirect_uris: 'https://app.example.com/callback' });
      const [id, secret] = [textOf(page, 'client-id'), textOf(page, 'secret-client_secret')];
      assert.equal(
        textOf(page, 'env-oidc-express').replaceAll('&#39;', "'").replaceAll('&#62;', '>').replaceAll('&#60;', '<'),
        `mkdir -p .gatehouse && cat > .gatehouse/app.env <<'END'\nISSUER=${visitor.tenant.baseUrl}\nCLIENT_ID=${id}\nCLIENT_SECRET=${secret}\nAPP_URL=https://app.example.com\nEND`,
      );
      assert.doesNotMatch(page, /env-oidc-react/);
      const single = await visitor.act('/clients/new?kind=spa', { name: 'Snippets', redirect_uris: 'http://localhost:5173/' });
      assert.match(single, /id="env-oidc-react"/);
      assert.doesNotMatch(single, /env-oidc-express|CLIENT_SECRET/);
      assert.ok(frameworks.length >= 5);
      for (const { guide, install, start, sessionKey } of frameworks) {
        const text = readFileSync(new URL(`../../docs/how-to/${guide}.md`, import.meta.url), 'utf8');
        for (const line of [...install, ...start, ...(sessionKey === undefined ? [] : [sessionKey])])
          assert.ok(text.includes(line), `${guide}: ${line}`);
      }
    });

    it('single-page and mobile applications have no secret', async () => {
      for (const [kind, address] of [
        ['spa', 'http://localhost:5173/'],
        ['mobile', 'com.example.app:/callback'],
      ] as const) {
        const page = await visitor.act(`/clients/new?kind=${kind}`, { name: kind, redirect_uris: address });
        assert.equal(textOf(page, 'env'), `ISSUER=${visitor.tenant.baseUrl}\nCLIENT_ID=${textOf(page, 'client-id')}`);
        assert.doesNotMatch(page, /id="secret"/);
        assert.equal((await visitor.tenant.make('GET', `/clients/${textOf(page, 'client-id')}`))['type'], 'public');
      }
    });

    it('a machine gets tokens for what was ticked, and no more', async () => {
      const response = await visitor.submit('/clients/new?kind=machine', { name: 'Robot', scopes: 'users:read' });
      assert.equal(response.status, 303);
      const page = await show((response.headers.get('location') ?? '').replace(/^.*\/console/, ''));
      const [id, secret] = [textOf(page, 'client-id'), textOf(page, 'secret-client_secret')];
      const token = (scope: string) =>
        fetch(`${visitor.tenant.baseUrl}/v1/idp/oidc/token`, {
          method: 'POST',
          headers: { authorization: `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}` },
          body: new URLSearchParams({ grant_type: 'client_credentials', scope, resource: visitor.tenant.managementApi }),
        });
      const granted = await token('users:read');
      const { access_token: bearer } = (await granted.json()) as { access_token: string }; // a token answer
      assert.equal(granted.status, 200);
      assert.equal((await fetch(`${visitor.tenant.managementApi}/users`, { headers: { authorization: `Bearer ${bearer}` } })).status, 200);
      assert.equal(
        (await fetch(`${visitor.tenant.managementApi}/clients`, { headers: { authorization: `Bearer ${bearer}` } })).status,
        403,
      );
      assert.equal((await token('users:write')).status, 400);
    });

    it('CIBA: polls, with a secret', async () => {
      const page = await visitor.act('/clients/new?kind=ciba', { name: 'Till' });
      const client = await visitor.tenant.make('GET', `/clients/${textOf(page, 'client-id')}`);
      assert.deepEqual([client['backchannel_token_delivery_mode'], client['type']], ['poll', 'confidential']);
    });

    it('a refused form keeps what was typed, says the line, and makes nothing', async () => {
      const before = await visitor.tenant.make<{ items: readonly unknown[] }>('GET', '/clients');
      const response = await visitor.submit('/clients/new?kind=web', {
        name: 'Kept',
        redirect_uris: 'https://a.example/cb\nhttp://b.example/cb',
      });
      const page = await response.text();
      assert.equal(response.status, 400);
      assert.match(page, /value="Kept"/);
      assert.match(page, /class="wrong"[^>]*>Line 2: /);
      assert.equal((await visitor.submit('/clients/new', { name: 'No kind' })).status, 200);
      assert.equal((await visitor.tenant.make<{ items: readonly unknown[] }>('GET', '/clients')).items.length, before.items.length);
    });
  });
}
