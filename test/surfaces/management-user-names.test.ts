// Design 15, "userName": the rule of RFC 8265 holds in the Management API and the console as it does in SCIM; a name that was given
// before stays valid until it is changed. On both databases.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { TenantId, UserId } from '../../src/domain/ids.ts';
import { createConsoleTenant, openConsole } from '../support/console.ts';
import { databases } from '../support/databases.ts';
import { createTestUser, type Json, type Managed } from '../support/management.ts';
import { assertRefusal } from '../support/refusal.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

const wrong = [
  ['henry\u2163', 'This field has a character that names may not have (U+2163).'],
  ['king\u265A', 'This field has a character that names may not have (U+265A).'],
  [' leading', 'This field has a space at an end or two in a row.'],
  ['a\u05D0b', 'This field mixes writing directions in a way names may not.'],
] as const;

for (const database of databases) {
  describe(`user names (${database})`, () => {
    let server: TestServer;
    let tenant: Managed;
    let email: string;
    before(async () => {
      server = await startTestServer(database);
      ({ tenant, email } = await createConsoleTenant(server));
    });
    after(() => server.close());
    const refusal = (text: string) => ({ kind: 'user_name', text });

    it('what RFC 8265 refuses: 400 management.invalid_request at creation and change, nothing stored', async () => {
      const { id } = await createTestUser(tenant, 'right@example.com');
      for (const [name, text] of wrong) {
        const body = { user_name: name, emails: [{ value: 'wrong@example.com' }] };
        await assertRefusal(await tenant.call('POST', '/users', body), 'management.invalid_request', refusal(text));
        const change = { user_name: name, title: 'Lost' };
        await assertRefusal(await tenant.call('PATCH', `/users/${id}`, change), 'management.invalid_request', refusal(text));
      }
      const now = await tenant.make('GET', `/users/${id}`);
      assert.deepEqual([now['user_name'], now['title'], now['version']], ['right@example.com', undefined, 1]);
      assert.deepEqual((await tenant.make<{ items: readonly Json[] }>('GET', '/users?search=wrong')).items, []);
      await assertRefusal(await tenant.call('PATCH', '/users/nobody', { user_name: '\u265A' }), 'management.not_found');
    });

    it('a name of before stays valid, sent again or not; another like it is refused', async () => {
      const { id } = await createTestUser(tenant, 'old@example.com');
      await server.gatehouse.services.database.write(tenant.id as TenantId, (queries) =>
        queries
          .updateTable('users')
          .set({ user_name: '\u265Aold', user_name_key: '\u265Aold' })
          .where('tenant_id', '=', tenant.id as TenantId)
          .where('id', '=', id as UserId)
          .execute(),
      );
      for (const change of [{ title: 'Queen' }, { user_name: '\u265Aold', title: 'Queen again' }])
        assert.equal((await tenant.make('PATCH', `/users/${id}`, change))['title'], change.title);
      const other = await tenant.call('PATCH', `/users/${id}`, { user_name: '\u265Anew' });
      await assertRefusal(other, 'management.invalid_request', refusal(wrong[1][1]));
      const { visitor } = await openConsole(server, tenant, email);
      const form = { email_list: 'old@example.com', role: 'user', title: 'King' };
      assert.equal((await visitor.submit(`/users/${id}/edit`, { ...form, user_name: '\u265Aold' })).status, 303);
      const kept = await visitor.submit(`/users/${id}/edit`, { ...form, user_name: '\u265Anew' });
      assert.equal(kept.status, 400);
      assert.match(await kept.text(), /names may not have \(U\+265A\)\./);
    });
  });
}
