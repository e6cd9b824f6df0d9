// Mapping rules by themselves (design 16, section 1): what each member does, in which order, what is refused, and what holds of any table.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { mappedAttributesBytesMax, mappedClaimsBytesMax } from '../../src/contract/limits.ts';
import { compileRules, layRules } from '../../src/domain/mappings/apply.ts';
import { attributesOf } from '../../src/domain/mappings/attributes.ts';
import { claimsOf, claimsRoom, placesOf } from '../../src/domain/mappings/claims.ts';
import { type MappedPerson, type MappingFacts, mappingPaths } from '../../src/domain/mappings/paths.ts';
import { previewRules } from '../../src/domain/mappings/preview.ts';
import type { MappingRule, MappingRules } from '../../src/domain/mappings/rule.ts';
import { rulesFault } from '../../src/domain/mappings/rule-faults.ts';
import { userColumns } from '../../src/domain/people/user-attributes.ts';

const nobody = Object.fromEntries(userColumns.map((name) => [name, null])) as Record<(typeof userColumns)[number], string | null>;
const ada: MappedPerson = {
  user: {
    ...nobody,
    id: 'u1',
    updated_at: 1_700_000_000_500,
    user_name: 'Ada',
    given_name: 'Ada',
    family_name: 'Lovelace',
    department: 'Mathematics',
  },
  lists: {
    emails: [
      { value: 'ada@home.example', type: 'home' },
      { value: 'ada@uni.example', type: 'work' },
    ],
    roles: [{ value: 'analyst', type: null }],
  },
  address: { locality: 'London', country: 'GB' },
  groups: [
    { id: 'g1', name: 'aws-Admin' },
    { id: 'g2', name: 'uni-staff' },
    { id: 'g3', name: 'uni-students' },
  ],
  custom: { cost_code: 'K-17', level: 3, skills: ['Chess', 'Go', 'chess'] },
};
const facts = (person: MappedPerson | undefined = ada): MappingFacts => ({ person, clientId: 'app', tenantSlug: 'main', acr: 'mfa' });
const claim = (rule: Omit<MappingRule, 'to'>, about = facts()): unknown =>
  claimsOf(compileRules([{ to: 'x', ...rule }]), about).claims['x'];

describe('mapping rules: sources', () => {
  const paths: readonly (readonly [string, unknown])[] = [
    ['id', 'u1'],
    ['user_name', 'Ada'],
    ['name.given_name', 'Ada'],
    ['full_name', 'Ada Lovelace'],
    ['enterprise.department', 'Mathematics'],
    ['updated_at', 1_700_000_000],
    ['title', undefined],
    ['emails', ['ada@home.example', 'ada@uni.example']],
    ['emails.primary', 'ada@home.example'],
    ['emails[work]', ['ada@uni.example']],
    ['emails[pager]', undefined],
    ['phone_numbers.primary', undefined],
    ['roles', ['analyst']],
    ['addresses.primary', { locality: 'London', country: 'GB' }],
    ['addresses.primary.country', 'GB'],
    ['groups', ['aws-Admin', 'uni-staff', 'uni-students']],
    ['groups.id', ['g1', 'g2', 'g3']],
    ['custom.level', 3],
    ['custom.skills', ['Chess', 'Go', 'chess']],
    ['custom.nothing', undefined],
    ['client.id', 'app'],
    ['tenant.slug', 'main'],
    ['session.acr', 'mfa'],
  ];
  for (const [path, expected] of paths) it(path, () => assert.deepEqual(claim({ from: path }), expected));
  it('every path is a path, and one of a client that acts for itself has no person', () => {
    for (const path of mappingPaths) {
      assert.equal(rulesFault('oidc', [{ to: 'x', from: path }]), undefined, path);
      const given = claim({ from: path }, { ...facts(), person: undefined });
      assert.equal(given, ['client.id', 'tenant.slug', 'session.acr'].includes(path) ? claim({ from: path }) : undefined, path);
    }
  });
  it('a constant keeps its type; a list stays one', () => {
    for (const value of ['text', 4, false, ['one'], ['one', 2]]) assert.deepEqual(claim({ value }), value);
  });
});

