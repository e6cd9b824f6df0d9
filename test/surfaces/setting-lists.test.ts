// `POST /settings/lists`: words come into lists of the settings and go, each change by itself, so that nobody writes over what others added.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { clientHostsMax } from '../../src/domain/client/stranger.ts';
import { databases } from '../support/databases.ts';
import { clientCredentialsToken, createTestTenant, type Json, type Managed, managedWith } from '../support/management.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

for (const database of databases)
  describe(`lists of the settings on ${database}`, () => {
    let server: TestServer;
    let tenant: Managed;
    before(async () => {
      server = await startTestServer(database);
      tenant = await createTestTenant(server);
    });
    after(() => server.close());
    const change = (body: Json): Promise<Json> => tenant.make('POST', '/settings/lists', body);
    const hostsOf = (settings: Json): Json => settings['client_hosts'] as Json;
    const trust = (...words: readonly string[]): Json => ({ client_hosts: { trusted: words } });

    it('words go, then others come to the end; each once, and what is not named stays', async () => {
      await tenant.make('PATCH', '/settings', { client_hosts: { trusted: ['a.example', 'b.example'], only_trusted: true } });
      const add = { ...trust('c.example', 'a.example', 'c.example'), extra_grants: ['registration'] };
      const settings = await change({ add, remove: trust('b.example', 'x.example') });
      assert.deepEqual(hostsOf(settings), { trusted: ['a.example', 'c.example'], blocked: [], only_trusted: true });
      assert.deepEqual(settings['extra_grants'], ['registration']);
      assert.deepEqual(hostsOf(await change({ remove: trust('c.example'), add: trust('c.example') }))['trusted'], [
        'a.example',
        'c.example',
      ]);
      assert.deepEqual(await tenant.make('GET', '/settings'), await change({}));
      await tenant.make('PATCH', '/settings', { client_hosts: { trusted: [], only_trusted: false }, extra_grants: [] });
    });

    it('of many at the same moment none is lost', async () => {
      const words = Array.from({ length: 20 }, (_, at) => `host-${String(at).padStart(2, '0')}.example`);
      await Promise.all(words.map((word) => change({ add: trust(word) })));
      assert.deepEqual([...(hostsOf(await tenant.make('GET', '/settings'))['trusted'] as string[])].toSorted(), words);
      await Promise.all(words.map((word) => change({ remove: trust(word), add: { client_hosts: { blocked: [word] } } })));
      const { trusted, blocked } = hostsOf(await tenant.make('GET', '/settings')) as Readonly<Record<string, string[]>>;
      assert.deepEqual([trusted, blocked!.toSorted()], [[], words]);
      await tenant.make('PATCH', '/settings', { client_hosts: { blocked: [] } });
    });

    it('a list has as many words as by PATCH, and one that may not be empty keeps one', async () => {
      const words = Array.from({ length: clientHostsMax }, (_, at) => `h${at}.example`);
      await tenant.make('PATCH', '/settings', { client_hosts: { trusted: words.slice(1) } });
      assert.equal((hostsOf(await change({ add: trust(words[0]!) }))['trusted'] as string[]).length, clientHostsMax);
      const over = await tenant.call('POST', '/settings/lists', { add: trust('more.example') });
      assert.deepEqual([over.status, ((await over.json()) as Json)['kind']], [400, 'client_hosts.trusted']);
      assert.ok((await change({ remove: trust(words[5]!), add: trust('more.example') }))['client_hosts']); // one for another
      await tenant.make('PATCH', '/settings', { login_methods: ['email_pin'] });
      const none = await tenant.call('POST', '/settings/lists', { remove: { login_methods: ['email_pin'] } });
      assert.deepEqual([none.status, ((await none.json()) as Json)['kind']], [400, 'login_methods']);
      await tenant.make('PATCH', '/settings', { client_hosts: { trusted: [] } });
    });

    it('what is no list, no word of it or not known is refused, and nothing changes', async () => {
      const was = await tenant.make('GET', '/settings');
      for (const body of [
        { add: { client_hosts: { only_trusted: true } } },
        { add: { access_token_lifetime_seconds: 60 } },
        { add: { client_hosts: { trusted: 'a.example' } } },
        { add: { client_hosts: { trusted: [7] } } },
        { add: { client_hosts: null } },
        { add: trust('https://a.example/') },
        { add: { extra_grants: ['password'] } },
        { add: null },
        { set: {} },
        [],
        null,
      ])
        assert.equal((await tenant.call('POST', '/settings/lists', body)).status, 400, JSON.stringify(body));
      assert.deepEqual(await tenant.make('GET', '/settings'), was);
    });

    it('each list takes the capability that a PATCH of it takes', async () => {
      const { adminClientId: id, adminClientSecret: secret, baseUrl } = tenant;
      const asWhom = async (scope: string): Promise<Managed> =>
        managedWith(await clientCredentialsToken(baseUrl, id, secret, scope), tenant);
      const signIn = await asWhom('sign-in:write');
      const administrators = await asWhom('sign-in:write administrators:write');
      for (const [whose, body, status] of [
        [signIn, { add: trust('a.example') }, 200],
        [signIn, { add: { administrator_providers: ['acme'] } }, 403],
        [signIn, { remove: { administrator_providers: ['acme'] } }, 403],
        [administrators, { add: { administrator_providers: ['acme'] } }, 403], // naming one takes everything
        [await asWhom('settings:write'), { add: trust('b.example') }, 403],
        [await asWhom('settings:read sign-in:read users:write'), { add: trust('b.example') }, 403],
      ] as const)
        assert.equal((await whose.call('POST', '/settings/lists', body)).status, status, JSON.stringify(body));
      await change({ remove: trust('a.example') });
    });
  });
