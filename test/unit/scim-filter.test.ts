// The filter parser, resolver and in-memory evaluator (contract section 4): grammar, meaning, limits at n and n+1, linear time.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Document } from '../../src/scim/document.ts';
import { matches } from '../../src/scim/filter/filter-evaluator.ts';
import { filterLimits, parseFilter, parsePath } from '../../src/scim/filter/filter-parser.ts';
import { resolveFilter } from '../../src/scim/filter/filter-resolver.ts';
import { FilterProblem } from '../../src/scim/filter/filter-syntax.ts';
import { groupIndex, type TypeIndex, userIndex } from '../../src/scim/schema/schema-lookup.ts';
import { anyCharacter } from '../support/any-character.ts';
import { assertLinear } from '../support/linear-time.ts';

const jane: Document = {
  id: '0190a1b2-0000-7000-8000-000000000001',
  externalId: 'Ext-1',
  userName: 'Jane.Doe%_@Example.com',
  'name.familyName': 'Straße',
  'name.givenName': 'Jane',
  active: true,
  emails: [
    { value: 'Jane@Work.example', type: 'work', primary: true },
    { value: 'jane@home.example', type: 'home' },
  ],
  phoneNumbers: [{ value: '+1 555' }],
  'enterprise.department': 'Research',
  'enterprise.manager.value': 'boss-1',
  'meta.resourceType': 'User',
  'meta.created': Date.UTC(2026, 0, 2, 3, 4, 5, 678),
  'meta.lastModified': Date.UTC(2026, 0, 3),
};

function holds(text: string, document: Document = jane, index: TypeIndex = userIndex): boolean {
  return matches(index, resolveFilter(index, parseFilter(text)), document);
}

function problemOf(text: string, index: TypeIndex = userIndex): string {
  try {
    resolveFilter(index, parseFilter(text));
  } catch (error) {
    if (error instanceof FilterProblem) return error.kind;
    throw error;
  }
  return 'none';
}

const enterprise = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User';
const core = 'urn:ietf:params:scim:schemas:core:2.0:User';

const truths: readonly string[] = [
  'userName eq "jane.doe%_@example.COM"',
  'USERNAME EQ "JANE.DOE%_@EXAMPLE.COM"',
  'userName sw "jane."',
  'userName ew "EXAMPLE.com"',
  'userName co "%_@"',
  'name.familyName eq "STRASSE"',
  'name pr',
  'externalId eq "Ext-1"',
  'not (externalId eq "ext-1")',
  'title ne "x"',
  'title eq null',
  'not (title pr)',
  'userName ne null',
  'active eq true',
  'active eq "True"',
  'active ne false',
  'emails pr',
  'emails.type eq "HOME"',
  'emails.type ne "home"',
  'emails[type eq "work" and value co "@work"]',
  'emails[type eq "work"].value eq "jane@work.example"',
  'emails[type eq "home" and primary eq false]',
  'phoneNumbers.primary eq false',
  'phoneNumbers.type ne "work"',
  'phoneNumbers[type eq null]',
  'not (addresses.country ne "x")',
  'meta.created eq "2026-01-02T03:04:05.678Z"',
  'meta.created eq "2026-01-02T04:04:05.678+01:00"',
  'meta.created lt "2026-01-02T03:04:05.678000001Z"',
  'meta.created gt "2026-01-02T03:04:05.677999999Z"',
  'meta.created ge "2026-01-02T03:04:05.678Z" and meta.lastModified le "2026-01-03T00:00:00Z"',
  'meta.resourceType eq "User"',
  `${core}:userName sw "J"`,
  `${core.toUpperCase()}:externalId eq "Ext-1"`,
  `${enterprise}:department eq "research"`,
  `${enterprise}:manager eq "boss-1"`,
  `${enterprise}:manager.value eq "boss-1"`,
  `schemas eq "${enterprise}"`,
  'userName eq "x" and userName eq "y" or active eq true',
  'active eq true or userName eq "x" and userName eq "y"',
  'NOT(userName eq "x") AND (active eq true)',
  'userName gt "jane" and userName lt "janf"',
  'userName co "\\u0025"',
];