describe('mapping rules: steps', () => {
  const groups = (rule: Omit<MappingRule, 'to' | 'from'>): unknown => claim({ from: 'groups', ...rule });
  const steps: readonly (readonly [string, Omit<MappingRule, 'to' | 'from'>, unknown])[] = [
    ['only equals', { only: { equals: ['uni-staff'] } }, ['uni-staff']],
    ['only prefix, any of them', { only: { prefix: ['aws-', 'uni-st'] } }, ['aws-Admin', 'uni-staff', 'uni-students']],
    ['only suffix', { only: { suffix: ['s'] } }, ['uni-students']],
    ['only contains', { only: { contains: ['staff'] } }, ['uni-staff']],
    ['only: all that are given', { only: { prefix: ['uni-'], contains: ['ff'] } }, ['uni-staff']],
    ['strip takes from the beginning alone', { strip: 'uni-' }, ['aws-Admin', 'staff', 'students']],
    ['values drop what is not listed', { values: { 'uni-staff': 'staff' } }, ['staff']],
    ['values: * is for the others, and equal values are one', { values: { 'uni-staff': 'staff', '*': 'member' } }, ['member', 'staff']],
    ['values: * itself keeps them', { values: { 'uni-staff': 'staff', '*': '*' } }, ['aws-Admin', 'staff', 'uni-students']],
    ['case', { case: 'upper', only: { suffix: ['Admin'] } }, ['AWS-ADMIN']],
    ['template', { only: { prefix: ['uni-'] }, strip: 'uni-', template: '{{{value}}}@{tenant.slug}' }, ['{staff}@main', '{students}@main']],
    ['a placeholder without a value drops', { template: '{value}-{title}' }, undefined],
    ['a placeholder with several values drops', { template: '{value}-{custom.skills}' }, undefined],
    ['default', { only: { prefix: ['none'] }, default: 'guest' }, 'guest'],
    ['default: an empty list', { only: { prefix: ['none'] }, default: [] }, []],
    ['first', { only: { prefix: ['uni-'] }, first: true }, 'uni-staff'],
    ['join', { only: { prefix: ['uni-'] }, join: ';' }, 'uni-staff;uni-students'],
    ['when equals', { when: { path: 'user_name', equals: 'Ada' }, first: true }, 'aws-Admin'],
    ['when equals, of a list any', { when: { path: 'emails', equals: 'ada@uni.example' }, first: true }, 'aws-Admin'],
    ['when equals, not', { when: { path: 'user_name', equals: 'ada' } }, undefined],
    ['when equals a number', { when: { path: 'custom.level', equals: 3 }, first: true }, 'aws-Admin'],
    ['when present', { when: { path: 'enterprise.department', present: true }, first: true }, 'aws-Admin'],
    ['when present, not', { when: { path: 'title', present: true } }, undefined],
    ['when in a group, by name', { when: { group: 'uni-staff' }, first: true }, 'aws-Admin'],
    ['when in a group, by id', { when: { group: 'g3' }, first: true }, 'aws-Admin'],
    ['when in a group, not', { when: { group: 'uni-s' } }, undefined],
  ];
  for (const [what, rule, expected] of steps)
    it(what, () => {
      assert.equal(rulesFault('oidc', [{ to: 'x', from: 'groups', ...rule }]), undefined);
      assert.deepEqual(groups(rule), expected);
    });
  it('the example of the design', () => {
    const rule: MappingRule = {
      to: 'eduPersonScopedAffiliation',
      from: 'groups',
      only: { prefix: ['uni-'] },
      strip: 'uni-',
      values: { staff: 'staff', students: 'student' },
      template: '{value}@uni.example',
    };
    assert.equal(rulesFault('saml', [rule]), undefined);
    assert.deepEqual(attributesOf(compileRules([rule]), facts()).attributes, [
      {
        name: 'eduPersonScopedAffiliation',
        nameFormat: 'urn:oasis:names:tc:SAML:2.0:attrname-format:basic',
        friendlyName: undefined,
        values: ['staff@uni.example', 'student@uni.example'],
      },
    ]);
  });
  it('a template alone is a source', () => assert.equal(claim({ template: '{id}@{tenant.slug}' }), 'u1@main'));
  it('a text that looks like a member of every object is a value like any other', () => {
    const rule = { value: ['constructor', '__proto__'], values: { constructor: 'one' } };
    assert.deepEqual(claim(rule), ['one']);
    assert.equal(rulesFault('oidc', [{ to: 'x', from: 'constructor' }])?.startsWith('rule 1, from: "constructor" is not known'), true);
  });
  it('rules of one name give together, each value once; rules above replace those below, and null takes away', () => {
    const below = compileRules([
      { to: 'a', value: 'below' },
      { to: 'b', value: 'below' },
    ]);
    const above: MappingRules = [
      { to: 'a', value: ['one', 'two'] },
      { to: 'a', value: 'one' },
      { to: 'b', value: null },
      { to: 'c', value: 1 },
      { to: 'c', value: 2, when: { group: 'g1' } },
    ];
    assert.deepEqual(claimsOf(layRules(below, above), facts()).claims, { a: ['one', 'two'], c: [1, 2] });
  });
});

