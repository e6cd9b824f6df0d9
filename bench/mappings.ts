// Mapping rules in process: 100 rules over a person in 1,000 groups, each rule looking at every group (design 16, "Must show").
import { mappingRulesMax } from '../src/contract/limits.ts';
import { compileRules } from '../src/domain/mappings/apply.ts';
import { claimsOf } from '../src/domain/mappings/claims.ts';
import type { MappedPerson } from '../src/domain/mappings/paths.ts';
import type { MappingRule } from '../src/domain/mappings/rule.ts';
import { userColumns } from '../src/domain/people/user-attributes.ts';
import { type Bench, median } from './table.ts';

const groupsOfPerson = 1000;
const warmUps = 200;
const rounds = 500;

const rule = (at: number): MappingRule => ({
  to: `app${at}`,
  from: 'groups',
  only: { prefix: [`app-${at}-`] },
  strip: `app-${at}-`,
  values: { '0': 'admin', '*': 'member' },
  template: '{value}@{tenant.slug}',
});

export const mappings: Bench = async () => {
  const nobody = Object.fromEntries(userColumns.map((name) => [name, null])) as Record<(typeof userColumns)[number], null>;
  const person: MappedPerson = {
    user: { ...nobody, id: 'u', updated_at: 0 },
    lists: {},
    address: undefined,
    groups: Array.from({ length: groupsOfPerson }, (_, at) => ({
      id: `g${at}`,
      name: `app-${at % mappingRulesMax}-${Math.floor(at / mappingRulesMax)}`,
    })),
    custom: {},
  };
  const facts = { person, clientId: 'app', tenantSlug: 'main', acr: undefined };
  const rules = compileRules(Array.from({ length: mappingRulesMax }, (_, at) => rule(at)));
  for (let round = 0; round < warmUps; round += 1) claimsOf(rules, facts);
  const times = Array.from({ length: rounds }, () => {
    const start = performance.now();
    claimsOf(rules, facts);
    return performance.now() - start;
  });
  const value = median(times);
  const more = { fastestMs: Math.min(...times) };
  const what = `${mappingRulesMax} mapping rules, a person in ${groupsOfPerson} groups`;
  return [{ id: 'E16', what, value, unit: 'ms', bar: '< 1 ms', met: value < 1, more }];
};
