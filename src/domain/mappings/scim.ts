// A person as a SCIM target is told of them (design 16, section 4): the default rules, the paths that rules write to, and the resource
// they make. Pure.
import { type Applied, applyRules, type CompiledRules, compileRules, layRules, type Mapped } from './apply.ts';
import { attributesRoom } from './attributes.ts';
import type { MappedValue, MappingFacts } from './paths.ts';
import type { MappingRules } from './rule.ts';
import { readScimPath, type ScimPath, scimPlurals, scimUserSchema } from './scim-path.ts';

type Json = Readonly<Record<string, unknown>>;

const enterprise = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User';

// biome-ignore format: a table, a rule a line
const defaults: MappingRules = [
  { to: 'userName', from: 'user_name' },
  { to: 'externalId', from: 'id' },
  { to: 'name.givenName', from: 'name.given_name' },
  { to: 'name.familyName', from: 'name.family_name' },
  { to: 'displayName', from: 'full_name' },
  { to: 'emails[type eq "work"].value', from: 'emails.primary' },
  { to: 'title', from: 'title' },
  { to: 'preferredLanguage', from: 'preferred_language' },
  { to: `${enterprise}:employeeNumber`, from: 'enterprise.employee_number' },
  { to: `${enterprise}:costCenter`, from: 'enterprise.cost_center' },
  { to: `${enterprise}:organization`, from: 'enterprise.organization' },
  { to: `${enterprise}:division`, from: 'enterprise.division' },
  { to: `${enterprise}:department`, from: 'enterprise.department' },
];

/** The rules of a connector: ours, the tenant's table, its own, each replacing the one before by `to`. */
export const scimRulesOf = (table: MappingRules, own: MappingRules): CompiledRules =>
  layRules(layRules(compileRules(defaults), table), own);

export interface ScimUser {
  readonly resource: Json;
  /** Which attributes it has, so that one it no longer has can be taken away. */
  readonly paths: readonly string[];
}

/** The person as a resource, without an id. */
export function scimUserOf(rules: CompiledRules, facts: MappingFacts, active: boolean): ScimUser & Pick<Applied, 'spilled'> {
  const { given, spilled } = applyRules(rules, facts, attributesRoom);
  const core: Record<string, unknown> = {};
  const extensions: Record<string, Record<string, unknown>> = {};
  for (const mapped of given) {
    const path = readScimPath(mapped.rule.to);
    if (path === undefined || mapped.values.length === 0) continue;
    if (path.schema !== undefined) extensions[path.schema] ??= {};
    write(extensions[path.schema ?? ''] ?? core, path, mapped);
  }
  markPrimary(core['emails']);
  const resource = { schemas: [scimUserSchema, ...Object.keys(extensions)], ...core, ...extensions, active };
  return { resource, paths: pathsOf(resource), spilled };
}

function write(into: Record<string, unknown>, { attribute, type, sub }: ScimPath, { values, isList }: Mapped): void {
  const isPlural = type !== undefined || scimPlurals.includes(attribute);
  if (!isPlural) {
    const value = isList && sub === undefined && values.length > 1 ? values : values[0];
    if (sub === undefined) into[attribute] = value;
    else into[attribute] = { ...(into[attribute] as object | undefined), [sub]: value };
    return;
  }
  into[attribute] ??= [];
  const elements = into[attribute] as Record<string, unknown>[]; // written here alone
  const member = sub ?? 'value';
  if (type === undefined && member === 'value') elements.push(...values.map((value: MappedValue) => ({ value })));
  else {
    const known = elements.find((element) => element['type'] === type);
    if (known !== undefined) known[member] = values[0];
    else elements.push({ [member]: values[0], ...(type !== undefined && { type }) });
  }
}

/** One is the primary one. */
function markPrimary(elements: unknown): void {
  const [first] = (elements ?? []) as Record<string, unknown>[]; // written above
  if (first !== undefined) first['primary'] = true;
}

/** The path of each attribute, and of each part of one that has parts. */
function pathsOf(resource: Json): readonly string[] {
  return Object.entries(resource).flatMap(([name, value]) => {
    if (name === 'schemas' || name === 'active') return [];
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return [name];
    const parts = Object.keys(value);
    return name.startsWith('urn:') ? parts.map((part) => `${name}:${part}`) : parts.map((part) => `${name}.${part}`);
  });
}
