// What Okta sends: an integration of its network (OIN, PATCH on users) and one made by its wizard (AIW, PUT on users),
// written from its public SCIM documentation.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { groupSchema, type Json, patchBody, type ScimCaller, scimPlaces, startScim, userSchema } from '../support/scim.ts';

const q = encodeURIComponent;
const newUser = (name: string): Json => ({
  schemas: [userSchema],
  userName: `${name}@okta.local`,
  name: { givenName: 'Test', familyName: 'User' },
  emails: [{ primary: true, value: `${name}@okta.local`, type: 'work' }],
  displayName: 'Test User',
  locale: 'en-US',
  externalId: `00u-${name}`,
  groups: [],
  password: '1mz050nq',
  active: true,
});

for (const { database, directory } of scimPlaces) {
  describe(`Okta of ${directory} (${database})`, () => {
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
    const lookup = (name: string): Promise<Json> =>
      ok(200, 'GET', `/Users?filter=${q(`userName eq "${name}@okta.local"`)}&startIndex=1&count=100`);

    it('OIN: look up, create, again is 409, read, deactivate and reactivate by PATCH with the id in the value', async () => {
      assert.deepEqual((await lookup('oin'))['Resources'], []);
      const user = await ok(201, 'POST', '/Users', newUser('oin'));
      assert.equal('password' in user, false);
      assert.equal((await ok(409, 'POST', '/Users', newUser('oin')))['scimType'], 'uniqueness');
      const path = `/Users/${user['id']}`;
      assert.deepEqual(await ok(200, 'GET', path), user);
      assert.deepEqual((await lookup('oin'))['Resources'], [user]);
      assert.equal((await ok(200, 'PATCH', path, patchBody({ op: 'replace', value: { active: false } })))['active'], false);
      assert.equal((await ok(200, 'PATCH', path, patchBody({ op: 'replace', value: { id: user['id'], active: true } })))['active'], true);
      assert.equal((await ok(200, 'GET', '/Users?startIndex=1&count=2'))['itemsPerPage'], 1);
    });

    it('AIW: the user is read, changed and PUT back whole', async () => {
      const user = await ok(201, 'POST', '/Users', newUser('aiw'));
      const path = `/Users/${user['id']}`;
      const changed = { ...user, name: { givenName: 'Another', middleName: 'Excited', familyName: 'User' }, groups: [] };
      const put = await ok(200, 'PUT', path, changed);
      assert.deepEqual(put['name'], { familyName: 'User', givenName: 'Another', middleName: 'Excited' });
      const off = await ok(200, 'PUT', path, { ...put, active: false });
      assert.equal(off['active'], false);
      assert.equal((await ok(200, 'PUT', path, { ...off, active: true }))['active'], true);
    });

    it('group push: create with members and display, rename by PATCH with id, members by PATCH and PUT, delete', async () => {
      const a = await ok(201, 'POST', '/Users', newUser('push1'));
      const b = await ok(201, 'POST', '/Users', newUser('push2'));
      const member = (user: Json): Json => ({ value: user['id'], display: user['userName'] });
      const group = await ok(201, 'POST', '/Groups', { schemas: [groupSchema], displayName: 'Test SCIMv2', members: [member(a)] });
      const path = `/Groups/${group['id']}`;
      assert.equal((await ok(200, 'GET', `/Groups?startIndex=1&count=100&filter=${q('displayName eq "Test SCIMv2"')}`))['totalResults'], 1);
      await ok(204, 'PATCH', path, patchBody({ op: 'replace', value: { id: group['id'], displayName: 'Test SCIMv2 renamed' } }));
      await ok(
        204,
        'PATCH',
        path,
        patchBody({ op: 'remove', path: `members[value eq "${a['id']}"]` }, { op: 'add', path: 'members', value: [member(b)] }),
      );
      assert.deepEqual(
        ((await ok(200, 'GET', path))['members'] as readonly Json[]).map((one) => one['value']),
        [b['id']],
      );
      await ok(204, 'PATCH', path, patchBody({ op: 'replace', path: 'members', value: [member(a), member(b)] }));
      const put = await ok(200, 'PUT', path, { schemas: [groupSchema], id: group['id'], displayName: 'Test SCIMv2', members: [member(b)] });
      assert.equal((put['members'] as readonly Json[]).length, 1);
      await ok(204, 'DELETE', path);
      await ok(404, 'GET', path);
    });
  });
}
