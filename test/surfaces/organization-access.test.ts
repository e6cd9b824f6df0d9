// Applications that admit the people of some organisations alone (design 19): the members of an organisation that is assigned pass when they
// sign in for it, or for none, and nobody passes for another that is not.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, beforeEach, describe, it } from 'node:test';
import { applyDocument } from '../../src/administration/declaration/apply.ts';
import { exportDocument } from '../../src/administration/declaration/export.ts';
import { openSession } from '../../src/administration/declaration/reconcile.ts';
import { openBrowser, type TestBrowser } from '../support/browser.ts';
import { databases } from '../support/databases.ts';
import { createClient, createUser, type TestClient, type TestUser } from '../support/fixtures.ts';
import { createTestTenant, type Json, jsonOf, type Managed } from '../support/management.ts';
import { exchange, refresh, tokensOf } from '../support/oidc.ts';
import { assertRefusal } from '../support/refusal.ts';
import { openSsoWorld } from '../support/sso.ts';

for (const database of databases)
  describe(`access by organisations on ${database}`, async () => {
    const world = await openSsoWorld(database);
    const { server, tenant, authorize, locationOf, signInAt, asksToSignIn } = world;
    const { services } = server.gatehouse;
    let client: TestClient;
    let ada: TestUser;
    let acme: Json;
    let globex: Json;
    let made = 0;
    const manage = async (method: string, path: string, body?: unknown): Promise<Json> => (await world.manager()).make(method, path, body);
    const call = async (method: string, path: string, body?: unknown) => (await world.manager()).call(method, path, body);
    const join = (organization: Json): Promise<Json> => manage('PUT', `/organizations/${String(organization['id'])}/members/${ada.id}`, {});
    const assignments = () => `/clients/${client.clientId}/assignments`;
    const scope = 'openid offline_access';
    const ask = async (browser: TestBrowser, changes: Record<string, string> = {}): Promise<URL> =>
      signInAt(browser, asksToSignIn(await authorize(browser, { scope, ...changes }, client)), ada);
    const errorOf = (redirect: URL): string | null => redirect.searchParams.get('error');
    before(async () => {
      client = await createClient(services, tenant, { scopes: ['openid', 'offline_access', 'organization'], accessPolicy: 'assigned' });
    });
    beforeEach(async () => {
      made += 1;
      ada = await createUser(services, tenant);
      acme = await manage('POST', '/organizations', { name: `acme-${made}` });
      globex = await manage('POST', '/organizations', { name: `globex-${made}` });
      await join(acme);
      await join(globex);
    });
    after(() => server.close());

    it('its members pass for it and for none, by the session too, and not for another', async () => {
      const browser = openBrowser();
      assert.equal(errorOf(await ask(browser, { organization: String(acme['name']) })), 'access_denied');
      const added = await jsonOf(await call('POST', assignments(), { organization_id: acme['id'] }), 201);
      assert.deepEqual([added['user_id'], added['group_id'], added['organization_id']], [null, null, acme['id']]);
      for (const changes of [{ organization: String(acme['name']) }, {}]) {
        const redirect = await ask(openBrowser(), changes);
        assert.ok(redirect.searchParams.has('code'), redirect.search);
      }
      const signedIn = openBrowser();
      assert.equal(errorOf(await ask(signedIn, { organization: String(globex['name']) })), 'access_denied');
      assert.ok((await ask(signedIn, { organization: String(acme['name']) })).searchParams.has('code'));
      const silently = async (organization: Json): Promise<URL> =>
        locationOf(await authorize(signedIn, { scope, prompt: 'none', organization: String(organization['name']) }, client));
      assert.ok((await silently(acme)).searchParams.has('code'));
      assert.equal(errorOf(await silently(globex)), 'access_denied');
      await manage('DELETE', `${assignments()}/${String(added['id'])}`).catch(() => undefined);
      assert.equal(errorOf(await silently(acme)), 'access_denied');
    });

    it('a grant ends with the assignment, with the membership, and while the organisation is disabled', async () => {
      const { id } = await manage('POST', assignments(), { organization_id: acme['id'] });
      const tokens = async () => {
        const redirect = await ask(openBrowser());
        return tokensOf(await exchange(tenant, client, redirect.searchParams.get('code') ?? ''));
      };
      for (const [end, back] of [
        [
          () => call('PATCH', `/organizations/${String(acme['id'])}`, { enabled: false }),
          () => call('PATCH', `/organizations/${String(acme['id'])}`, { enabled: true }),
        ],
        [() => call('DELETE', `/organizations/${String(acme['id'])}/members/${ada.id}`), () => join(acme)],
        [() => call('DELETE', `${assignments()}/${String(id)}`), async () => undefined],
      ] as const) {
        const { refresh_token: token } = await tokens();
        await end();
        await assertRefusal(await refresh(tenant, client, token), 'token.refresh_invalid');
        await back();
      }
    });

    it('who is assigned is one of three, known here, once, and listed in order with the others', async () => {
      const other = await createTestTenant(server);
      const foreign = await other.make('POST', '/organizations', { name: 'foreign' });
      for (const [body, field] of [
        [{}, 'user_id'],
        [{ organization_id: acme['id'], user_id: ada.id }, 'organization_id'],
        [{ organization_id: acme['id'], group_id: 'x' }, 'organization_id'],
        [{ organization_id: randomUUID() }, 'organization_id'],
        [{ organization_id: foreign['id'] }, 'organization_id'],
        [{ organization_id: acme['name'] }, 'organization_id'],
        [{ organization_id: null }, 'organization_id'],
      ] as const)
        assert.equal((await jsonOf(await call('POST', assignments(), body), 400))['kind'], field, JSON.stringify(body));
      const ids: string[] = [];
      for (const body of [{ organization_id: acme['id'] }, { user_id: ada.id }, { organization_id: globex['id'] }])
        ids.push(String((await manage('POST', assignments(), body))['id']));
      assert.equal((await jsonOf(await call('POST', assignments(), { organization_id: acme['id'] }), 409))['kind'], 'organization_id');
      const seen: string[] = [];
      for (let cursor: unknown = ''; cursor !== undefined; ) {
        const page = await manage('GET', `${assignments()}?limit=1${cursor === '' ? '' : `&cursor=${String(cursor)}`}`);
        seen.push(...(page['items'] as readonly Json[]).map((one) => String(one['id'])));
        cursor = page['next_cursor'];
      }
      assert.deepEqual(seen, ids);
      const twice = await Promise.all([1, 2, 3].map(async () => (await call('DELETE', `${assignments()}/${ids[0]!}`)).status));
      assert.deepEqual(twice.sort(), [204, 404, 404]);
      assert.equal((await call('DELETE', `/organizations/${String(globex['id'])}`)).status, 204);
      const { items } = await manage('GET', assignments());
      assert.deepEqual(
        (items as readonly Json[]).map(({ user_id }) => user_id),
        [ada.id],
      );
      await call('DELETE', `${assignments()}/${ids[1]!}`);
    });

    it('documents carry it by the name of the organisation', async () => {
      const from = await createTestTenant(server);
      const to = await createTestTenant(server);
      const { client_id: id } = await from.make('POST', '/clients', {
        name: 'App',
        redirect_uris: ['https://app.example/cb'],
        access_policy: 'assigned',
      });
      const organization = await from.make('POST', '/organizations', { name: 'acme' });
      await from.make('POST', `/clients/${String(id)}/assignments`, { organization_id: organization['id'] });
      const open = async ({ slug: name }: Managed) => openSession(services, (await services.tenants.bySlug(name))!, { actor: 'operator' });
      let text = '';
      for await (const part of exportDocument(await open(from), { withSecrets: false, asJson: false })) text += part;
      const sectionOf = (name: string): string => new RegExp(`^${name}:\\n(?: .*\\n)*`, 'm').exec(text)?.[0] ?? '';
      assert.match(sectionOf('assignments'), /organization: acme/);
      const whole = `clients:\n  - client_id: ${String(id)}\n    name: App\n    redirect_uris: [https://app.example/cb]\n${sectionOf('organizations')}${sectionOf('assignments')}`;
      const apply = (document: string) => applyDocument(services, to.slug, `gatehouse: 1\n${document}`.split('\n'));
      for (let twice = 0; twice < 2; twice += 1) await apply(whole);
      const { items } = await to.make<{ items: readonly Json[] }>('GET', `/clients/${String(id)}/assignments`);
      assert.deepEqual(
        items.map((one) => one['organization_id']),
        [organization['id']],
      );
      await assert.rejects(apply(`assignments:\n  - client: ${String(id)}\n    organization: nobody\n`), /organization/);
      await assert.rejects(
        apply(`assignments:\n  - client: ${String(id)}\n    organization: acme\n    group: x\n`),
        /one of user, group and organization/,
      );
    });
  });
