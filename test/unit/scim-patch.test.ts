// PATCH planning and applying without a database (contract 7.13, RFC 7644 section 3.5.2).
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { ContractError } from '../../src/contract/contract-error.ts';
import { type Document, sameDocument } from '../../src/scim/document.ts';
import { applyMutations, type DocumentMutation } from '../../src/scim/patch/patch-apply.ts';
import type { Mutation } from '../../src/scim/patch/patch-mutation.ts';
import { planPatch } from '../../src/scim/patch/patch-planner.ts';
import { groupIndex, userIndex } from '../../src/scim/schema/schema-lookup.ts';
import { assertLinear } from '../support/linear-time.ts';

const id = '0190a1b2-0000-7000-8000-000000000001';
const jane: Document = {
  userName: 'jane',
  'name.familyName': 'Doe',
  active: true,
  emails: [
    { value: 'jane@work.example', type: 'work', primary: true },
    { value: 'jane@home.example', type: 'home' },
  ],
};
const enterprise = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User';

const isForDocument = (mutation: Mutation): mutation is DocumentMutation =>
  mutation.kind !== 'addMembers' && mutation.kind !== 'removeMembers' && mutation.kind !== 'replaceMembers';

function patched(...operations: readonly unknown[]): Document {
  return applyMutations(jane, planPatch(userIndex, id, { Operations: operations }).filter(isForDocument));
}

function refusal(work: () => unknown): string {
  try {
    work();
  } catch (error) {
    if (error instanceof ContractError) return error.row;
    throw error;
  }
  return 'none';
}

function becomes(name: string, operation: unknown, change: Document): void {
  test(`PATCH: ${name}`, () => {
    const result = patched(operation);
    assert.ok(sameDocument(result, { ...jane, ...change }), JSON.stringify(result));
  });
}

becomes('replace a leaf', { op: 'replace', path: 'title', value: 'Dr' }, { title: 'Dr' });
becomes('op in any case', { op: 'Add', path: 'nickName', value: 'J' }, { nickName: 'J' });
becomes('a string boolean', { op: 'replace', path: 'active', value: 'False' }, { active: false });
becomes('URN path', { op: 'add', path: `${enterprise}:department`, value: 'R' }, { 'enterprise.department': 'R' });
becomes('URN as path', { op: 'add', path: enterprise, value: { department: 'R', nothing: 1 } }, { 'enterprise.department': 'R' });
becomes('manager as a string', { op: 'add', path: `${enterprise}:manager`, value: 'm1' }, { 'enterprise.manager.value': 'm1' });
becomes('merge into a complex attribute', { op: 'replace', path: 'name', value: { givenName: 'Jane' } }, { 'name.givenName': 'Jane' });
becomes('remove a complex attribute', { op: 'remove', path: 'name' }, { 'name.familyName': undefined });
becomes('null clears', { op: 'replace', path: 'name.familyName', value: null }, { 'name.familyName': undefined });
becomes(
  'path-less with dotted, URN and value path keys',
  {
    op: 'replace',
    value: {
      'name.familyName': 'Roe',
      [`${enterprise}:costCenter`]: 'c',
      [enterprise]: { division: 'd' },
      'emails[type eq "home"].display': 'H',
      nothing: 1,
      'nothing[a eq 1]': 2,
      meta: { version: 'x' },
      id,
      groups: [],
      schemas: ['x'],
      password: 'secret',
      __proto__: { polluted: true },
    },
  },
  {
    'name.familyName': 'Roe',
    'enterprise.costCenter': 'c',
    'enterprise.division': 'd',
    emails: [
      { value: 'jane@work.example', type: 'work', primary: true },
      { value: 'jane@home.example', type: 'home', display: 'H' },
    ],
  },
);
becomes(
  'a second primary clears the first',
  { op: 'add', path: 'emails', value: [{ value: 'n@x.example', primary: true }] },
  {
    emails: [
      { value: 'jane@work.example', type: 'work', primary: false },
      { value: 'jane@home.example', type: 'home' },
      { value: 'n@x.example', primary: true },
    ],
  },
);
becomes(
  'primary moves by value path',
  { op: 'replace', path: 'emails[type eq "home"].primary', value: true },
  {
    emails: [
      { value: 'jane@work.example', type: 'work', primary: false },
      { value: 'jane@home.example', type: 'home', primary: true },
    ],
  },
);
becomes('add of what is there changes nothing', { op: 'add', path: 'emails', value: [{ value: 'jane@home.example', type: 'home' }] }, {});
becomes(
  'value path replaces a sub-attribute',
  { op: 'replace', path: 'emails[type eq "HOME"].value', value: 'z@x.example' },
  {
    emails: [
      { value: 'jane@work.example', type: 'work', primary: true },
      { value: 'z@x.example', type: 'home' },
    ],
  },
);
becomes(
  'add through eq creates the element',
  { op: 'add', path: 'phoneNumbers[type eq "Mobile"].value', value: '1' },
  { phoneNumbers: [{ type: 'Mobile', value: '1' }] },
);
becomes(
  'remove listed values',
  { op: 'remove', path: 'emails', value: [{ value: 'jane@home.example' }] },
  { emails: [{ value: 'jane@work.example', type: 'work', primary: true }] },
);
becomes(
  'remove through a value path',
  { op: 'remove', path: 'emails[type eq "home"]' },
  { emails: [{ value: 'jane@work.example', type: 'work', primary: true }] },
);
becomes('password is accepted and ignored', { op: 'replace', path: 'password', value: 'x' }, {});

