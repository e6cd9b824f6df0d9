// Who is in a group of a directory, by itself and by groups within it: 5 deep, each once, in circles too, and no more than may be.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  directoryGroupCharsMax,
  directoryGroupsMax,
  directoryMembersMax,
  directoryNestedMembersMax,
  directoryNestingMax,
} from '../../src/contract/directory-limits.ts';
import { createGroupGraph } from '../../src/directories/ldap/group-graph.ts';
import { readingLimits } from '../../src/directories/ldap/pages.ts';
import { DirectoryFault } from '../../src/directories/reading.ts';

const roomy = { members: 1000, nestedMembers: 1000, names: 1000, chars: 10_000 };

function graphOf(groups: Readonly<Record<string, readonly string[]>>, most: Partial<typeof roomy> = {}) {
  const graph = createGroupGraph({ ...roomy, ...most });
  for (const [name, members] of Object.entries(groups)) graph.add({ remoteId: name, dn: name, dnKey: name, name })(members);
  const flattened = new Map([...graph.groups()].map((group) => [group.dnKey, () => graph.membersOf(group)]));
  return (name: string) => flattened.get(name)!();
}
const isTooMany = (error: unknown): boolean => error instanceof DirectoryFault && error.failure.reason === 'too_many';

describe('groups within groups', () => {
  it('members of its own and of others, each once, whoever is read first', () => {
    const of = graphOf({ a: ['p1', 'b', 'p2', 'p2'], b: ['p2', 'p3', 'c'], c: ['p4'] });
    assert.deepEqual(of('a'), { members: ['p1', 'p2', 'p3', 'p4'], groups: ['a', 'b', 'c'] });
    assert.deepEqual(of('b'), { members: ['p2', 'p3', 'p4'], groups: ['b', 'c'] });
    assert.deepEqual(of('c'), { members: ['p4'], groups: ['c'] });
  });

  it('circles end, of one and of several', () => {
    const of = graphOf({ a: ['a', 'b', 'p1'], b: ['c'], c: ['a', 'p2'], empty: [] });
    assert.deepEqual(of('a').members, ['p1', 'p2']);
    assert.deepEqual(of('b').members, ['p2', 'p1']);
    assert.deepEqual(of('empty'), { members: [], groups: ['empty'] });
  });

  it('as deep as may be, and no deeper', () => {
    const chain = Object.fromEntries(Array.from({ length: directoryNestingMax + 2 }, (_, at) => [`g${at}`, [`p${at}`, `g${at + 1}`]]));
    const { members, groups } = graphOf(chain)('g0');
    assert.deepEqual(
      members.filter((name) => name.startsWith('p')),
      Array.from({ length: directoryNestingMax + 1 }, (_, at) => `p${at}`),
    );
    assert.deepEqual(
      groups,
      Array.from({ length: directoryNestingMax + 1 }, (_, at) => `g${at}`),
    );
  });

  it('members of all groups, and those by others, to n and not n + 1', () => {
    const groups = { a: ['p1', 'p2', 'b'], b: ['p3', 'p4'] };
    assert.equal(graphOf(groups, { members: 5, nestedMembers: 2 })('a').members.length, 4);
    assert.throws(() => graphOf(groups, { members: 4, nestedMembers: 2 }), isTooMany);
    assert.throws(() => graphOf(groups, { members: 5, nestedMembers: 1 })('a'), isTooMany);
    assert.equal(graphOf(groups, { names: 6 })('a').members.length, 4);
    assert.throws(() => graphOf(groups, { names: 5 }), isTooMany);
    // Of each group its id, its name twice and as it is compared; of each member its name.
    assert.equal(graphOf(groups, { chars: 2 * 4 + 4 * 2 })('a').members.length, 4);
    assert.throws(() => graphOf(groups, { chars: 2 * 4 + 4 * 2 - 1 }), isTooMany);
    const { groups: groupsMax, members, nestedMembers, chars } = readingLimits;
    assert.deepEqual(
      [groupsMax, members, nestedMembers, chars],
      [directoryGroupsMax, directoryMembersMax, directoryNestedMembersMax, directoryGroupCharsMax],
    );
  });

  it('skipped ones count too', () => {
    const graph = createGroupGraph({ ...roomy, chars: 4 });
    const entry = { remoteId: undefined, dn: 'a', dnKey: 'a', reason: 'It says no id.' };
    graph.skip(entry);
    graph.skip(entry);
    assert.deepEqual(graph.skipped(), [entry, entry]);
    assert.throws(() => graph.skip(entry), isTooMany);
  });

  it('everybody in everything ends before it costs too much', () => {
    const names = Array.from({ length: 300 }, (_, at) => `g${at}`);
    const of = graphOf(Object.fromEntries(names.map((name) => [name, names])), { members: 90_000, nestedMembers: 1_000_000 });
    assert.throws(() => names.forEach(of), isTooMany);
  });
});
