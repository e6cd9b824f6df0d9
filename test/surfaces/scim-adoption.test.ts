// Whom SCIM of an organisation brings in beside those it makes (design 19): people of its proven domains alone, who are not written by it;
// and nobody is made whose address is of a domain that is proven to be somebody else's.
import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { databases } from '../support/databases.ts';
import { createTestUser, type Json } from '../support/management.ts';
import { ask, openDirectories, rename } from '../support/organization-directories.ts';
import { groupSchema, patchBody, userBody } from '../support/scim.ts';

for (const database of databases)
  describe(`who comes into an organisation by SCIM on ${database}`, async () => {
    const { dns, tenant, acme, fresh, addressOf, owning, userOf, membersOf, close } = await openDirectories(database);
    after(close);

    const at = (address: string, userName = address): Json => ({ ...userBody(userName), emails: [{ value: address, primary: true }] });

    it('who is made has the default roles; who is there already comes in by a proven domain of their main address, and is not written', async () => {
      const [role, domain] = [fresh('role-'), `${fresh('dom')}.example`];
      await tenant.make('POST', '/organization-roles', { name: role });
      const directory = await owning(domain, { default_roles: [role] });
      const made = await directory.newUser(fresh('new'));
      const address = `grace@${domain}`;
      const { id } = await createTestUser(tenant, address, { display_name: 'Grace' });
      const before = await userOf(id);
      const unproven = await acme.call('POST', '/Users', at(address));
      assert.deepEqual([unproven.status, unproven.body['scimType']], [409, 'uniqueness']);
      const adopted = await directory.call('POST', '/Users', { ...at(address, fresh('other')), displayName: 'Mallory' });
      assert.deepEqual([adopted.status, adopted.body['id'], adopted.body['displayName']], [201, id, 'Grace']);
      assert.deepEqual(await userOf(id), before);
      assert.deepEqual(
        new Set((await membersOf(directory)).map((one) => JSON.stringify([one['user_id'], one['roles']]))),
        new Set([made, id].map((one) => JSON.stringify([one, [role]]))),
      );
      assert.equal((await directory.call('POST', '/Users', at(address))).status, 409, 'a member is there already');
      assert.equal((await directory.call('PATCH', `/Users/${id}`, rename)).body['displayName'], 'Grace');
      assert.equal((await directory.call('DELETE', `/Users/${id}`)).status, 204);
      assert.deepEqual(await userOf(id), before);
    });

    it('nobody else is adopted: by another of their addresses, by a name, two at once, an administrator, or once the proof is gone', async () => {
      const domain = `${fresh('dom')}.example`;
      const directory = await owning(domain);
      const refused = async (body: Json): Promise<void> => {
        const result = await directory.call('POST', '/Users', body);
        assert.deepEqual([result.status, result.body['scimType']], [409, 'uniqueness'], JSON.stringify(body));
      };
      const second = `second@${domain}`;
      const emails = [{ value: `${fresh('main')}@x.example`, primary: true }, { value: second }];
      await tenant.make('POST', '/users', { user_name: fresh('two'), emails });
      await refused(at(second));
      const name = fresh('named');
      await createTestUser(tenant, `main-${name}@${domain}`, { user_name: name });
      await refused(at(`new-${name}@${domain}`, name));
      const [one, other] = [`one@${domain}`, `other@${domain}`];
      for (const address of [one, other]) await createTestUser(tenant, address);
      await refused({ ...at(one), emails: [{ value: one, primary: true }, { value: other }] });
      const boss = `boss@${domain}`;
      await createTestUser(tenant, boss, { admin_roles: ['auditor'] });
      await refused(at(boss));
      dns.records.clear();
      await tenant.make('POST', `/organizations/${directory.id}/check-domains`);
      await refused(at(one));
    });

    it('nobody is made or renamed whose address or name is of a domain proven to be somebody else’s', async () => {
      const domain = `${fresh('dom')}.example`;
      const owner = await owning(domain);
      for (const body of [at(`ceo@${domain}`), at(`x@${fresh('x')}.example`, `ceo@${domain}`)]) {
        const result = await acme.call('POST', '/Users', body);
        assert.deepEqual([result.status, result.body['scimType']], [409, 'uniqueness']);
      }
      const id = await acme.newUser(fresh('mine'));
      for (const path of ['userName', 'emails[primary eq true].value']) {
        const result = await acme.call('PATCH', `/Users/${id}`, patchBody({ op: 'replace', path, value: `ceo@${domain}` }));
        assert.deepEqual([result.status, result.body['scimType']], [409, 'uniqueness'], path);
      }
      assert.equal((await owner.call('POST', '/Users', at(`ceo@${domain}`))).status, 201);
    });

    it('a bulk request that adopts somebody refers to who was there', async () => {
      const domain = `${fresh('dom')}.example`;
      const directory = await owning(domain);
      const { id } = await createTestUser(tenant, `there@${domain}`);
      const group = { schemas: [groupSchema], displayName: 'All', members: [{ value: 'bulkId:u' }] };
      const { body } = await directory.call('POST', '/Bulk', {
        Operations: [
          { method: 'POST', path: '/Groups', bulkId: 'g', data: group },
          { method: 'POST', path: '/Users', bulkId: 'u', data: at(`there@${domain}`) },
        ],
      });
      const [first, second] = body['Operations'] as readonly Json[];
      assert.deepEqual([first?.['status'], second?.['status']], ['201', '201'], JSON.stringify(body));
      assert.equal(second?.['location'], `${addressOf(directory.id)}/Users/${id}`);
      const { members } = (await ask(String(first?.['location']), directory.token)).body as { members: readonly Json[] };
      assert.deepEqual(
        members.map(({ value }) => value),
        [id],
      );
    });
  });