for (const text of truths) test(`4 filter grammar: ${text} holds`, () => assert.equal(holds(text), true));

const falsehoods: readonly string[] = [
  'externalId eq "EXT-1"',
  'userName eq ""',
  'title gt ""',
  'title co ""',
  'emails[type eq "work" and value co "@home"]',
  'addresses pr',
  'meta.created eq "2026-01-02T03:04:05.678000001Z"',
  'meta.resourceType eq "user"',
  'userName co "_x"',
  'not (emails.type eq "home")',
  'active eq "FALSE"',
  `schemas eq "urn:nothing"`,
];
for (const text of falsehoods) test(`4 filter grammar: ${text} does not hold`, () => assert.equal(holds(text), false));

const malformed: readonly string[] = [
  '',
  ' ',
  'userName',
  'userName eq',
  'userName eq bjensen',
  'userName eq "a" trailing',
  'userName eq "a" and',
  'and',
  '()',
  '(userName eq "a"',
  'userName eq "a")',
  'not userName eq "a"',
  'userName xx "a"',
  'userName eq "a',
  "userName eq 'a'",
  'userName eq "\\x"',
  'userName eq "\\u0000"',
  'userName eq "\\ud800"',
  'userName eq "a\nb"',
  'userName eq True',
  'userName eq 01',
  'userName eq 5',
  'userName eq true',
  'userName gt null',
  'userName co null',
  'active gt true',
  'active co "true"',
  'active eq "yes"',
  'meta.created co "2026"',
  'meta.created sw "2026"',
  'emails eq "a@b"',
  'emails co "a"',
  'emails eq null',
  'name eq "x"',
  'emails[]',
  'emails[type]',
  'emails[type eq "work"',
  'emails[type eq "work"].',
  'emails[type eq "work"].value',
  'emails[type eq "work"]x',
  'name[familyName eq "x"]',
  'userName[value eq "x"]',
  'emails[emails[type eq "a"]]',
  'emails [type eq "work"]',
  'userName eq "a"and active eq true',
  'x509Certificates.value co "MII"',
  'userName\teq "a"',
  'userName eq "a" AND OR active eq true',
  'schemas[value eq "x"]',
  '__proto__ pr',
];
for (const text of malformed) {
  test(`7.13 scim.invalidFilter: ${JSON.stringify(text)} is malformed`, () => assert.equal(problemOf(text), 'filter'));
}

const unknownNames: readonly string[] = [
  'password eq "x"',
  'nothing pr',
  'name.nothing pr',
  'emails.nothing pr',
  'emails[nothing pr]',
  'constructor pr',
  'emails.constructor pr',
  'meta.version eq "x"',
  'department eq "x"',
  'urn:x:userName pr',
  `${enterprise} pr`,
  `${enterprise}:userName pr`,
  'userName.value eq "x"',
  'groups.$ref pr',
];
for (const text of unknownNames) {
  test(`7.13 scim.invalidFilter: ${text} is an unknown attribute path`, () => assert.equal(problemOf(text), 'unknown'));
}

for (const date of [
  'x',
  '2026-02-30T00:00:00Z',
  '2026-01-01',
  '2026-01-01T24:00:00Z',
  '2026-01-01T00:00:00.1234567890Z',
  '2026-13-01T00:00:00Z',
  '',
]) {
  test(`7.13 scim.invalidValue: bad date ${JSON.stringify(date)} in a filter`, () =>
    assert.equal(problemOf(`meta.created gt ${JSON.stringify(date)}`), 'value'));
}
test('7.13 scim.invalidValue: a date compared with a number', () => assert.equal(problemOf('meta.created gt 5'), 'value'));

const nested = (depth: number): string => `${'('.repeat(depth)}active eq true${')'.repeat(depth)}`;
const many = (count: number): string => Array.from({ length: count }, () => 'active eq true').join(' and ');
const paths = (count: number): string => Array.from({ length: count }, () => 'emails[value pr]').join(' or ');
const long = (length: number): string => `userName eq "${'a'.repeat(length - 14)}"`;

