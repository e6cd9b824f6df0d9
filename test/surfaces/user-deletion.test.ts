// Design 10, "One person": whoever deletes a user (Management API, SCIM, a document applied with --prune), the same is gone, and
// one audit record says who did it. On both databases.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Declared } from '../../src/administration/declaration/document.ts';
import { openSession, reconcile } from '../../src/administration/declaration/reconcile.ts';
import type { UserId } from '../../src/domain/ids.ts';
import { databases } from '../support/databases.ts';
import { changeSettings, enrolledPhone, unlimited } from '../support/enrolled-phone.ts';
import type { Managed } from '../support/management.ts';
import { insertTestPasskey } from '../support/passkeys.ts';
import { assertRefusal } from '../support/refusal.ts';
import { manageRootTenant } from '../support/root-tenant.ts';
import { rootTenant, type ScimCaller, startScim } from '../support/scim.ts';

type Delete = (scim: ScimCaller, managed: Managed, id: string) => Promise<unknown>;

const deleters: Readonly<Record<string, Delete>> = {
  management: (_scim, managed, id) => managed.make('DELETE', `/users/${id}`),
  scim: async (scim, _managed, id) => assert.equal((await scim.call('DELETE', `/Users/${id}`)).status, 204),
  document: async (scim) => {
    const session = await openSession(scim.server.gatehouse.services, await rootTenant(scim.server), { actor: 'operator' });
    const kept: Declared = { section: 'users', path: 'users[0]', value: { user_name: 'kept' }, lineOf: () => undefined };
    await reconcile(session, asItems([kept]), { write: true, prune: true });
  },
};

async function* asItems(items: readonly Declared[]): AsyncGenerator<Declared> {
  yield* items;
}

for (const database of databases) {
  describe(`deletion of a user (${database})`, () => {
    let scim: ScimCaller;
    let managed: Managed;
    before(async () => {
      scim = await startScim(database);
      managed = await manageRootTenant(scim.server);
      await changeSettings(scim.server, unlimited);
    });
    after(() => scim.close());

    for (const [name, remove] of Object.entries(deleters)) {
      it(`by ${name}: phone, passkeys, lists, memberships, assignments and role are gone, one record is written`, async () => {
        const person = await makePerson(name);
        assert.equal((await person.phone.get('/self')).status, 200);
        await remove(scim, managed, person.id);

        await assertRefusal(await person.phone.get('/self'), 'device.key_revoked');
        assert.equal((await managed.call('GET', `/users/${person.id}`)).status, 404);
        assert.equal((await scim.call('GET', `/Users/${person.id}`)).status, 404);
        const group = await scim.call('GET', `/Groups/${person.group}`);
        assert.deepEqual([group.body['members'], group.headers.get('etag')], [undefined, 'W/"2"']);
        assert.deepEqual((await managed.make('GET', `/clients/${person.client}/assignments`))['items'], []);
        assert.deepEqual(await personalRows(person.id), { passkeys: 0, user_emails: 0, user_values: 0, user_addresses: 0 });
        assert.deepEqual(await deletedRow(person.id), { state: 'deleted', role: 'user', user_name: null, department: null });
        const { items } = await managed.make<{ items: { type: string; target: string }[] }>('GET', '/events?type=user.deleted');
        assert.equal(items.filter(({ target }) => target === `user:${person.id}`).length, 1);
        assert.equal((await managed.call('DELETE', `/users/${person.id}`)).status, 404);
        const again = await scim.newUser(name);
        assert.notEqual(again.id, person.id);
      });
    }

    /** A user with something in every table. */
    async function makePerson(name: string) {
      const { id } = await scim.newUser(name, {
        phoneNumbers: [{ value: '+1 555 0100' }],
        addresses: [{ locality: 'London' }],
        'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User': { department: 'Research' },
      });
      const tenant = await rootTenant(scim.server);
      const user = { tenant: tenant.id, id: id as UserId, email: `${name}@example.com` };
      const phone = await enrolledPhone(scim.server, user);
      const passkey = await insertTestPasskey(scim.server, tenant, { id: user.id, email: user.email });
      assert.ok(passkey.ok);
      const { id: group } = await scim.newGroup(`Group of ${name}`, [id]);
      // A directory takes nobody away who may more than it.
      if (name !== 'scim') await managed.make('PATCH', `/users/${id}`, { role: 'admin' });
      const { client_id: client } = await managed.make('POST', '/clients', { name, grant_types: ['client_credentials'] });
      await managed.make('POST', `/clients/${String(client)}/assignments`, { user_id: id });
      return { id, phone, group, client: String(client) };
    }

    async function personalRows(id: string) {
      const counts: Record<string, number> = {};
      for (const table of ['passkeys', 'user_emails', 'user_values', 'user_addresses'] as const)
        counts[table] = (await rowsOf(table, 'user_id', id)).length;
      return counts;
    }

    async function deletedRow(id: string) {
      const [row] = await rowsOf('users', 'id', id);
      const { state, role, user_name, department } = row as Readonly<Record<string, unknown>>;
      return { state, role, user_name, department };
    }

    async function rowsOf(table: 'users' | 'passkeys' | 'user_emails' | 'user_values' | 'user_addresses', column: string, id: string) {
      const { id: tenant } = await rootTenant(scim.server);
      return scim.server.gatehouse.services.database.read(tenant, (queries) =>
        queries
          .selectFrom(table)
          .selectAll()
          .where('tenant_id', '=', tenant)
          .where(column as never, '=', id as never)
          .execute(),
      );
    }
  });
}