test('PATCH: an empty list changes nothing', () => assert.deepEqual(planPatch(userIndex, id, { Operations: [] }), []));

const refused: readonly (readonly [string, string, unknown])[] = [
  ['invalidSyntax', 'unknown op', { op: 'move', path: 'title' }],
  ['invalidSyntax', 'op missing', { path: 'title' }],
  ['invalidSyntax', 'an operation that is no object', 'x'],
  ['invalidSyntax', 'path that is no string', { op: 'add', path: 5, value: 'x' }],
  ['noTarget', 'remove without a path', { op: 'remove' }],
  ['noTarget', 'replace selects nothing', { op: 'replace', path: 'emails[type eq "other"].value', value: 'x' }],
  ['noTarget', 'remove selects nothing', { op: 'remove', path: 'emails[type eq "other"]' }],
  ['noTarget', 'add cannot be made from co', { op: 'add', path: 'emails[type co "other"].value', value: 'a@b' }],
  ['invalidPath', 'unknown path', { op: 'add', path: 'nothing', value: 'x' }],
  ['invalidPath', 'id', { op: 'replace', path: 'id', value: id }],
  ['invalidPath', 'meta', { op: 'replace', path: 'meta.created', value: 'x' }],
  ['invalidPath', 'groups', { op: 'add', path: 'groups', value: [] }],
  ['invalidPath', 'bad filter inside', { op: 'remove', path: 'emails[type eq work]' }],
  ['invalidPath', 'unknown name inside', { op: 'remove', path: 'emails[nothing eq "x"]' }],
  ['invalidPath', 'value path on one value', { op: 'remove', path: 'name[familyName eq "x"]' }],
  ['invalidPath', 'sub-attribute without brackets', { op: 'replace', path: 'emails.value', value: 'x' }],
  ['invalidPath', 'unknown sub-attribute', { op: 'replace', path: 'emails[type eq "work"].nothing', value: 'x' }],
  ['invalidPath', 'empty path', { op: 'add', path: '', value: 'x' }],
  ['invalidPath', '__proto__', { op: 'add', path: '__proto__', value: { polluted: true } }],
  ['invalidPath', 'constructor.prototype', { op: 'add', path: 'constructor.prototype', value: { polluted: true } }],
  ['invalidValue', 'another id without path', { op: 'replace', value: { id: 'other' } }],
  ['invalidValue', 'value missing', { op: 'add', path: 'title' }],
  ['invalidValue', 'path-less value that is no object', { op: 'add', value: 'x' }],
  ['invalidValue', 'a number for a string', { op: 'replace', path: 'title', value: 5 }],
  ['invalidValue', 'a word for a boolean', { op: 'replace', path: 'active', value: 'maybe' }],
  ['invalidValue', 'remove active', { op: 'remove', path: 'active' }],
  ['invalidValue', 'remove userName', { op: 'remove', path: 'userName' }],
  ['invalidValue', 'remove emails', { op: 'remove', path: 'emails' }],
  ['invalidValue', 'replace emails by none', { op: 'replace', path: 'emails', value: [] }],
  [
    'invalidValue',
    'two primaries at once',
    {
      op: 'add',
      path: 'emails',
      value: [
        { value: 'a@b', primary: true },
        { value: 'c@d', primary: true },
      ],
    },
  ],
  ['invalidValue', 'primary for several', { op: 'replace', path: 'emails[value pr].primary', value: true }],
];
for (const [row, name, operation] of refused) {
  test(`7.13 scim.${row}: ${name}`, () =>
    assert.equal(
      refusal(() => patched(operation)),
      `scim.${row}`,
    ));
}

