// Contract 7.13: invalidValue, invalidSyntax, invalidPath, noTarget and uniqueness of writes, over HTTP on both databases.
// After each refusal the resource is unchanged.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { RowId } from '../../src/contract/catalogue.ts';
import { assertRefusal } from '../support/refusal.ts';
import { groupSchema, type Json, patchBody, type ScimCaller, scimPlaces, startScim, userBody } from '../support/scim.ts';

const work = { value: 'x@example.com', type: 'work', primary: true };

/** Bodies a create refuses as invalidValue, with their detail. */
const creates: readonly (readonly [string, string, unknown, string])[] = [
  ['userName missing', '/Users', { emails: [work] }, 'userName is required.'],
  ['userName empty', '/Users', { userName: '', emails: [work] }, 'userName is required.'],
  ['no emails', '/Users', { userName: 'x' }, 'A primary email is required.'],
  ['no primary email', '/Users', { userName: 'x', emails: [{ value: 'x@example.com' }] }, 'A primary email is required.'],
  [
    'two primaries',
    '/Users',
    { userName: 'x', emails: [work, { value: 'y@example.com', primary: true }] },
    'emails has more than one primary value.',
  ],
  ['email without value', '/Users', { userName: 'x', emails: [{ type: 'work', primary: true }] }, 'Each of emails needs a value.'],
  ['malformed email', '/Users', { userName: 'x', emails: [{ value: 'nobody', primary: true }] }, 'An email address is malformed.'],
  ['userName of the wrong type', '/Users', { userName: 5, emails: [work] }, 'userName must be a string.'],
  ['active of the wrong type', '/Users', { userName: 'x', emails: [work], active: 'perhaps' }, 'active must be true or false.'],
  ['emails of the wrong type', '/Users', { userName: 'x', emails: 'x@example.com' }, 'emails must be a list.'],
  ['name of the wrong type', '/Users', { userName: 'x', emails: [work], name: 'X' }, 'name must be an object.'],
  [
    'half a character in a value',
    '/Users',
    '{"userName":"x\\ud800","emails":[{"value":"x@example.com","primary":true}]}',
    'userName is not valid text.',
  ],
  ['NUL in a value', '/Users', { userName: 'x\0', emails: [work] }, 'A value is not valid text.'],
  ['a value too long', '/Users', { userName: 'x'.repeat(1025), emails: [work] }, 'userName is longer than 1024 characters.'],
  [
    'too many values',
    '/Users',
    { userName: 'x', emails: [work], roles: Array.from({ length: 101 }, (_, at) => ({ value: `${at}` })) },
    'roles has more than 100 values.',
  ],
  ['group without displayName', '/Groups', { schemas: [groupSchema] }, 'displayName is required.'],
  ['unknown member', '/Groups', { displayName: 'G', members: [{ value: 'nobody' }] }, 'A member does not exist.'],
  ['group as member', '/Groups', { displayName: 'G', members: [{ value: 'g', type: 'Group' }] }, 'Only users can be members.'],
];

type Operations = readonly Json[];

/** PATCH operations on a user that are refused. */
const userPatches: readonly (readonly [RowId, string, Operations, string])[] = [
  ['scim.invalidSyntax', 'op not add, replace or remove', [{ op: 'move', path: 'title' }], 'op must be add, replace or remove.'],
  ['scim.invalidPath', 'unknown path', [{ op: 'add', path: 'nothing', value: 'x' }], 'The path names no attribute that can change.'],
  ['scim.invalidPath', 'id', [{ op: 'replace', path: 'id', value: 'x' }], 'The path names no attribute that can change.'],
  ['scim.invalidPath', 'meta', [{ op: 'replace', path: 'meta', value: {} }], 'The path names no attribute that can change.'],
  [
    'scim.invalidPath',
    'value path on a single value',
    [{ op: 'remove', path: 'name[familyName eq "x"]' }],
    'The path selects values of an attribute that has one value.',
  ],
  ['scim.invalidPath', 'bad filter in the path', [{ op: 'remove', path: 'emails[type eq work]' }], 'A value without quotes at 16.'],
  ['scim.noTarget', 'remove matched no value', [{ op: 'remove', path: 'emails[type eq "other"]' }], 'The path selects no value of emails.'],
  [
    'scim.noTarget',
    'replace matched no value',
    [{ op: 'replace', path: 'phoneNumbers[type eq "work"].value', value: '1' }],
    'The path selects no value of phoneNumbers.',
  ],
  ['scim.noTarget', 'remove without a path', [{ op: 'remove' }], 'remove needs a path.'],
  ['scim.invalidValue', 'remove active', [{ op: 'remove', path: 'active' }], 'active cannot be removed.'],
  ['scim.invalidValue', 'remove userName', [{ op: 'remove', path: 'userName' }], 'userName cannot be removed.'],
  ['scim.invalidValue', 'remove emails', [{ op: 'remove', path: 'emails' }], 'emails cannot be removed.'],
  ['scim.invalidValue', 'remove the primary email', [{ op: 'remove', path: 'emails[primary eq true]' }], 'A primary email is required.'],
  [
    'scim.invalidValue',
    'unset the primary email',
    [{ op: 'replace', path: 'emails[type eq "work"].primary', value: false }],
    'A primary email is required.',
  ],
  ['scim.invalidValue', 'another id', [{ op: 'replace', value: { id: 'other' } }], 'id cannot change.'],
  [
    'scim.invalidValue',
    'a good operation before a bad one',
    [
      { op: 'replace', path: 'title', value: 'Dr' },
      { op: 'remove', path: 'active' },
    ],
    'active cannot be removed.',
  ],
];