describe('mapping rules: mistakes', () => {
  const mistakes: readonly (readonly [unknown, RegExp])[] = [
    [{ to: 'x', from: 'groops' }, /^rule 1, from: "groops" is not known; the nearest is "groups"$/],
    [{ to: 'x', from: 'emails[]' }, /^rule 1, from: "emails\[\]" is not known; the nearest is "emails"$/],
    [{ to: 'x', from: 'custom.Cost' }, /the nearest is "custom\.name"/],
    [{ to: 'x', form: 'groups' }, /^rule 1, form: is no member of a rule here; the nearest is "from"$/],
    [{ to: 'x', from: 'groups', name_format: 'uri' }, /^rule 1, name_format: is no member/],
    [{ from: 'groups' }, /^rule 1, to: must be a text/],
    [{ to: 'with space', from: 'groups' }, /to: is a name without spaces/],
    [{ to: 'sub', from: 'groups' }, /^rule 1, to: "sub" is a claim of the protocol$/],
    [{ to: 'scope', value: 'clients:write' }, /claim of the protocol/],
    [{ to: 'urn:openid:params:jwt:claim:rt_hash', value: 'x' }, /claim of the protocol/],
    [{ to: '__proto__', value: 'x' }, /__proto__/],
    [{ to: 'x' }, /^rule 1, from: is required, or value, or a template$/],
    [{ to: 'x', from: 'groups', value: 'x' }, /^rule 1, from: is not for a rule with value$/],
    [{ to: 'x', value: null, case: 'lower' }, /^rule 1, case: is not for a rule that takes away/],
    [{ to: 'x', value: { a: 1 } }, /^rule 1, value: must be a text/],
    [{ to: 'x', from: 'groups', only: {} }, /^rule 1, only: must have some of equals, prefix, suffix, contains$/],
    [{ to: 'x', from: 'groups', only: { prefix: 'uni-' } }, /^rule 1, only: prefix must be a list/],
    [{ to: 'x', from: 'groups', only: { regex: ['.*'] } }, /^rule 1, only: must have some of/],
    [{ to: 'x', from: 'groups', strip: '' }, /^rule 1, strip: must be a text/],
    [{ to: 'x', from: 'groups', values: { a: 1 } }, /^rule 1, values: "a" and what it becomes/],
    [{ to: 'x', from: 'groups', case: 'title' }, /^rule 1, case: must be lower or upper$/],
    [{ to: 'x', from: 'groups', template: 'a{value' }, /^rule 1, template: a \{ has no \}$/],
    [{ to: 'x', from: 'groups', template: 'a}' }, /^rule 1, template: a \} has no \{/],
    [{ to: 'x', from: 'groups', template: '{valeu}' }, /^rule 1, template: "valeu" is not known; the nearest is "value"$/],
    [{ to: 'x', from: 'groups', template: '{groups}' }, /^rule 1, template: \{groups\} is not one text$/],
    [{ to: 'x', template: '{value}' }, /^rule 1, template: \{value\} needs a rule with from or value$/],
    [{ to: 'x', from: 'groups', first: false }, /^rule 1, first: must be true/],
    [{ to: 'x', from: 'groups', first: true, join: ',' }, /^rule 1, join: is not for a rule with first$/],
    [{ to: 'x', from: 'groups', in: ['jwt'] }, /^rule 1, in: must be a list of id_token, userinfo, access_token$/],
    [{ to: 'x', from: 'groups', in: ['userinfo', 'userinfo'] }, /^rule 1, in: must be a list/],
    [{ to: 'x', from: 'groups', scope: 'two scopes' }, /^rule 1, scope: is the name of a scope$/],
    [{ to: 'x', from: 'groups', when: { path: 'groups' } }, /^rule 1, when: must be \{path, equals\}/],
    [{ to: 'x', from: 'groups', when: { path: 'goups', present: true } }, /^rule 1, when: "goups" is not known; the nearest is "groups"$/],
    [{ to: 'x', from: 'addresses.primary', case: 'lower' }, /^rule 1, case: is not for an address/],
    [{ to: 'x', from: 7 }, /^rule 1, from: must be a path/],
    ['x', /^rule 1, an object is required$/],
  ];
  for (const [rule, expected] of mistakes) it(JSON.stringify(rule), () => assert.match(rulesFault('oidc', [rule]) ?? '', expected));
  it('names the rule', () => assert.match(rulesFault('oidc', [{ to: 'x', value: 1 }, { to: 'y' }]) ?? '', /^rule 2, /));
  it('SAML: its own members, and no address', () => {
    assert.equal(rulesFault('saml', [{ to: 'x y', value: 1, name_format: 'uri', friendly_name: 'X' }]), undefined);
    assert.match(rulesFault('saml', [{ to: 'x', value: 1, in: ['userinfo'] }]) ?? '', /^rule 1, in: is no member/);
    assert.match(rulesFault('saml', [{ to: 'x', value: 1, name_format: 'long' }]) ?? '', /^rule 1, name_format: must be basic/);
    assert.match(rulesFault('saml', [{ to: ' x', value: 1 }]) ?? '', /^rule 1, to: has control characters/);
    assert.match(rulesFault('saml', [{ to: 'x', from: 'addresses.primary' }]) ?? '', /^rule 1, from: an address is no text/);
  });
});