const bounds: readonly (readonly [string, number, (n: number) => string])[] = [
  ['characters', filterLimits.lengthMax, long],
  ['depth', filterLimits.depthMax, nested],
  ['comparisons', filterLimits.comparisonsMax, many],
  ['value paths', filterLimits.valuePathsMax, paths],
];
for (const [name, max, make] of bounds) {
  test(`8 filter limit: ${name} at ${max} pass, one more is invalidFilter`, () => {
    assert.equal(problemOf(make(max)), 'none');
    assert.equal(problemOf(make(max + 1)), 'filter');
  });
}
test('8 filter limit: characters are code points', () => {
  assert.equal(problemOf(`userName eq "${'😀'.repeat(4096 - 14)}"`), 'none');
  assert.equal(problemOf(`userName eq "${'😀'.repeat(4096 - 13)}"`), 'filter');
});
test('8 filter limit: brackets count as depth', () => {
  const inside = (n: number): string => `emails[${nested(n).replaceAll('active', 'primary')}]`;
  assert.equal(problemOf(inside(31)), 'none');
  assert.equal(problemOf(inside(32)), 'filter');
});

test('4 filter grammar: group names resolve against groups', () => {
  const group: Document = { displayName: 'Team', members: [{ value: 'u1', type: 'User' }] };
  assert.equal(holds('displayName eq "TEAM" and members[value eq "u1"]', group, groupIndex), true);
  assert.equal(problemOf('userName pr', groupIndex), 'unknown');
  assert.equal(problemOf('members eq "u1"', groupIndex), 'filter');
});

test('PATCH paths parse into name, filter and sub-attribute', () => {
  assert.deepEqual(parsePath('name.familyName'), {
    path: 'name.familyName',
    filter: undefined,
    subAttribute: undefined,
  });
  assert.deepEqual(parsePath('emails[type eq "a.b[c]"].value'), {
    path: 'emails',
    filter: { kind: 'compare', path: 'type', operator: 'eq', value: 'a.b[c]' },
    subAttribute: 'value',
  });
  for (const bad of [
    '',
    'emails[',
    'emails[]',
    'emails[type eq "x"]value',
    'emails[type eq "x"].',
    'a b',
    'emails[type eq "x"].value.more x',
  ]) {
    assert.throws(() => parsePath(bad), FilterProblem);
  }
});

test('any text either parses or is a FilterProblem, never anything else', () => {
  const pieces = fc.constantFrom(
    'userName',
    'emails',
    ' ',
    '(',
    ')',
    '[',
    ']',
    'eq',
    'and',
    'not',
    '"a"',
    '"',
    '\\',
    '.',
    'null',
    'true',
    '1',
    'pr',
    '\0',
    '😀',
  );
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string({ unit: anyCharacter }),
        fc.array(pieces, { maxLength: 40 }).map((parts) => parts.join('')),
      ),
      (text) => {
        assert.ok(['none', 'filter', 'unknown', 'value'].includes(problemOf(text)));
      },
    ),
    { numRuns: 3000 },
  );
});

const wide = { lengthMax: 10_000_000, depthMax: 10_000_000, comparisonsMax: 10_000_000, valuePathsMax: 10_000_000 };
const hostile: readonly (readonly [string, (n: number) => string])[] = [
  ['open parentheses', (n) => '('.repeat(n / 100)],
  ['spaces', (n) => `${' '.repeat(n)}x`],
  ['a long name', (n) => 'a'.repeat(n)],
  ['backslashes', (n) => `a eq "${'\\\\'.repeat(n)}`],
  ['many terms', (n) => many(n / 20)],
  ['digits', (n) => `a eq ${'1'.repeat(n)}x`],
  ['dots', (n) => `a eq 1${'.1'.repeat(n)}`],
];
for (const [name, make] of hostile) {
  test(`parser time is linear: ${name}`, () => {
    assertLinear((n) => {
      const text = make(n);
      return () => {
        try {
          parseFilter(text, wide);
        } catch (error) {
          assert.ok(error instanceof FilterProblem);
        }
      };
    }, 20_000);
  });
}
