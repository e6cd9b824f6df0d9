// SCIM /Me with the token of a person (RFC 7644 section 3.11): it is the person's own user resource in every respect.
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import type { UserId } from '../../src/domain/ids.ts';
import { replaceHeldRoles } from '../../src/storage/people/user-roles.ts';
import { listClients } from '../../src/storage/registry/clients/clients.ts';
import { roles } from '../../src/storage/registry/roles.ts';
import { databases } from '../support/databases.ts';
import { issueTokens } from '../support/issued-tokens.ts';
import { assertRefusal } from '../support/refusal.ts';
import { type Json, patchBody, rootTenant, type ScimCaller, scimCaller, startScim, userBody } from '../support/scim.ts';

for (const database of databases) {
  describe(`SCIM /Me (${database})`, () => {
    let admin: ScimCaller;
    let user: Json & { readonly id: string };
    let me: ScimCaller;
    let people = 0;
    before(async () => {
      admin = await startScim(database);
    });
    after(() => admin.close());

    /** A caller with an access token of this user's sign-in. */
    const callerOf = async (id: string, scope = 'scim:read scim:write'): Promise<ScimCaller> => {
      const { services } = admin.server.gatehouse;
      const tenant = await rootTenant(admin.server);
      const [client] = await services.database.read(tenant.id, (queries) => listClients(queries, tenant.id, { after: '', limit: 1 }));
      const tokens = await issueTokens(services, tenant, client!, id as UserId, { audience: tenant.managementApi, scope });
      return scimCaller(admin.server, tokens.accessToken);
    };
    const setRole = async (id: string, role: 'admin' | 'user'): Promise<void> => {
      const { services } = admin.server.gatehouse;
      const tenant = await rootTenant(admin.server);
      await services.database.write(tenant.id, async (queries) => {
        await roles.insert(queries, tenant.id, 'directory', {
          name: 'directory',
          description: undefined,
          capabilities: ['scim:read', 'scim:write'],
        });
        await replaceHeldRoles(queries, tenant.id, { id: id as UserId, roles: role === 'admin' ? ['directory'] : [] });
        await queries
          .updateTable('users')
          .set({ role })
          .where('tenant_id', '=', tenant.id)
          .where('id', '=', id as UserId)
          .execute(); // as it is, version and all
      });
    };
    beforeEach(async () => {
      people += 1;
      user = await admin.newUser(`me${people}`, { title: 'Engineer' });
      await setRole(user.id, 'admin');
      me = await callerOf(user.id);
    });

    it('GET is the user of the token, with its address, entity tag and projection', async () => {
      const own = await me.call('GET', '/Me');
      const whole = await admin.call('GET', `/Users/${user.id}`);
      assert.equal(own.status, 200);
      assert.deepEqual(own.body, whole.body);
      assert.equal((own.body['meta'] as Json)['location'], `${admin.base}/Users/${user.id}`);
      assert.equal(own.headers.get('etag'), whole.headers.get('etag'));
      assert.deepEqual((await me.call('GET', '/Me?attributes=title')).body, { schemas: user['schemas'], id: user.id, title: 'Engineer' });
      const unchanged = await me.call('GET', '/Me', undefined, { 'if-none-match': own.headers.get('etag')! });
      assert.deepEqual([unchanged.status, unchanged.body], [304, {}]);
    });

    it('PATCH changes the user of the token, under its conditions', async () => {
      const patch = patchBody({ op: 'replace', path: 'title', value: 'Architect' });
      await assertRefusal(await me.fetch('PATCH', '/Me', patch, { 'if-match': 'W/"7"' }), 'scim.precondition_failed');
      const patched = await me.call('PATCH', '/Me', patch, { 'if-match': 'W/"1"' });
      assert.deepEqual([patched.status, patched.headers.get('etag'), patched.body['title']], [200, 'W/"2"', 'Architect']);
      assert.deepEqual((await admin.call('GET', `/Users/${user.id}`)).body, patched.body);
    });

    it('PUT replaces the user of the token', async () => {
      const replaced = await me.call('PUT', '/Me', { ...userBody(`me${people}`), nickName: 'M' });
      assert.equal(replaced.status, 200);
      assert.deepEqual([replaced.body['id'], replaced.body['nickName'], replaced.body['title']], [user.id, 'M', undefined]);
    });

    it('7.13 scim.invalidSyntax, scim.invalidValue, scim.noTarget: a PATCH of /Me is refused as one of the user is', async () => {
      const same = async (operation: Json, row: 'scim.invalidSyntax' | 'scim.invalidValue' | 'scim.noTarget'): Promise<void> => {
        const direct = await admin.fetch('PATCH', `/Users/${user.id}`, patchBody(operation));
        const { detail } = (await direct.json()) as { readonly detail: string };
        await assertRefusal(await me.fetch('PATCH', '/Me', patchBody(operation)), row, { text: detail });
      };
      await same({ op: 'append', path: 'title', value: 'x' }, 'scim.invalidSyntax');
      await same({ op: 'remove', path: 'userName' }, 'scim.invalidValue');
      await same({ op: 'replace', path: 'emails[type eq "home"].value', value: 'x@example.com' }, 'scim.noTarget');
      assert.deepEqual((await me.call('GET', '/Me')).body, user);
    });

    it('7.13 scim.forbidden: a capability the token lacks', async () => {
      const reader = await callerOf(user.id, 'scim:read');
      assert.equal((await reader.call('GET', '/Me')).status, 200);
      await assertRefusal(await reader.fetch('PATCH', '/Me', patchBody()), 'scim.forbidden', {
        text: 'The access token lacks scim:write.',
      });
    });

    it('7.13 scim.unauthorized: a person who is no administrator, or no longer one', async () => {
      const text = 'The user of the access token is not an administrator.';
      const other = await admin.newUser(`nobody${people}`);
      await assertRefusal(await (await callerOf(other.id)).fetch('GET', '/Me'), 'scim.unauthorized', { text });
      await setRole(user.id, 'user');
      await assertRefusal(await me.fetch('GET', '/Me'), 'scim.unauthorized', { text });
    });

    it('7.13 scim.unauthorized: whoever suspends or deletes themselves is out at once', async () => {
      const text = 'The user of the access token is not active.';
      const suspended = await me.call('PATCH', '/Me', patchBody({ op: 'replace', path: 'active', value: false }));
      assert.deepEqual([suspended.status, suspended.body['active']], [200, false]);
      await assertRefusal(await me.fetch('GET', '/Me'), 'scim.unauthorized', { text });
      const other = await admin.newUser(`leaving${people}`);
      await setRole(other.id, 'admin');
      const leaving = await callerOf(other.id);
      assert.deepEqual((await leaving.call('DELETE', '/Me')).status, 204);
      await assertRefusal(await leaving.fetch('GET', '/Me'), 'scim.unauthorized', { text });
      await assertRefusal(await admin.fetch('GET', `/Users/${other.id}`), 'scim.resource_not_found');
    });

    it('7.13 scim.resource_not_found: the token of a client has no user, for every method', async () => {
      for (const [method, body] of [['GET'], ['PUT', userBody('x')], ['PATCH', patchBody()], ['DELETE']] as const) {
        await assertRefusal(await admin.fetch(method, '/Me', body), 'scim.resource_not_found');
      }
    });
  });
}