const text = fc
  .string({ minLength: 1, maxLength: 12 })
  .filter((value) => !/[{}]/.test(value) && value.isWellFormed() && !/\p{Cc}/u.test(value));
const anyRule: fc.Arbitrary<MappingRule> = fc.record(
  {
    to: fc.constantFrom('a', 'b', 'c'),
    from: fc.constantFrom('groups', 'custom.skills', 'emails', 'user_name', 'custom.level'),
    only: fc.record({ prefix: fc.array(text, { minLength: 1, maxLength: 3 }) }),
    strip: text,
    values: fc.dictionary(fc.constantFrom('Chess', 'uni-staff', '*'), text, { minKeys: 1, maxKeys: 3 }),
    case: fc.constantFrom('lower' as const, 'upper' as const),
    template: fc.constantFrom('{value}', '{value}{value}', 'a-{value}@{tenant.slug}', '{id}'),
    default: text,
    join: text,
    when: fc.constantFrom({ group: 'g1' }, { group: 'g9' }, { path: 'title', present: true as const }),
  },
  { requiredKeys: ['to', 'from'] },
);

describe('mapping rules: whatever the table', () => {
  it('what passes the check is applied, gives no more than its room, and the same each time', () =>
    fc.assert(
      fc.property(fc.array(anyRule, { maxLength: 20 }), fc.array(fc.string({ maxLength: 2000 }), { maxLength: 50 }), (rules, names) => {
        assert.equal(rulesFault('oidc', rules), undefined);
        const person = { ...ada, groups: [...ada.groups, ...names.map((name, at) => ({ id: `n${at}`, name }))] };
        const compiled = compileRules(rules);
        const { claims } = claimsOf(compiled, facts(person));
        assert.ok(Buffer.byteLength(JSON.stringify(claims)) <= mappedClaimsBytesMax + 2);
        assert.deepEqual(claimsOf(compiled, facts(person)).claims, claims);
        const { attributes } = attributesOf(compiled, facts(person));
        const bytes = attributes.flatMap(({ name, values }) => [name, ...values]).reduce((sum, one) => sum + Buffer.byteLength(one), 0);
        assert.ok(bytes <= mappedAttributesBytesMax);
      }),
    ));
  it('a preview says what the application is told: every value of a rule is given or dropped', () =>
    fc.assert(
      fc.property(fc.array(anyRule, { maxLength: 5 }), (rules) => {
        const compiled = compileRules(rules);
        const items = [...previewRules(compiled, facts(), claimsRoom, placesOf)];
        assert.deepEqual(
          items.map(({ to }) => to),
          rules.map(({ to }) => to),
        );
        const { claims } = claimsOf(compiled, facts());
        for (const [at, rule] of rules.entries()) {
          if (rules.some((other, index) => index !== at && other.to === rule.to)) continue;
          assert.deepEqual([claims[rule.to] ?? []].flat(), items[at]!.values);
        }
      }),
    ));
  it('work grows with the table and the person, not with their product of texts: what explodes stops at its room', () => {
    const long = 'x'.repeat(1000);
    const groups = Array.from({ length: 1000 }, (_, at) => ({ id: `g${at}`, name: `${long}${at}` }));
    let made = 0;
    const counting = groups.map(({ id, name }) => ({
      id,
      get name() {
        made += 1;
        return name;
      },
    }));
    const rules = Array.from({ length: 100 }, (_, at): MappingRule => ({ to: `x${at}`, from: 'groups', template: '{value}'.repeat(10) }));
    const { claims, spilled } = claimsOf(compileRules(rules), facts({ ...ada, groups: counting }));
    assert.deepEqual([claims, spilled.length], [{}, 100]);
    assert.equal(made, 100 * groups.length);
  });
});
