// The console over HTTP: who gets in, what its forms do through the Management API, and what forged ones do not.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { createConsoleTenant, openConsole } from '../support/console.ts';
import { databases } from '../support/databases.ts';
import type { AppVisitor } from '../support/own-app.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

const pages = [
  '',
  '/clients',
  '/clients/new',
  '/resources',
  '/users',
  '/users/new',
  '/groups',
  '/service-providers',
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

    it('a client: created with its secret shown once, changed, given a new secret, deleted after a question', async () => {
      const created = await textOf(
        await visitor.submit('/clients', {
          name: 'Shop',
          type: 'confidential',
          token_endpoint_auth_method: 'client_secret_basic',
          redirect_uris: 'https://shop.example/cb',
          grant_types: 'authorization_code',
          scopes: 'openid\nprofile',
          access_policy: 'everyone',
          enabled: 'on',
        }),
        200,
      );
      assert.match(created, /client_secret: [A-Za-z0-9_-]{43}/);
      const id = /<dt>client_id<\/dt><dd><code>([^<]+)/.exec(created)?.[1] ?? '';
      const changed = await visitor.submit(`/clients/${id}`, {
        name: 'Shop 2',
        redirect_uris: 'https://shop.example/cb\nhttps://shop.example/cb2',
        grant_types: 'authorization_code',
        scopes: 'openid',
        access_policy: 'assigned',
        enabled: 'on',
      });
      assert.equal(changed.status, 303);
      const client = await visitor.tenant.make('GET', `/clients/${id}`);
      assert.deepEqual(
        [client['name'], client['redirect_uris'], client['access_policy']],
        ['Shop 2', ['https://shop.example/cb', 'https://shop.example/cb2'], 'assigned'],
      );
      assert.match(await textOf(await visitor.submit(`/clients/${id}/secret`, {}), 200), /Make a new secret\?/);
      assert.match(await textOf(await visitor.submit(`/clients/${id}/secret`, { sure: 'yes' }), 200), /client_secret: [A-Za-z0-9_-]{43}/);
      assert.match(await textOf(await visitor.submit(`/clients/${id}/delete`, {}), 200), /Delete this client\?/);
      assert.equal((await visitor.submit(`/clients/${id}/delete`, { sure: 'yes' })).status, 303);
      assert.equal((await visitor.tenant.call('GET', `/clients/${id}`)).status, 404);
    });

    it('a user: created, suspended, activated', async () => {
      const created = await textOf(
        await visitor.submit('/users', {
          user_name: 'grace',
          email_list: 'grace@x.example\ng2@x.example',
          'name.given_name': 'Grace',
          role: 'user',
        }),
        200,
      );
      const id = /<dt>id<\/dt><dd><code>([^<]+)/.exec(created)?.[1] ?? '';
      assert.match(await textOf(await visitor.submit(`/users/${id}/suspend`, {}), 200), /Suspend\?/);
      assert.equal((await visitor.tenant.make('GET', `/users/${id}`))['state'], 'active');
      assert.match(await textOf(await visitor.submit(`/users/${id}/suspend`, { sure: 'yes' }), 200), /Activate/);
      assert.equal((await visitor.tenant.make('GET', `/users/${id}`))['state'], 'suspended');
      await textOf(await visitor.submit(`/users/${id}/activate`, {}), 200);
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

    it('settings: a value within its bounds is saved, one outside is refused and nothing changes', async () => {
      const before = await visitor.tenant.make('GET', '/settings');
      const form = await textOf(await visitor.page('/settings'), 200);
      const fields = fieldsOf(form);
      assert.equal((await visitor.submit('/settings', { ...fields, access_token_lifetime_seconds: '600' })).status, 303);
      assert.deepEqual(await visitor.tenant.make('GET', '/settings'), { ...before, access_token_lifetime_seconds: 600 });
      await textOf(await visitor.submit('/settings', { ...fields, access_token_lifetime_seconds: '0' }), 400);
      assert.deepEqual(await visitor.tenant.make('GET', '/settings'), { ...before, access_token_lifetime_seconds: 600 });
    });

    it('keys rotate, and Explain shows why a request was refused', async () => {
      const key = { use: 'oidc', alg: 'ES256' };
      assert.match(await textOf(await visitor.submit('/signing-keys', key), 200), /Rotate the oidc ES256 key\?/);
      const rotated = await visitor.submit('/signing-keys', { ...key, sure: 'yes' });
      assert.equal(rotated.headers.get('location'), `${new URL(visitor.tenant.baseUrl).pathname}/console/signing-keys?done=rotated`);
      assert.match(await textOf(await visitor.page('/signing-keys?done=rotated'), 200), /The next key signs from now on/);
      const refused = await fetch(`${visitor.tenant.baseUrl}/v1/idp/oidc/token`, {
        method: 'POST',
        body: new URLSearchParams({ grant_type: 'client_credentials', client_id: 'nobody', client_secret: 'x' }),
      });
      const id = refused.headers.get('x-request-id') ?? '';
      const text = await textOf(await visitor.page(`/explain?request_id=${id}`), 200);
      for (const part of ['client.invalid_client (7.11): 401 invalid_client', 'unknown_client', 'nobody'])
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
        assert.doesNotMatch(text, /<img|<script/, path);
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

/** The fields of a settings form as a browser would send them. */
function fieldsOf(form: string): Readonly<Record<string, string>> {
  const decode = (text: string): string => text.replace(/&#(\d+);/g, (_match, code: string) => String.fromCharCode(Number(code)));
  const fields: Record<string, string> = {};
  for (const [, type, name, rest] of form.matchAll(/<input type="(number|text|checkbox)" name="([^"]+)"([^>]*)>/g)) {
    if (type === 'checkbox') {
      if (rest!.includes(' checked')) fields[name!] = 'on';
    } else fields[name!] = decode(/value="([^"]*)"/.exec(rest!)?.[1] ?? '');
  }
  for (const [, name, text] of form.matchAll(/<textarea name="([^"]+)"[^>]*>\n([^<]*)<\/textarea>/g)) fields[name!] = decode(text!);
  return fields;
}
