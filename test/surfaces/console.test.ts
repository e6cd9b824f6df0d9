// The console over HTTP: who gets in, what its forms do through the Management API, and what forged ones do not.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { TenantId } from '../../src/domain/ids.ts';
import { insertAuditEvent } from '../../src/storage/records/audit-events.ts';
import { createConsoleTenant, openConsole } from '../support/console.ts';
import { withoutOwnScript } from '../support/console-pages.ts';
import { databases } from '../support/databases.ts';
import type { AppVisitor } from '../support/first-party-app.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

const pages = [
  '',
  '/clients',
  '/clients/new',
  '/initial-access-tokens',
  '/initial-access-tokens/new',
  '/resources',
  '/users',
  '/users/new',
  '/groups',
  '/service-providers',
  '/identity-providers',
  '/identity-providers/new?preset=google',
  '/signing-keys',
  '/settings',
  '/events',
  '/explain',
];

for (const database of databases) {
  describe(`console on ${database}`, () => {
    let server: TestServer;
    let visitor: AppVisitor;
    before(async () => {
      server = await startTestServer(database);
      const { tenant, email } = await createConsoleTenant(server);
      ({ visitor } = await openConsole(server, tenant, email));
    });
    after(() => server.close());

    const textOf = async (response: Response, status: number): Promise<string> => {
      const text = await response.text();
      assert.equal(response.status, status, text.slice(0, 800));
      return text;
    };

    it('nobody is signed in: every page leads to the sign-in', async () => {
      for (const path of pages) {
        const response = await fetch(`${visitor.tenant.baseUrl}/console${path}`, { redirect: 'manual' });
        assert.equal(response.status, 303, path);
        assert.ok(response.headers.get('location')?.startsWith(`${visitor.tenant.baseUrl}/v1/idp/oidc/authorize?`), path);
      }
    });

    it('every page answers with a policy, and the name of the person', async () => {
      for (const path of pages) {
        const response = await visitor.page(path);
        const text = await textOf(response, 200);
        assert.match(text, /Ada Lovelace/, path);
        assert.match(response.headers.get('content-security-policy') ?? '', /default-src 'none'.*frame-ancestors 'none'/, path);
        assert.equal(response.headers.get('cache-control'), 'no-store', path);
        assert.ok(Buffer.byteLength(text) < 60_000, `${path}: ${Buffer.byteLength(text)} bytes`);
      }
    });

    it('another provider: from a preset, its secret kept back and kept when nothing is typed, deleted after a question', async () => {
      const start = await textOf(await visitor.page('/identity-providers/by-hand?preset=google'), 200);
      assert.match(start, /value="https:\/\/accounts\.google\.com"/);
      const fields = {
        alias: 'google',
        kind: 'oidc',
        name: 'Google',
        issuer: 'https://accounts.google.com',
        client_id: 'us',
        trust_email: 'on',
      };
      const made = await visitor.act('/identity-providers', { ...fields, client_secret: 'GOCSPX-1' });
      assert.match(made, /The other provider Google was created/);
      assert.match(made, /\/login\/callback\/google/);
      assert.doesNotMatch(made, /GOCSPX-1/);
      const id = /<dt>Id<\/dt><dd><code>([^<]+)/.exec(made)?.[1] ?? '';
      assert.match(made, /type="password"/);
      const sealed = () =>
        server.gatehouse.services.database.read(visitor.tenant.id as TenantId, (queries) =>
          queries
            .selectFrom('identity_providers')
            .select('client_secret')
            .where('tenant_id', '=', visitor.tenant.id as TenantId)
            .where('id', '=', id as never)
            .executeTakeFirstOrThrow(),
        );
      const before = await sealed();
      const { alias: _alias, kind: _kind, ...changes } = fields;
      assert.equal((await visitor.submit(`/identity-providers/${id}`, { ...changes, name: 'Goo', client_secret: '' })).status, 303);
      assert.deepEqual(await sealed(), before);
      assert.notEqual(before.client_secret, 'GOCSPX-1');
      assert.match(await textOf(await visitor.submit(`/identity-providers/${id}/delete`, {}), 200), /Everybody’s links to it go/);
    });

    it('an initial access token: shown once, its policy and uses to be seen, taken back after a question', async () => {
      const made = await visitor.act('/initial-access-tokens', {
        count: '3',
        expires_in_seconds: '3600',
        'policy.hosts': 'shop.example\nkeys.example',
        'policy.grant_types': 'authorization_code',
        'policy.scopes': 'openid',
      });
      const token = /id="secret-token">([A-Za-z0-9_-]{43})</.exec(made)?.[1] ?? '';
      assert.notEqual(token, '');
      assert.match(made, /shop\.example, keys\.example/);
      assert.doesNotMatch(made, /id="save"/, 'there is nothing to change');
      const id = /<dt>Id<\/dt><dd><code>([^<]+)/.exec(made)?.[1] ?? '';
      const shown = await textOf(await visitor.page(`/initial-access-tokens/${id}`), 200);
      assert.ok(shown.includes(token), 'for ten minutes');
      await server.clock.advance(600_000);
      assert.ok(!(await textOf(await visitor.page(`/initial-access-tokens/${id}`), 200)).includes(token));
      assert.match(await textOf(await visitor.page('/initial-access-tokens'), 200), /0 of 3/);
      assert.match(await textOf(await visitor.submit(`/initial-access-tokens/${id}/delete`, {}), 200), /Applications that registered stay/);
      assert.equal((await visitor.submit(`/initial-access-tokens/${id}/delete`, { sure: 'yes' })).status, 303);
      const refused = await visitor.submit('/initial-access-tokens', { count: '0', expires_in_seconds: '1', 'policy.hosts': '' });
      assert.match(await textOf(refused, 400), /count/);
    });

    it('a client: created with its secret shown once, changed, given a new secret, deleted after a question', async () => {
      const created = await visitor.act('/clients', {
        name: 'Shop',
        type: 'confidential',
        token_endpoint_auth_method: 'client_secret_basic',
        redirect_uris: 'https://shop.example/cb',
        grant_types: 'authorization_code',
        scopes: 'openid\nprofile',
        access_policy: 'everyone',
        enabled: 'on',
      });
      assert.match(created, /id="secret-client_secret">[A-Za-z0-9_-]{43}</);
      const id = /<dt>Client ID<\/dt><dd><code>([^<]+)/.exec(created)?.[1] ?? '';
      const changed = await visitor.submit(`/clients/${id}`, {
        name: 'Shop 2',
        redirect_uris: 'https://shop.example/cb\nhttps://shop.example/cb2',
        enabled: 'on',
      });
      assert.equal(changed.status, 303);
      assert.equal((await visitor.submit(`/clients/${id}/access`, { access_policy: 'assigned' })).status, 303);
      const client = await visitor.tenant.make('GET', `/clients/${id}`);
      assert.deepEqual(
        [client['name'], client['redirect_uris'], client['access_policy']],
        ['Shop 2', ['https://shop.example/cb', 'https://shop.example/cb2'], 'assigned'],
      );
      assert.match(await textOf(await visitor.submit(`/clients/${id}/secret`, {}), 200), /Make a new secret for Shop 2\?/);
      assert.match(await visitor.act(`/clients/${id}/secret`, { sure: 'yes' }), /id="secret-client_secret">[A-Za-z0-9_-]{43}</);
      assert.match(await textOf(await visitor.submit(`/clients/${id}/delete`, {}), 200), /Delete Shop 2\?/);
      assert.equal((await visitor.submit(`/clients/${id}/delete`, { sure: 'yes' })).status, 303);
      assert.equal((await visitor.tenant.call('GET', `/clients/${id}`)).status, 404);
    });

    it('a user: created, suspended, activated', async () => {
      const created = await visitor.act('/users', {
        user_name: 'grace',
        email_list: 'grace@x.example\ng2@x.example',
        'name.given_name': 'Grace',
        role: 'user',
      });
      const id = /<dt>Id<\/dt><dd><code>([^<]+)/.exec(created)?.[1] ?? '';
      assert.match(await textOf(await visitor.submit(`/users/${id}/suspend`, {}), 200), /Suspend grace\?/);
      assert.equal((await visitor.tenant.make('GET', `/users/${id}`))['state'], 'active');
      assert.match(await visitor.act(`/users/${id}/suspend`, { sure: 'yes' }), /Activate/);
      assert.equal((await visitor.tenant.make('GET', `/users/${id}`))['state'], 'suspended');
      assert.match(await visitor.act(`/users/${id}/activate`, {}), /grace is active/);
      assert.equal((await visitor.tenant.make('GET', `/users/${id}`))['state'], 'active');
    });

    it('a refused form keeps what was typed and says which field', async () => {
      const text = await textOf(
        await visitor.submit('/clients', {
          name: 'Typed name',
          type: 'confidential',
          token_endpoint_auth_method: 'client_secret_basic',
          redirect_uris: 'not a uri',
          grant_types: 'authorization_code',
          access_policy: 'everyone',
        }),
        400,
      );
      assert.match(text, /redirect_uris/);
      assert.match(text, /value="Typed name"/);
      assert.match(text, /not a uri/);
    });

    it('overview: who said twice that sign-ins were not theirs, for a day', async () => {
      assert.doesNotMatch(await textOf(await visitor.page(''), 200), /id="blocked"/);
      const { services } = server.gatehouse;
      const record = (target: string, atMs = server.clock.nowMs()) =>
        services.database.write(visitor.tenant.id as TenantId, (queries) =>
          insertAuditEvent(queries, visitor.tenant.id as TenantId, atMs, { type: 'user.sign_ins_blocked', target }),
        );
      await record('user:a', server.clock.nowMs() - 24 * 3_600_000 - 1000);
      assert.doesNotMatch(await textOf(await visitor.page(''), 200), /id="blocked"/);
      for (const target of ['user:a', 'user:a']) await record(target);
      assert.match(await textOf(await visitor.page(''), 200), /id="blocked">One person has said twice/);
      await record('user:b');
      assert.match(
        await textOf(await visitor.page(''), 200),
        /2 people have said twice.*href="[^"]*\/events\?type=user\.sign_ins_blocked"/,
      );
    });

    it('a person: under attack by strangers, for an hour after the record', async () => {
      const { id } = await visitor.tenant.make<{ id: string }>('POST', '/users', { user_name: 'attacked' });
      const page = async () => textOf(await visitor.page(`/users/${id}`), 200);
      assert.match(await page(), /<dt>Under attack<\/dt><dd>no<\/dd>/);
      const tenantId = visitor.tenant.id as TenantId;
      const record = { type: 'sign_in.attacked', target: `user:${id}`, data: { asked: 'codes', from: '203.0.113.1' } } as const;
      await server.gatehouse.services.database.write(tenantId, (queries) =>
        insertAuditEvent(queries, tenantId, server.clock.nowMs(), record),
      );
      assert.match(await page(), /<dt>Under attack<\/dt><dd>[^\n]*strangers[^\n]*Let me in somewhere new/);
    });

    it('keys rotate, and Explain shows why a request was refused', async () => {
      const key = { use: 'oidc', alg: 'ES256' };
      assert.match(await textOf(await visitor.submit('/signing-keys', key), 200), /Rotate the oidc ES256 key\?/);
      assert.match(await visitor.act('/signing-keys', { ...key, sure: 'yes' }), /The next oidc ES256 key signs from now on/);
      const refused = await fetch(`${visitor.tenant.baseUrl}/v1/idp/oidc/token`, {
        method: 'POST',
        body: new URLSearchParams({ grant_type: 'client_credentials', client_id: 'nobody', client_secret: 'x' }),
      });
      const id = refused.headers.get('x-request-id') ?? '';
      const text = await textOf(await visitor.page(`/explain?request_id=${id}`), 200);
      for (const part of ['401, section 7.11 of the contract', 'client.invalid_client', 'unknown_client', 'nobody'])
        assert.ok(text.includes(part), part);
      assert.match(await textOf(await visitor.page('/explain?request_id=unknown'), 400), /Nothing is recorded/);
    });

    it('forged posts: a wrong token, none, a foreign origin', async () => {
      for (const changes of [{ csrf: 'wrong' }, { csrf: '' }, { origin: 'https://evil.example' }]) {
        const response = await visitor.submit('/users', { user_name: 'forged' }, changes);
        assert.equal(response.status, 403, JSON.stringify(changes));
      }
      const list = await visitor.tenant.make<{ items: readonly { user_name: string }[] }>('GET', '/users');
      assert.ok(list.items.every((user) => user.user_name !== 'forged'));
    });

    it('markup in any name stays text', async () => {
      const markup = `"><img src=x onerror=alert(1)><script>alert(2)</script>'`;
      await visitor.tenant.make('POST', '/groups', { display_name: markup });
      await visitor.tenant.make('POST', '/clients', {
        name: markup,
        type: 'confidential',
        token_endpoint_auth_method: 'client_secret_basic',
      });
      for (const path of [
        '/groups',
        '/clients',
        '/events',
        '/explain',
        `/explain?request_id=${encodeURIComponent(markup)}`,
        `/events?type=${encodeURIComponent(markup)}`,
      ]) {
        const text = await (await visitor.page(path)).text();
        assert.doesNotMatch(withoutOwnScript(text), /<img|<script/, path);
      }
    });

    it('a person who is no administrator is told so; the administrator of another tenant is nobody here', async () => {
      const other = await createConsoleTenant(server, { role: 'user' });
      const { callback, first, visitor: guest } = await openConsole(server, other.tenant, other.email);
      assert.equal(callback.status, 303);
      assert.equal(first.status, 403);
      assert.match(first.text, /This console is for administrators/);
      assert.doesNotMatch(first.text, /<nav/);
      assert.equal((await guest.page('')).status, 303); // the refusal ended the session: sign in again
      const foreign = await fetch(`${other.tenant.baseUrl}/console`, {
        redirect: 'manual',
        headers: { cookie: visitor.cookie().replaceAll(visitor.tenant.slug, other.tenant.slug) },
      });
      assert.equal(foreign.status, 303);
    });

    it('signing out revokes the grant and forgets the session', async () => {
      const { tenant, email } = await createConsoleTenant(server);
      const { visitor: leaving } = await openConsole(server, tenant, email);
      const stolen = leaving.cookie();
      assert.match(await textOf(await leaving.submit('/sign-out', {}), 200), /Signed out/);
      assert.equal((await leaving.page('')).status, 303);
      const replayed = await fetch(`${tenant.baseUrl}/console`, { redirect: 'manual', headers: { cookie: stolen } });
      assert.equal(replayed.status, 403);
    });
  });
}