const groupPatches: readonly (readonly [RowId, string, Operations, string])[] = [
  ['scim.invalidValue', 'remove members without a target', [{ op: 'remove', path: 'members' }], 'remove of members needs a target.'],
  [
    'scim.invalidValue',
    'remove members with an empty list',
    [{ op: 'remove', path: 'members', value: [] }],
    'remove of members needs a target.',
  ],
  [
    'scim.invalidValue',
    'members[value pr]',
    [{ op: 'remove', path: 'members[value pr]' }],
    'A value path on members must name values by eq.',
  ],
  ['scim.invalidValue', 'unknown member', [{ op: 'add', path: 'members', value: [{ value: 'nobody' }] }], 'A member does not exist.'],
  ['scim.invalidValue', 'remove displayName', [{ op: 'remove', path: 'displayName' }], 'displayName cannot be removed.'],
  [
    'scim.noTarget',
    'member not in the group',
    [{ op: 'remove', path: 'members[value eq "nobody"]' }],
    'The path selects no value of members.',
  ],
  [
    'scim.invalidPath',
    'user attribute on a group',
    [{ op: 'add', path: 'userName', value: 'x' }],
    'The path names no attribute that can change.',
  ],
];

const badBodies: readonly (readonly [string, string, string])[] = [
  ['bad JSON', '{', 'The body is not valid JSON.'],
  ['__proto__', '{"__proto__":{"x":1}}', 'The body is not valid JSON.'],
  ['Operations missing', '{}', 'Operations must be a list.'],
  ['Operations ill-typed', '{"Operations":{}}', 'Operations must be a list.'],
];

for (const { database, directory } of scimPlaces) {
  describe(`7.13 writes of ${directory} (${database})`, () => {
    let scim: ScimCaller;
    let user: Json & { readonly id: string };
    let group: Json & { readonly id: string };
    before(async () => {
      scim = await startScim(database, {}, directory);
      user = await scim.newUser('jane');
      group = await scim.newGroup('Team', [user.id]);
    });
    after(() => scim.close());

    const unchanged = async (): Promise<void> => {
      const { meta } = (await scim.call('GET', `/Users/${user.id}`)).body;
      assert.match(String((meta as Json)['version']), /^W\/"1-/); // the rest names the group
      assert.deepEqual((await scim.call('GET', `/Groups/${group.id}`)).body, group);
    };

    for (const [name, path, body, text] of creates) {
      it(`7.13 scim.invalidValue: ${name}`, async () => {
        await assertRefusal(await scim.fetch('POST', path, body), 'scim.invalidValue', { text });
      });
    }
    for (const [row, name, operations, text] of userPatches) {
      it(`7.13 ${row}: ${name}`, async () => {
        await assertRefusal(await scim.fetch('PATCH', `/Users/${user.id}`, patchBody(...operations)), row, { text });
        await unchanged();
      });
    }
    for (const [row, name, operations, text] of groupPatches) {
      it(`7.13 ${row}: group, ${name}`, async () => {
        await assertRefusal(await scim.fetch('PATCH', `/Groups/${group.id}`, patchBody(...operations)), row, { text });
        await unchanged();
      });
    }
    for (const [name, body, text] of badBodies) {
      it(`7.13 scim.invalidSyntax: ${name}`, async () => {
        await assertRefusal(await scim.fetch('PATCH', `/Users/${user.id}`, body), 'scim.invalidSyntax', { text });
      });
    }

    it('7.13 scim.uniqueness: folded userName, any email, folded displayName, on create, PUT and PATCH', async () => {
      const text = 'The userName or an email address is in use.';
      const other = await scim.newUser('other');
      const sameName = { ...userBody('x1'), userName: 'JANE' };
      const sameEmail = { userName: 'x2', emails: [{ value: 'x2@example.com', primary: true }, { value: 'Jane@Example.com' }] };
      for (const body of [sameName, sameEmail]) {
        await assertRefusal(await scim.fetch('POST', '/Users', body), 'scim.uniqueness', { text });
        await assertRefusal(await scim.fetch('PUT', `/Users/${other.id}`, body), 'scim.uniqueness', { text });
      }
      const patch = patchBody({ op: 'replace', path: 'userName', value: 'Jane' });
      await assertRefusal(await scim.fetch('PATCH', `/Users/${other.id}`, patch), 'scim.uniqueness', { text });
      assert.deepEqual((await scim.call('GET', `/Users/${other.id}`)).body, other);
      const second = await scim.newGroup('Second');
      const name = { text: 'The displayName is in use.' };
      await assertRefusal(await scim.fetch('POST', '/Groups', { displayName: 'TEAM' }), 'scim.uniqueness', name);
      await assertRefusal(await scim.fetch('PUT', `/Groups/${second.id}`, { displayName: 'tEam' }), 'scim.uniqueness', name);
      const rename = patchBody({ op: 'replace', value: { displayName: 'TEAM' } });
      await assertRefusal(await scim.fetch('PATCH', `/Groups/${second.id}`, rename), 'scim.uniqueness', name);
    });

    it('8 bounds at n: 1024 characters, 100 values', async () => {
      const body = { ...userBody('wide'), title: 'x'.repeat(1024), roles: Array.from({ length: 100 }, (_, at) => ({ value: `${at}` })) };
      assert.equal((await scim.call('POST', '/Users', body)).status, 201);
    });
  });
}
