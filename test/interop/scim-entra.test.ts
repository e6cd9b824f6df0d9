// What Microsoft Entra's provisioning service sends, in both PATCH dialects (with and without aadOptscim062020), written from
// its public documentation of SCIM requests. Each step's answer is what that service needs to go on.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import {
  enterpriseSchema,
  groupSchema,
  type Json,
  patchBody,
  type ScimCaller,
  scimPlaces,
  startScim,
  userSchema,
} from '../support/scim.ts';

const q = encodeURIComponent;
const newUser = (name: string): Json => ({
  schemas: [userSchema, enterpriseSchema],
  externalId: `ext-${name}`,
  userName: `${name}@contoso.example`,
  active: true,
  displayName: `Display ${name}`,
  emails: [{ primary: true, type: 'work', value: `${name}@contoso.example` }],
  meta: { resourceType: 'User' },
  name: { formatted: 'Given Family', familyName: 'Family', givenName: 'Given' },
  roles: [],
});

for (const { database, directory } of scimPlaces) {
  describe(`Microsoft Entra of ${directory} (${database})`, () => {
    let scim: ScimCaller;
    before(async () => {
      scim = await startScim(database, {}, directory);
    });
    after(() => scim.close());
    const ok = async (status: number, method: string, path: string, body?: unknown): Promise<Json> => {
      const result = await scim.call(method, path, body);
      assert.equal(result.status, status, `${method} ${path}: ${JSON.stringify(result.body)}`);
      return result.body;
    };
    const found = async (path: string, filter: string): Promise<Json> => ok(200, 'GET', `${path}?filter=${q(filter)}`);

    it('test connection: a user that does not exist gives an empty list', async () => {
      const body = await found('/Users', 'userName eq "00000000-0000-0000-0000-000000000000"');
      assert.deepEqual(body, {
        schemas: ['urn:ietf:params:scim:api:messages:2.0:ListResponse'],
        totalResults: 0,
        itemsPerPage: 0,
        startIndex: 1,
        Resources: [],
      });
    });

    it('users, older dialect: capitalised ops, string booleans, one path an operation, dotted and URN keys', async () => {
      assert.equal((await found('/Users', 'externalId eq "ext-old"'))['totalResults'], 0);
      const user = await ok(201, 'POST', '/Users', newUser('old'));
      const path = `/Users/${user['id']}`;
      assert.equal((await found('/Users', 'userName eq "OLD@contoso.example"'))['totalResults'], 1);
      const updated = await ok(
        200,
        'PATCH',
        path,
        patchBody(
          { op: 'Replace', path: 'emails[type eq "work"].value', value: 'renamed@contoso.example' },
          { op: 'Replace', path: 'name.familyName', value: 'Renamed' },
          { op: 'Add', path: 'phoneNumbers[type eq "mobile"].value', value: '+1 555' },
          { op: 'Add', path: 'addresses[type eq "work"].country', value: 'DE' },
          { op: 'Add', path: `${enterpriseSchema}:department`, value: 'Research' },
          { op: 'Add', path: `${enterpriseSchema}:manager`, value: 'manager-1' },
          { op: 'Add', path: 'active', value: 'True' },
        ),
      );
      assert.deepEqual(updated['emails'], [{ value: 'renamed@contoso.example', type: 'work', primary: true }]);
      assert.deepEqual(updated['phoneNumbers'], [{ value: '+1 555', type: 'mobile', primary: false }]);
      assert.deepEqual(updated['addresses'], [{ country: 'DE', type: 'work', primary: false }]);
      const enterprise = updated[enterpriseSchema] as Json;
      assert.equal(enterprise['department'], 'Research');
      assert.deepEqual(enterprise['manager'], { value: 'manager-1' }); // nobody here has this identifier
      assert.equal((await found('/Users', `id eq "${user['id']}" and ${enterpriseSchema}:manager eq "manager-1"`))['totalResults'], 1);
      const pathless = await ok(
        200,
        'PATCH',
        path,
        patchBody({
          op: 'replace',
          value: { displayName: 'Bjfe', 'name.givenName': 'Kx', 'name.familyName': 'Oz', [`${enterpriseSchema}:employeeNumber`]: 'UJC' },
        }),
      );
      assert.deepEqual(pathless['name'], { formatted: 'Given Family', familyName: 'Oz', givenName: 'Kx' });
      assert.equal((pathless[enterpriseSchema] as Json)['employeeNumber'], 'UJC');
      const removed = await ok(200, 'PATCH', path, patchBody({ op: 'Remove', path: `${enterpriseSchema}:manager` }));
      assert.equal((removed[enterpriseSchema] as Json)['manager'], undefined);
      assert.equal((await ok(200, 'PATCH', path, patchBody({ op: 'Replace', path: 'active', value: 'False' })))['active'], false);
      await ok(204, 'DELETE', path);
      await ok(404, 'GET', path);
    });

    it('users, compliant dialect: lower-case ops, booleans, path-less values with value paths', async () => {
      const user = await ok(201, 'POST', '/Users', newUser('new'));
      const path = `/Users/${user['id']}`;
      const updated = await ok(
        200,
        'PATCH',
        path,
        patchBody(
          { op: 'replace', path: 'emails[type eq "work"].value', value: 'new2@contoso.example' },
          { op: 'replace', path: 'emails[type eq "work"].primary', value: true },
          {
            op: 'replace',
            value: { displayName: 'New Two', 'name.formatted': 'N T', active: true, [`${enterpriseSchema}:organization`]: 'Org' },
          },
          { op: 'add', value: { 'phoneNumbers[type eq "work"].value': '1', title: 'T' } },
        ),
      );
      assert.equal(updated['displayName'], 'New Two');
      assert.deepEqual(updated['emails'], [{ value: 'new2@contoso.example', type: 'work', primary: true }]);
      assert.deepEqual(updated['phoneNumbers'], [{ value: '1', type: 'work', primary: false }]);
      assert.deepEqual(await ok(200, 'PATCH', path, patchBody({ op: 'remove', path: 'title' })).then((body) => body['title']), undefined);
      assert.equal((await ok(200, 'PATCH', path, patchBody({ op: 'replace', path: 'active', value: false })))['active'], false);
    });

    it('groups: create, look up without members, add, rename, remove in both dialects, delete', async () => {
      const ids: string[] = [];
      for (const name of ['g1', 'g2', 'g3']) ids.push(String((await ok(201, 'POST', '/Users', newUser(name)))['id']));
      assert.equal((await ok(200, 'GET', `/Groups?excludedAttributes=members&filter=${q('displayName eq "Sales"')}`))['totalResults'], 0);
      const group = await ok(201, 'POST', '/Groups', {
        schemas: [groupSchema],
        externalId: 'gx',
        displayName: 'Sales',
        meta: { resourceType: 'Group' },
        members: [],
      });
      const path = `/Groups/${group['id']}`;
      assert.equal((await ok(200, 'GET', `${path}?excludedAttributes=members`))['displayName'], 'Sales');
      const patch = (operation: Json): Promise<Json> => ok(204, 'PATCH', path, patchBody(operation));
      await patch({ op: 'Replace', path: 'displayName', value: 'Sales EMEA' });
      await patch({ op: 'Add', path: 'members', value: [{ $ref: null, value: ids[0] }] });
      await patch({ op: 'add', path: 'members', value: [{ value: ids[1] }, { value: ids[2] }] });
      await patch({ op: 'Remove', path: 'members', value: [{ $ref: null, value: ids[0] }] });
      await patch({ op: 'remove', path: `members[value eq "${ids[1]}"]` });
      assert.deepEqual(
        ((await ok(200, 'GET', path))['members'] as readonly Json[]).map((member) => member['value']),
        [ids[2]],
      );
      assert.equal((await found('/Groups', 'displayName eq "sales emea"'))['totalResults'], 1);
      await ok(204, 'DELETE', path);
    });
  });
}
