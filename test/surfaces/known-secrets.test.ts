// Issue 27, hole 11: a client that an administrator made works on when they are suspended. It names its maker and who knows its secret, and
// what a person knows is listed until somebody else makes another secret, gives other keys, or takes the token back.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { applyDocument } from '../../src/administration/declaration/apply.ts';
import { createConsoleTenant, openConsole } from '../support/console.ts';
import { databases } from '../support/databases.ts';
import { createTestUser, type Json, type Managed } from '../support/management.ts';
import { assertRefusal } from '../support/refusal.ts';
import { machineWith, personWith } from '../support/roles.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

interface Known {
  readonly items: readonly { readonly kind: string; readonly id: string; readonly name: string; readonly since: string }[];
}

for (const database of databases)
  describe(`who knows secrets of clients, on ${database}`, () => {
    let server: TestServer;
    let managed: Managed;
    let email: string;
    before(async () => {
      server = await startTestServer(database);
      const made = await createConsoleTenant(server, { role: 'user', admin_roles: ['owner'] });
      managed = made.tenant;
      email = made.email;
    });
    after(() => server.close());

    const confidential = (name: string, more: Json = {}): Json => ({
      name,
      type: 'confidential',
      token_endpoint_auth_method: 'client_secret_post',
      grant_types: ['client_credentials'],
      scopes: ['users:read'],
      ...more,
    });
    const capabilities = ['users:read', 'users:write', 'clients:read', 'clients:write'];
    /** A person who administers, as they call the Management API. */
    async function administrator(address: string): Promise<{ readonly id: string; readonly as: Managed }> {
      const { id } = await createTestUser(managed, address);
      await managed.make('PUT', `/users/${id}/roles`, { roles: ['admin'] });
      return { id, as: await personWith(server, managed, id, capabilities) };
    }
    const known = async (id: string): Promise<Known['items']> => (await managed.make<Known>('GET', `/users/${id}/known-secrets`)).items;
    const names = async (id: string): Promise<readonly string[]> => (await known(id)).map(({ kind, name }) => `${kind} ${name}`);

    it('a client names its maker; suspended, what they know is listed, and another secret takes it off the list', async () => {
      const maker = await administrator('maker@people.example');
      const client = await maker.as.make<{ client_id: string; client_secret: string }>('POST', '/clients', confidential('Theirs'));
      const own = await managed.make<Json>('GET', `/clients/${client.client_id}`);
      assert.deepEqual([own['created_by'], own['secret_by']], [`user:${maker.id}`, `user:${maker.id}`]);
      assert.match(String(own['secret_at']), /^\d{4}-/);
      const { items } = await managed.make<{ items: readonly Json[] }>('GET', '/clients?search=Theirs');
      assert.equal(items[0]!['created_by'], `user:${maker.id}`);
      await managed.make('POST', `/users/${maker.id}/suspend`);
      const form = { grant_type: 'client_credentials', client_id: client.client_id, client_secret: client.client_secret };
      const token = (): Promise<Response> =>
        fetch(`${managed.baseUrl}/v1/idp/oidc/token`, { method: 'POST', body: new URLSearchParams(form) });
      assert.equal((await token()).status, 200, 'it works on: what depends on it is not cut off');
      const [item, ...others] = await known(maker.id);
      assert.deepEqual(others, []);
      assert.deepEqual([item!.kind, item!.id, item!.name, item!.since], ['client', client.client_id, 'Theirs', own['secret_at']]);
      await managed.make('POST', `/clients/${client.client_id}/secret`);
      assert.equal((await token()).status, 401);
      assert.deepEqual(await known(maker.id), []);
      const after = await managed.make<Json>('GET', `/clients/${client.client_id}`);
      assert.equal(after['created_by'], `user:${maker.id}`);
      assert.match(String(after['secret_by']), /^client:/);
    });

    it('whoever makes another secret or gives keys knows them from then on; a public client proves nothing', async () => {
      const [first, second] = [await administrator('first@people.example'), await administrator('second@people.example')];
      const client = await first.as.make<{ client_id: string }>('POST', '/clients', confidential('Handed on'));
      await second.as.make('POST', `/clients/${client.client_id}/secret`);
      assert.deepEqual([await names(first.id), await names(second.id)], [[], ['client Handed on']]);
      const keys = { token_endpoint_auth_method: 'private_key_jwt', jwks_uri: 'https://keys.example/jwks' };
      await first.as.make('PATCH', `/clients/${client.client_id}`, keys);
      assert.deepEqual([await names(first.id), await names(second.id)], [['client Handed on'], []]);
      await second.as.make('PATCH', `/clients/${client.client_id}`, { name: 'Renamed' });
      assert.deepEqual([await names(first.id), await names(second.id)], [['client Renamed'], []]);
      await first.as.make('POST', '/clients', { name: 'App', type: 'public', redirect_uris: ['https://app.example/cb'] });
      assert.deepEqual(await names(first.id), ['client Renamed']);
    });

    it('keys given to a client that signs in by its secret take nobody off the list, by a document neither', async () => {
      const [first, second] = [await administrator('third@people.example'), await administrator('fourth@people.example')];
      const { client_id: id } = await first.as.make<{ client_id: string }>('POST', '/clients', confidential('With keys'));
      await second.as.make('PATCH', `/clients/${id}`, { jwks_uri: 'https://keys.example/jwks' });
      assert.deepEqual([await names(first.id), await names(second.id)], [['client With keys'], []]);
      const declared = (more: Json) => [
        JSON.stringify({ gatehouse: 1, clients: [{ ...confidential('With keys'), client_id: id, ...more }] }),
      ];
      await applyDocument(server.gatehouse.services, managed.slug, declared({ jwks_uri: 'https://other.example/jwks' }));
      assert.equal((await managed.make<Json>('GET', `/clients/${id}`))['jwks_uri'], 'https://other.example/jwks');
      assert.deepEqual([await names(first.id), await names(second.id)], [['client With keys'], []]);
      await second.as.make('PATCH', `/clients/${id}`, { token_endpoint_auth_method: 'private_key_jwt' });
      assert.deepEqual(
        [await names(first.id), await names(second.id)],
        [[], ['client With keys']],
        'the keys it has are in use by their hand',
      );
    });

    it('initial access tokens name their maker and are listed while a client may register with them', async () => {
      const maker = await administrator('tokens@people.example');
      const policy = { hosts: ['app.example'], grant_types: ['authorization_code'], scopes: ['openid'] };
      const made = await maker.as.make<{ id: string }>('POST', '/initial-access-tokens', { count: 1, expires_in_seconds: 3600, policy });
      assert.equal((await managed.make<Json>('GET', `/initial-access-tokens/${made.id}`))['created_by'], `user:${maker.id}`);
      assert.deepEqual(await names(maker.id), ['initial_access_token app.example']);
      await managed.make('DELETE', `/initial-access-tokens/${made.id}`);
      assert.deepEqual(await names(maker.id), []);
    });

    it('is for who may read clients, and of nobody there is nothing', async () => {
      const { id } = await administrator('read@people.example');
      const reader = await machineWith(managed, ['users:read', 'users:write']);
      await assertRefusal(await reader.call('GET', `/users/${id}/known-secrets`), 'management.forbidden', { text: /clients:read/ });
      await assertRefusal(await managed.call('GET', '/users/nobody/known-secrets'), 'management.not_found');
    });

    it('the console: the client names them, the person has a tab, and suspending says so', async () => {
      const maker = await administrator('console@people.example');
      const client = await maker.as.make<{ client_id: string }>('POST', '/clients', confidential('<b>Bold</b>'));
      const { visitor } = await openConsole(server, managed, email);
      const tab = await (await visitor.page(`/users/${maker.id}/known-secrets`)).text();
      assert.match(tab, new RegExp(`/console/clients/${client.client_id}/credentials`));
      assert.match(tab, /&#60;b&#62;Bold/);
      assert.match(await (await visitor.page(`/clients/${client.client_id}`)).text(), new RegExp(`user:${maker.id}`));
      const question = await visitor.submit(`/users/${maker.id}/suspend`, {});
      assert.match(await question.text(), /secrets they know work on/);
    });

    it('the card of whoever is suspended says how many secrets they know, and leads to them', async () => {
      const maker = await administrator('leaving@people.example');
      const { visitor } = await openConsole(server, managed, email);
      const card = async (id = maker.id): Promise<string> => (await visitor.page(`/users/${id}`)).text();
      const leading = `<a id="known-secrets" href="/t/${managed.slug}/console/users/${maker.id}/known-secrets">`;
      const { id: other } = await createTestUser(managed, 'knows-none@people.example');
      await managed.make('POST', `/users/${other}/suspend`);
      assert.ok(!(await card(other)).includes('id="known-secrets"'), 'they know none');
      await maker.as.make('POST', '/clients', confidential('One'));
      await maker.as.make('POST', '/clients', confidential('Two'));
      assert.ok(!(await card()).includes('id="known-secrets"'), 'they are active');
      await managed.make('POST', `/users/${maker.id}/suspend`);
      assert.ok((await card()).includes(`They cannot sign in. ${leading}2 secrets they know</a> work on until you end them.`));
      for (const { id } of (await known(maker.id)).slice(1)) await managed.make('POST', `/clients/${id}/secret`);
      assert.ok((await card()).includes(`They cannot sign in. ${leading}1 secret they know</a> works on until you end it.`));
    });
  });