for (const body of [undefined, null, [], 'x', {}, { Operations: {} }, { Operations: null }]) {
  test(`7.13 scim.invalidSyntax: body ${JSON.stringify(body)}`, () =>
    assert.equal(
      refusal(() => planPatch(userIndex, id, body)),
      'scim.invalidSyntax',
    ));
}

const members: readonly (readonly [string, unknown, unknown])[] = [
  [
    'add',
    { op: 'add', path: 'members', value: [{ value: 'a' }, { value: 'a' }, { value: 'b', type: 'User' }] },
    [{ kind: 'addMembers', ids: ['a', 'b'] }],
  ],
  ['remove listed', { op: 'Remove', path: 'members', value: [{ value: 'a' }] }, [{ kind: 'removeMembers', ids: ['a'], mustExist: false }]],
  ['remove selected', { op: 'remove', path: 'members[value eq "a"]' }, [{ kind: 'removeMembers', ids: ['a'], mustExist: true }]],
  [
    'remove several',
    { op: 'remove', path: 'members[value eq "a" or value eq "b"]' },
    [{ kind: 'removeMembers', ids: ['a', 'b'], mustExist: true }],
  ],
  ['replace by none', { op: 'replace', path: 'members', value: [] }, [{ kind: 'replaceMembers', ids: [] }]],
];
for (const [name, operation, expected] of members) {
  test(`PATCH members: ${name}`, () => assert.deepEqual(planPatch(groupIndex, id, { Operations: [operation] }), expected));
}
const memberRefusals: readonly (readonly [string, unknown])[] = [
  ['invalidValue', { op: 'remove', path: 'members' }],
  ['invalidValue', { op: 'remove', path: 'members', value: [] }],
  ['invalidValue', { op: 'remove', path: 'members[value pr]' }],
  ['invalidValue', { op: 'remove', path: 'members[type eq "User"]' }],
  ['invalidValue', { op: 'add', path: 'members', value: [{ value: 'g', type: 'Group' }] }],
  ['invalidValue', { op: 'add', path: 'members', value: ['a'] }],
  ['invalidPath', { op: 'add', path: 'members[value eq "a"]', value: {} }],
  ['invalidPath', { op: 'remove', path: 'members[value eq "a"].display' }],
  ['invalidValue', { op: 'remove', path: 'displayName' }],
];
for (const [row, operation] of memberRefusals) {
  test(`7.13 scim.${row}: group ${JSON.stringify(operation)}`, () =>
    assert.equal(
      refusal(() => planPatch(groupIndex, id, { Operations: [operation] })),
      `scim.${row}`,
    ));
}

test('any JSON is planned or refused, and no prototype is touched', () => {
  const key = fc.constantFrom(
    'op',
    'path',
    'value',
    'Operations',
    '__proto__',
    'constructor',
    'prototype',
    'emails',
    'name',
    'toString',
    'hasOwnProperty',
  );
  const json = fc.letrec((tie) => ({
    value: fc.oneof(
      { depthSize: 'small' },
      fc.constantFrom('add', 'remove', 'emails[type eq "a"]', '__proto__.x', 'userName'),
      fc.jsonValue(),
      tie('object'),
      tie('list'),
    ),
    object: fc.dictionary(key, tie('value'), { maxKeys: 5 }),
    list: fc.array(tie('value'), { maxLength: 4 }),
  }));
  const before = Object.getOwnPropertyNames(Object.prototype).length;
  fc.assert(
    fc.property(fc.array(json.object, { maxLength: 4 }), (operations) => {
      const work = (): unknown => patched(...(JSON.parse(JSON.stringify(operations)) as unknown[]));
      const row = refusal(work);
      assert.ok(row === 'none' || row.startsWith('scim.'));
    }),
    { numRuns: 2000 },
  );
  assert.equal(Object.getOwnPropertyNames(Object.prototype).length, before);
  assert.equal(({} as Record<string, unknown>)['polluted'], undefined);
});

test('planning is linear in the operations', () => {
  assertLinear((n) => {
    const Operations = Array.from({ length: n }, (_, at) => ({
      op: 'add',
      path: 'phoneNumbers[type eq "x"].value',
      value: `${at}`,
    }));
    return () => void planPatch(userIndex, id, { Operations });
  }, 200);
});
test('planning is linear in the members', () => {
  assertLinear((n) => {
    const value = Array.from({ length: n }, (_, at) => ({ value: `${at}` }));
    return () => void planPatch(groupIndex, id, { Operations: [{ op: 'add', path: 'members', value }] });
  }, 4000);
});
