// What the console must never do: take a forged form, be framed, show or change anything of another
// tenant, or grow. Every page and every form, on both databases.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { createConsoleTenant, openConsole } from '../support/console.ts';
import { actingForms, askingForms, type ConsoleIds, fillTenant, pagesOf, plainPages, withoutOwnScript } from '../support/console-pages.ts';
import { databases } from '../support/databases.ts';
import type { AppVisitor } from '../support/first-party-app.ts';
import type { Managed } from '../support/management.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

const pageBytesMax = 60_000;
const scriptBytesMax = 6_000;
const unknownIds = (): ConsoleIds => {
  const names = [
    'client',
    'webhook',
    'connector',
    'directory',
    'entry',
    'resource',
    'issuer',
    'user',
    'group',
    'provider',
    'device',
    'key',
    'passkey',
    'session',
    'clientAssignment',
    'providerAssignment',
  ];
  return Object.fromEntries(names.map((name) => [name, randomUUID()])) as unknown as ConsoleIds; // one id a member
};

for (const database of databases) {
  describe(`console safety on ${database}`, () => {
    let server: TestServer;
    let visitor: AppVisitor;
    let own: ConsoleIds;
    let other: Managed;
    let foreign: ConsoleIds;
    before(async () => {
      server = await startTestServer(database);
      const { tenant, email } = await createConsoleTenant(server);
      ({ visitor } = await openConsole(server, tenant, email));
      own = await fillTenant(server, tenant, 'Plain name');
      other = (await createConsoleTenant(server)).tenant;
      foreign = await fillTenant(server, other, 'Name of another');
    });
    after(() => server.close());

    const snapshot = async (tenant: Managed): Promise<string> => {
      const paths = [
        '/clients',
        '/resources',
        '/workload-issuers',
        '/organizations',
        '/users',
        '/groups',
        '/service-providers',
        '/signing-keys',
        '/settings',
      ];
      // When a client was last used is written a moment after its token.
      const text = (key: string, value: unknown): unknown => (key === 'last_used_at' ? undefined : value);
      return (await Promise.all(paths.map(async (path) => JSON.stringify(await tenant.make('GET', path), text)))).join('\n');
    };

    it('every page: policy, no framing, one script of ours, no address elsewhere, under 60 kB', async () => {
      for (const path of [...plainPages, ...pagesOf(own)]) {
        // What managers see is shown as it is to them, by the account page's frame, which has no script.
        const isView = /^\/organizations\/[^/]+\/view/.test(path);
        const response = await visitor.page(path);
        const sent = await response.text();
        const text = withoutOwnScript(sent);
        assert.equal(response.status, path === '/roles/new' ? 403 : 200, path); // which `admin` does not make
        assert.ok(sent.length - text.length < scriptBytesMax, path);
        assert.equal(sent === text, isView, path);
        const policy = response.headers.get('content-security-policy') ?? '';
        assert.match(policy, /default-src 'none'.*frame-ancestors 'none'/, path);
        assert.doesNotMatch(policy, /unsafe/, path);
        const scripts = isView ? undefined : `'nonce-${/<script nonce="([^"]+)"/.exec(sent)?.[1]}'`;
        assert.equal(/script-src ([^;]+);/.exec(policy)?.[1], scripts, path);
        assert.equal(response.headers.get('x-frame-options'), 'DENY', path);
        assert.equal(response.headers.get('cache-control'), 'no-store', path);
        assert.ok(Buffer.byteLength(sent) < pageBytesMax, `${path}: ${Buffer.byteLength(sent)} bytes`);
        // Previews are pages of the console itself, in a sandbox in which no script runs.
        const unframed = text.replaceAll(
          /<iframe title="Preview, \w+" sandbox="allow-same-origin" src="\/t\/[^"]*\/preview(?:\?[^"]*)?"><\/iframe>/g,
          '',
        );
        assert.doesNotMatch(unframed, /<script|<iframe|\sstyle=|\son[a-z]+=/, path);
        for (const [, address] of text.matchAll(/(?:src|href|action)="([^"]*)"/g))
          assert.match(address!, /^(?:\/t\/|(?:\.\.\/)+v1\/idp\/|#(?:content|menu)$|\/docs(?:\/how-to\/[a-z-]+)?$|data:,$)/, path);
      }
    });

    it('forged forms do nothing: a wrong token, none, a foreign origin', async () => {
      const before = await snapshot(visitor.tenant);
      const forms = [
        ...askingForms(own),
        ...actingForms(own),
        '/clients',
        '/users',
        '/resources/mcp-server',
        `/resources/${own.resource}/start`,
        '/clients/machine?platform=github',
        `/clients/${own.client}/start`,
        '/scim',
        '/scim/test',
        '/settings/tokens',
        '/signing-keys',
        '/sign-out',
      ];
      for (const path of forms)
        for (const changes of [{ csrf: 'wrong' }, { csrf: '' }, { origin: 'https://evil.example' }, { origin: 'null' }]) {
          const response = await visitor.submit(
            path,
            { sure: 'yes', name: 'forged', user_name: 'forged', display_name: 'forged' },
            changes,
          );
          assert.equal(response.status, 403, `${path} ${JSON.stringify(changes)}`);
        }
      assert.equal(await snapshot(visitor.tenant), before);
    });

    it('what is asked first is not done before the answer', async () => {
      const before = await snapshot(visitor.tenant);
      for (const path of askingForms(own)) {
        const response = await visitor.submit(path, {});
        assert.equal(response.status, 200, path);
        assert.match(await response.text(), /id="sure"/, path);
      }
      assert.equal(await snapshot(visitor.tenant), before);
      const { items } = await visitor.tenant.make<{ items: readonly { state: string }[] }>('GET', `/users/${own.user}/devices`);
      assert.equal(items[0]?.state, 'active');
    });

    it('ids of another tenant are answered as unknown ids are, and nothing of it changes', async () => {
      const before = await snapshot(other);
      const unknown = unknownIds();
      const shape = async (response: Response, ids: ConsoleIds): Promise<string> => {
        let text = await response.text();
        for (const id of Object.values(ids)) text = text.replaceAll(id, '<id>');
        return `${response.status} ${response.headers.get('location') ?? ''} ${text.replace(/nonce="[^"]+"|name="csrf" value="[^"]+"/g, '')}`;
      };
      for (const [index, path] of pagesOf(foreign).entries()) {
        const found = await shape(await visitor.page(path), foreign);
        assert.match(found, /^404 /, path);
        assert.equal(found, await shape(await visitor.page(pagesOf(unknown)[index]!), unknown), path);
      }
      const forms = (ids: ConsoleIds): readonly string[] => [...askingForms(ids), ...actingForms(ids)];
      for (const [index, path] of forms(foreign).entries()) {
        const fields = { sure: 'yes', user_id: own.user, display_name: 'x', name: 'x' };
        const found = await shape(await visitor.submit(path, fields), foreign);
        assert.doesNotMatch(found, /^(?:200|303) /, path);
        assert.equal(found, await shape(await visitor.submit(forms(unknown)[index]!, fields), unknown), path);
      }
      for (const [path, field] of [
        [`/groups/${own.group}/members`, foreign.user],
        [`/clients/${own.client}/access`, foreign.user],
      ] as const)
        assert.equal((await visitor.submit(path, { user_id: field })).status, 400, path);
      for (const path of [
        `/users/${own.user}/devices/${foreign.device}/revoke`,
        `/users/${own.user}/passkeys/${foreign.passkey}/revoke`,
        `/users/${own.user}/sessions/${foreign.session}/end`,
        `/clients/${own.client}/access/${foreign.clientAssignment}/remove`,
        `/groups/${own.group}/members/${foreign.user}/remove`,
      ])
        assert.equal((await visitor.submit(path, { sure: 'yes' })).status, 404, path);
      assert.equal(await snapshot(other), before);
      const devices = await other.make<{ items: readonly { state: string }[] }>('GET', `/users/${foreign.user}/devices`);
      assert.equal(devices.items[0]?.state, 'active');
      const sessions = await other.make<{ items: readonly unknown[] }>('GET', `/users/${foreign.user}/sessions`);
      assert.equal(sessions.items.length, 1);
    });

    it('the tenants of the deployment are no page of any tenant but the root', async () => {
      for (const path of ['/tenants', '/tenants/new', `/tenants/${other.id}`]) assert.equal((await visitor.page(path)).status, 404, path);
      for (const path of ['/tenants', `/tenants/${other.id}`, `/tenants/${other.id}/disable`, `/tenants/${other.id}/delete`])
        assert.equal((await visitor.submit(path, { sure: 'yes', slug: 'x', name: 'x', typed: other.slug })).status, 404, path);
      assert.equal((await other.call('GET', '/settings')).status, 200);
    });
  });
}
