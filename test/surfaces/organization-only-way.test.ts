// No write leaves an organisation whose people sign in by its own providers alone without one that is on, whoever writes what, and however
// many at once: nobody could sign in for it. What was so before is mended.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { readDeclarations } from '../../src/administration/declaration/reader.ts';
import { openSession, reconcile } from '../../src/administration/declaration/reconcile.ts';
import type { TenantId } from '../../src/domain/ids.ts';
import { textOf } from '../support/account.ts';
import { openBrowser } from '../support/browser.ts';
import { databases } from '../support/databases.ts';
import { createTestTenant, type Json, jsonOf, type Managed } from '../support/management.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

for (const database of databases)
  describe(`the only way into an organisation on ${database}`, () => {
    let server: TestServer;
    let tenant: Managed;
    let made = 0;
    before(async () => {
      server = await startTestServer(database);
      tenant = await createTestTenant(server);
    });
    after(() => server.close());
    const slug = (): string => {
      made += 1;
      return `way-${made}`;
    };
    const provider = async (): Promise<Json> => {
      const alias = slug();
      const said = { alias, kind: 'oidc', name: alias, issuer: `https://${alias}.example`, client_id: 'x' };
      return tenant.make('POST', '/identity-providers', said);
    };
    const organization = async (providers: readonly Json[], fields: Json = {}): Promise<Json> =>
      tenant.make('POST', '/organizations', {
        name: slug(),
        identity_providers: providers.map(({ alias }) => alias),
        sign_in: 'own_providers',
        ...fields,
      });
    const change = (one: Json, fields: Json): Promise<Response> => tenant.call('PATCH', `/identity-providers/${String(one['id'])}`, fields);
    const remove = (one: Json): Promise<Response> => tenant.call('DELETE', `/identity-providers/${String(one['id'])}`);
    const say = ({ id }: Json, fields: Json): Promise<Response> => tenant.call('PATCH', `/organizations/${String(id)}`, fields);
    const refusalOf = async (answer: Response): Promise<unknown> => {
      const { kind, message } = await jsonOf(answer, 409);
      assert.match(String(message), /by its own providers alone/);
      return kind;
    };
    /** Whether nobody can sign in for one. */
    const isShut = async ({ id }: Json): Promise<boolean> => {
      const { sign_in, identity_providers: named } = await tenant.make('GET', `/organizations/${String(id)}`);
      const { items } = await tenant.make<{ items: readonly Json[] }>('GET', '/identity-providers?limit=200');
      const own = named as readonly unknown[];
      return sign_in === 'own_providers' && !items.some(({ alias, enabled }) => enabled === true && own.includes(alias));
    };
    /** As a release before left it. */
    const shut = ({ alias }: Json): Promise<unknown> =>
      server.gatehouse.services.cache.write(tenant.id as TenantId, (queries) =>
        queries
          .updateTable('identity_providers')
          .set({ enabled: 0 })
          .where('tenant_id', '=', tenant.id as TenantId)
          .where('alias', '=', String(alias))
          .execute(),
      );
    const apply = async (document: readonly string[], prune = false) => {
      const { services } = server.gatehouse;
      const session = await openSession(services, (await services.tenants.bySlug(tenant.slug))!, { actor: 'operator' });
      return reconcile(session, readDeclarations(['gatehouse: 1', ...document]), { write: true, prune });
    };
    const declared = ({ alias }: Json, more = ''): string =>
      `  - { alias: ${String(alias)}, kind: oidc, name: A, issuer: 'https://${String(alias)}.example', client_id: x${more} }`;
    const isOn = async ({ id }: Json): Promise<unknown> => {
      const response = await tenant.call('GET', `/identity-providers/${String(id)}`);
      return response.status === 200 && (await jsonOf(response, 200))['enabled'];
    };

    it('it is refused, says why, and leaves no record; with another way it is done', async () => {
      const only = await provider();
      const acme = await organization([only]);
      const refusals = [await jsonOf(await change(only, { enabled: false, name: 'Other' }), 409), await jsonOf(await remove(only), 409)];
      assert.deepEqual(
        refusals.map(({ kind, message }) => [kind, String(message).includes(`${String(acme['name'])} by its own providers alone`)]),
        [
          ['enabled', true],
          ['alias', true],
        ],
      );
      assert.equal(await isOn(only), true);
      const { items } = await tenant.make<{ items: readonly Json[] }>('GET', `/events?target=identity_provider:${String(only['id'])}`);
      assert.deepEqual(
        items.map(({ type }) => type),
        ['identity_provider.created'],
      );
      assert.equal((await change(only, { name: 'Still on' })).status, 200);
      await tenant.make('PATCH', `/organizations/${String(acme['id'])}`, { sign_in: 'any' });
      assert.equal((await change(only, { enabled: false })).status, 200);
      assert.equal((await say(acme, { sign_in: 'own_providers' })).status, 409);
      assert.equal((await remove(only)).status, 204, 'nobody comes by one that is off');
      assert.equal((await say(acme, { sign_in: 'own_providers' })).status, 409);
    });

    it('one of several may go, until the last; another organisation’s and the tenant’s own are no way in', async () => {
      const [one, two, three] = [await provider(), await provider(), await provider()];
      await provider();
      await organization([await provider()]);
      await organization([one, two, three]);
      assert.equal((await change(one, { enabled: false })).status, 200);
      assert.equal((await remove(two)).status, 204);
      assert.equal((await change(three, { enabled: false })).status, 409);
      assert.equal((await remove(three)).status, 409);
      assert.equal((await change(one, { enabled: true })).status, 200);
      assert.equal((await change(three, { enabled: false })).status, 200);
      assert.equal((await remove(three)).status, 204);
    });

    it('of all that are turned off or deleted at once one stays, also while the organisation is changed', async () => {
      for (let round = 0; round < 4; round += 1) {
        const all = [await provider(), await provider(), await provider()];
        const acme = await organization(all);
        const answers = await Promise.all([
          ...all.map((one, at) => (at === round % 3 ? remove(one) : change(one, { enabled: false }))),
          tenant.call('PATCH', `/organizations/${String(acme['id'])}`, { display_name: 'Acme' }),
        ]);
        const statuses = answers.map(({ status }) => status);
        assert.deepEqual(statuses.filter((status) => status === 409).length, 1, statuses.join(' '));
        assert.ok(
          statuses.every((status) => [200, 204, 409].includes(status)),
          statuses.join(' '),
        );
        const on = await Promise.all(all.map(isOn));
        assert.equal(on.filter((state) => state === true).length, 1);
      }
    });

    it('an organisation does not ask for its own providers while none is on, nor drops the last; it says so and leaves no record', async () => {
      const [off, on, another] = [await provider(), await provider(), await provider()];
      await change(off, { enabled: false });
      await organization([another]);
      for (const fields of [{}, { identity_providers: [] }, { identity_providers: [off['alias']] }]) {
        const name = slug();
        assert.equal(
          await refusalOf(await tenant.call('POST', '/organizations', { name, sign_in: 'own_providers', ...fields })),
          'sign_in',
        );
        const { items } = await tenant.make<{ items: readonly Json[] }>('GET', `/organizations?search=${name}`);
        assert.deepEqual(items, []);
      }
      const acme = await organization([off], { sign_in: 'any' });
      assert.equal(await refusalOf(await say(acme, { sign_in: 'own_providers', display_name: 'Other' })), 'sign_in');
      await jsonOf(await say(acme, { identity_providers: [off['alias'], on['alias']], sign_in: 'own_providers' }), 200);
      for (const identity_providers of [[], [off['alias']]])
        assert.equal(await refusalOf(await say(acme, { identity_providers })), 'identity_providers');
      assert.equal(await isOn(on), true, 'what is dropped by a write that is refused is not turned off');
      const { items } = await tenant.make<{ items: readonly Json[] }>('GET', `/events?target=organization:${String(acme['id'])}`);
      assert.deepEqual(
        items.map(({ type }) => type),
        ['organization.updated', 'organization.created'],
      );
      await jsonOf(await say(acme, { identity_providers: [off['alias']], sign_in: 'any' }), 200);
      assert.equal(await isOn(on), false);
    });

    it('what is shut from before takes every change that makes it no worse, and is not shut again once it is mended', async () => {
      const [one, two] = [await provider(), await provider()];
      const acme = await organization([one, two]);
      await shut(one);
      await shut(two);
      assert.equal(await isShut(acme), true);
      const changes = [{ display_name: 'Acme' }, { enabled: false }, { enabled: true }, { identity_providers: [two['alias']] }];
      for (const fields of changes) await jsonOf(await say(acme, fields), 200);
      assert.equal((await change(two, { name: 'Still off', enabled: false })).status, 200);
      assert.equal((await remove(one)).status, 204);
      assert.equal((await change(two, { enabled: true })).status, 200);
      assert.equal((await change(two, { enabled: false })).status, 409);
      assert.equal(await refusalOf(await say(acme, { identity_providers: [] })), 'identity_providers');
      await shut(two);
      await jsonOf(await say(acme, { sign_in: 'any' }), 200);
      assert.equal(await refusalOf(await say(acme, { sign_in: 'own_providers' })), 'sign_in');
      assert.equal((await tenant.call('DELETE', `/organizations/${String(acme['id'])}`)).status, 204);
    });

    it('whatever is written at once, to the organisation and to providers that are its own or become it, none is shut', async () => {
      for (let round = 0; round < 6; round += 1) {
        const [one, two, three] = [await provider(), await provider(), await provider()];
        const acme = await organization([one, two], { sign_in: round % 2 === 0 ? 'any' : 'own_providers' });
        const answers = await Promise.all([
          change(one, { enabled: false }),
          say(acme, { sign_in: 'own_providers', identity_providers: [three['alias'], one['alias']] }),
          round % 3 === 0 ? remove(two) : change(two, { enabled: false }),
          round % 3 === 1 ? remove(three) : change(three, { enabled: false }),
          say(acme, { identity_providers: [two['alias']] }),
          say(acme, { sign_in: 'own_providers' }),
        ]);
        const statuses = answers.map(({ status }) => status);
        // 503: two that wait for one another, of which one is asked to come again.
        assert.ok(
          statuses.every((status) => [200, 204, 400, 404, 409, 503].includes(status)),
          statuses.join(' '),
        );
        assert.equal(await isShut(acme), false, statuses.join(' '));
      }
    });

    it('asked for by a set-up link while somebody turns its provider off, one of the two is refused', async () => {
      const { id } = await tenant.make<{ id: string }>('POST', '/organizations', { name: slug() });
      const { setup_url: url } = await tenant.make('POST', `/organizations/${id}/setup-links`, {});
      const [page, token] = String(url).split('#');
      const browser = openBrowser();
      assert.equal((await browser.send(page!, { method: 'POST', body: new URLSearchParams({ token: token! }) })).status, 303);
      const at = `${tenant.baseUrl}/organization-setup/steps`;
      const csrf = /name="csrf" value="([^"]+)"/.exec(await textOf(await browser.send(at), 200))?.[1] ?? '';
      const act = (path: string, fields: Readonly<Record<string, string>>): Promise<Response> =>
        browser.send(`${at}${path}`, { method: 'POST', body: new URLSearchParams({ csrf, ...fields }) });
      const connect = { kind: 'oidc', issuer: 'https://login.acme.example', client_id: 'shop' };
      assert.equal((await act('/provider', connect)).status, 303);
      const { identity_providers: named } = await tenant.make('GET', `/organizations/${id}`);
      const [alias] = named as readonly string[];
      const { items } = await tenant.make<{ items: readonly Json[] }>('GET', `/identity-providers?search=${alias}`);
      const own = items[0]!;
      for (let round = 0; round < 4; round += 1) {
        assert.equal((await act('/rule', { rule: 'any' })).status, 303);
        assert.equal((await change(own, { enabled: true })).status, 200);
        const [asked, off] = await Promise.all([act('/rule', { rule: 'own_providers' }), change(own, { enabled: false })]);
        assert.deepEqual([asked.status, off.status].filter((status) => status === 409).length, 1, `${asked.status} ${off.status}`);
        assert.equal(await isShut({ id }), false);
      }
    });

    it('turned off and dropped by its organisation at once, neither waits for the other in a circle', async () => {
      for (let round = 0; round < 4; round += 1) {
        const [one, two] = [await provider(), await provider()];
        const acme = await organization([one, two]);
        const answers = await Promise.all([
          change(one, { enabled: false }),
          tenant.call('PATCH', `/organizations/${String(acme['id'])}`, { identity_providers: [two['alias']] }),
          tenant.call('PATCH', `/organizations/${String(acme['id'])}`, { identity_providers: [two['alias'], one['alias']] }),
        ]);
        for (const { status } of answers) assert.ok([200, 409].includes(status), String(status));
        assert.equal(await isOn(two), true);
      }
    });

    it('a document that leaves the only one out is refused; an organisation that goes takes its providers along', async () => {
      const of = tenant;
      tenant = await createTestTenant(server);
      try {
        const only = await provider();
        const other = await provider();
        const acme = await organization([only]);
        await assert.rejects(apply(['identity_providers:', declared(other)], true), /that is on, or sign_in any/);
        assert.equal(await isOn(only), true);
        assert.equal((await tenant.call('DELETE', `/organizations/${String(acme['id'])}`)).status, 204);
        assert.equal(await isOn(only), false);
        assert.equal((await tenant.call('GET', `/identity-providers/${String(only['id'])}`)).status, 404);
      } finally {
        tenant = of;
      }
    });

    it('a document that closes the only way leaves that out, and is followed where it opens another', async () => {
      const [only, other] = [await provider(), await provider()];
      const acme = await organization([only]);
      const name = String(acme['name']);
      const off = declared(only, ', enabled: false');
      const { conflicts, updated } = await apply(['identity_providers:', off, declared(other)]);
      assert.deepEqual(
        conflicts.map(({ path, title, text }) => [path, title, /by its own providers alone/.test(text)]),
        [['identity_providers[0]', only['alias'], true]],
      );
      assert.equal(updated, 1, 'the other one is written');
      assert.equal(await isOn(only), true);
      const dropped = await apply(['organizations:', `  - { name: ${name}, sign_in: own_providers }`]);
      assert.deepEqual(
        dropped.conflicts.map(({ path }) => path),
        ['organizations[0]'],
      );
      for (const fields of ['', `, identity_providers: [${String(other['alias'])}]`]) {
        const document = ['identity_providers:', declared(other, ', enabled: false'), 'organizations:'];
        await assert.rejects(
          apply([...document, `  - { name: ${slug()}, sign_in: own_providers${fields} }`]),
          /organizations\[0\]: expected a provider of way-\d+ that is on, or sign_in any, found "none"/,
        );
      }
      // Both at once, in whatever order they stand.
      const both = [
        'organizations:',
        `  - { name: ${name}, sign_in: own_providers, identity_providers: [${String(other['alias'])}, ${String(only['alias'])}] }`,
      ];
      const turned = await apply(['identity_providers:', off, declared(other), ...both]);
      assert.deepEqual([turned.conflicts, await isOn(only), await isOn(other)], [[], false, true]);
      const open = await apply([
        'identity_providers:',
        off,
        declared(other, ', enabled: false'),
        'organizations:',
        `  - { name: ${name} }`,
      ]);
      assert.deepEqual([open.conflicts, await isOn(other), await isShut(acme)], [[], false, false]);
    });

    it('a document and requests at once shut none', async () => {
      for (let round = 0; round < 4; round += 1) {
        const [one, two] = [await provider(), await provider()];
        const acme = await organization([one, two]);
        const [done, answer] = await Promise.all([
          apply(['identity_providers:', declared(one, ', enabled: false')]),
          round % 2 === 0 ? change(two, { enabled: false }) : say(acme, { identity_providers: [one['alias']] }),
        ]);
        assert.equal(done.conflicts.length + (answer.status === 409 ? 1 : 0), 1, String(answer.status));
        assert.equal(await isShut(acme), false);
      }
    });

    it('an organisation that a document leaves out goes with its providers, but for those that the document says', async () => {
      const of = tenant;
      tenant = await createTestTenant(server);
      try {
        const [said, left] = [await provider(), await provider()];
        await organization([said, left]);
        const other = await organization([], { sign_in: 'any' });
        const organizations = ['organizations:', `  - { name: ${String(other['name'])} }`];
        const { deleted } = await apply(['identity_providers:', declared(said), ...organizations], true);
        assert.equal(deleted, 1);
        assert.deepEqual([await isOn(said), await isOn(left)], [false, false]);
        const statuses = [said, left].map(async ({ id }) => (await tenant.call('GET', `/identity-providers/${String(id)}`)).status);
        assert.deepEqual(await Promise.all(statuses), [200, 404]);
      } finally {
        tenant = of;
      }
    });
  });
