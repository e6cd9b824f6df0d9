// What is wrong with a table of mapping rules, in words that name the rule, the member and the nearest known name (design 16, section 1).
// Nothing here trusts a shape: service providers and documents come here unread. Pure.
import {
  mappingOnlyTextsMax,
  mappingPlaceholdersMax,
  mappingRulesMax,
  mappingTextCharsMax,
  mappingValuesMax,
  samlAttributeNameCharsMax,
  scopeNameCharsMax,
} from '../../contract/limits.ts';
import type { KindFault } from '../kind.ts';
import { isProtocolClaim } from '../oidc/protocol-claims.ts';
import { type CustomAttribute, customPath, unknownCustomPath } from '../people/custom-attributes.ts';
import { isXmlText } from '../saml/xml-text.ts';
import { inboundTargets, isInboundTarget } from './inbound-targets.ts';
import { inboundPathFault, nearestOf, pathFault, pathOf } from './paths.ts';
import {
  applications,
  claimPlaces,
  comparisons,
  type MappingKind,
  type MappingRule,
  type MappingRules,
  membersOf,
  toCharsMax,
} from './rule.ts';
import { scimPathFault } from './scim-path.ts';
import { placeholdersOf, readTemplate, valuePlaceholder } from './template.ts';

type Unread = Readonly<Record<string, unknown>>;
type Check = (value: unknown, rule: Unread, kind: MappingKind) => string | undefined;

/** The first fault of a table, e.g. `rule 2, from: "groops" is not known; the nearest is "groups"`. */
export function rulesFault(kind: MappingKind, rules: unknown): string | undefined {
  if (!Array.isArray(rules) || rules.length > mappingRulesMax) return `at most ${mappingRulesMax} rules are allowed`;
  for (const [index, rule] of rules.entries()) {
    const fault = ruleFault(kind, rule);
    if (fault !== undefined) return `rule ${index + 1}, ${fault}`;
  }
  return undefined;
}

/** What is wrong with rules that read, or write, attributes the tenant does not have; those a thing has already may name what has gone since. */
export function unknownAttributeFault(
  kind: MappingKind,
  rules: MappingRules,
  { tenant, before, field = 'mappings' }: Named,
): KindFault | undefined {
  const paths = rules === before?.mappings ? [] : attributePaths(kind, rules);
  const text = unknownCustomPath(tenant.customAttributes, paths);
  if (text === undefined) return undefined;
  const known = tenant.customAttributes.map(customPath);
  const expected = `paths of the tenant's attributes: ${known.join(', ') || 'it has none'}`;
  const found = paths.find((path) => path.startsWith('custom.') && !known.includes(path));
  return { field, is: 'sentence', text, inDocument: { path: [field], expected, found } };
}

interface Named {
  readonly tenant: { readonly customAttributes: readonly CustomAttribute[] };
  readonly before?: { readonly mappings: MappingRules } | undefined;
  /** Where the rules stand, if not in `mappings`. */
  readonly field?: string;
}

/** Every path that names an attribute of a person: rules read it, or write it for whoever comes from another provider. */
const attributePaths = (kind: MappingKind, rules: MappingRules): readonly string[] =>
  rules.flatMap((rule) => (kind === 'inbound' ? [rule.to] : pathsIn(rule)));

/** Every path a rule reads. */
export function pathsIn({ from, when, template }: MappingRule): readonly string[] {
  const read = readTemplate(template ?? '');
  const placeholders = read.ok ? placeholdersOf(read.parts).filter((path) => path !== valuePlaceholder) : [];
  return [from, when?.path, ...placeholders].filter((path) => path !== undefined);
}

function ruleFault(kind: MappingKind, rule: unknown): string | undefined {
  if (!isObject(rule)) return 'an object is required';
  const allowed: readonly string[] = membersOf[kind];
  const unknown = Object.keys(rule).find((name) => !allowed.includes(name));
  if (unknown !== undefined)
    return `${unknown.slice(0, 50)}: is no member of a rule here; the nearest is "${nearestOf(unknown.slice(0, 50), allowed)}"`;
  for (const name of membersOf[kind]) {
    if (rule[name] === undefined && name !== 'to') continue;
    const fault = checks[name](rule[name], rule, kind);
    if (fault !== undefined) return `${name}: ${fault}`;
  }
  return sourceFault(rule) ?? orderFault(rule);
}

const steps = [
  'when',
  'only',
  'strip',
  'values',
  'case',
  'template',
  'default',
  'first',
  'join',
  'in',
  'scope',
  'name_format',
  'friendly_name',
  'apply',
];

function sourceFault(rule: Unread): string | undefined {
  const sources = ['from', 'value'].filter((name) => rule[name] !== undefined);
  if (sources.length > 1) return 'from: is not for a rule with value';
  if (sources.length === 0 && rule['template'] === undefined) return 'from: is required, or value, or a template';
  if (rule['value'] !== null) return undefined;
  const more = steps.find((name) => rule[name] !== undefined);
  return more === undefined ? undefined : `${more}: is not for a rule that takes away (value: null)`;
}

function orderFault(rule: Unread): string | undefined {
  if (rule['first'] !== undefined && rule['join'] !== undefined) return 'join: is not for a rule with first';
  const hasSource = rule['from'] !== undefined || rule['value'] !== undefined;
  if (!hasSource && templateNames(rule).includes(valuePlaceholder)) return 'template: {value} needs a rule with from or value';
  const changes = ['only', 'strip', 'values', 'case', 'template', 'join'].find((name) => rule[name] !== undefined);
  const path = typeof rule['from'] === 'string' ? pathOf(rule['from']) : undefined;
  return path?.isObject === true && changes !== undefined
    ? `${changes}: is not for an address; name a part, e.g. addresses.primary.locality`
    : undefined;
}

function templateNames(rule: Unread): readonly string[] {
  const read = readTemplate(String(rule['template'] ?? ''));
  return read.ok ? placeholdersOf(read.parts) : [];
}

function toFault(value: unknown, kind: MappingKind): string | undefined {
  const fault = textFault(value, toCharsMax[kind]);
  if (fault !== undefined) return fault;
  const to = String(value);
  if (kind === 'saml') return xmlFault(to);
  if (kind === 'inbound' && !isProtocolClaim(to)) return targetFault(to);
  if (kind === 'scim') return scimPathFault(to);
  if (!/^[\x21-\x7e]+$/.test(to)) return 'is a name without spaces';
  return isProtocolClaim(to) ? `"${to}" is a claim of the protocol` : undefined;
}

function targetFault(to: string): string | undefined {
  return isInboundTarget(to) ? undefined : `"${to}" cannot be written; the nearest is "${nearestOf(to, inboundTargets)}"`;
}

const pathFaultOf = (kind: MappingKind, path: unknown, near?: readonly string[]): string | undefined =>
  kind === 'inbound' ? inboundPathFault(path) : pathFault(path, { isOfSaml: kind === 'saml', ...(near && { near }) });

const checks: Readonly<Record<keyof MappingRule, Check>> = {
  to: (value, _rule, kind) => toFault(value, kind),
  from: (value, _rule, kind) =>
    pathFaultOf(kind, value) ??
    ((kind === 'saml' || kind === 'scim') && pathOf(String(value))?.isObject === true
      ? 'an address is no text; name a part, e.g. addresses.primary.locality'
      : undefined),
  value: (value) => (value === null ? undefined : constantFault(value)),
  when: whenFault,
  only: onlyFault,
  strip: (value) => textFault(value, mappingTextCharsMax),
  values: valuesFault,
  case: (value) => (value === 'lower' || value === 'upper' ? undefined : 'must be lower or upper'),
  template: templateFault,
  default: constantFault,
  first: (value) => (value === true ? undefined : 'must be true, or left out'),
  join: (value) => (isText(value, 0, mappingTextCharsMax) ? undefined : `must be a text of at most ${mappingTextCharsMax} characters`),
  in: placesFault,
  scope: (value) =>
    textFault(value, scopeNameCharsMax) ?? (/^[\x21\x23-\x5b\x5d-\x7e]+$/.test(String(value)) ? undefined : 'is the name of a scope'),
  name_format: nameFormatFault,
  friendly_name: (value) => textFault(value, samlAttributeNameCharsMax) ?? xmlFault(String(value)),
  apply: (value) => ((applications as readonly unknown[]).includes(value) ? undefined : `must be ${applications.join(' or ')}`),
};

const isObject = (value: unknown): value is Unread => typeof value === 'object' && value !== null && !Array.isArray(value);
const isText = (value: unknown, charsMin: number, charsMax: number): value is string =>
  typeof value === 'string' && value.length >= charsMin && value.length <= charsMax && isXmlText(value);
const isScalar = (value: unknown): boolean => typeof value === 'boolean' || Number.isFinite(value) || isText(value, 0, mappingTextCharsMax);
const textFault = (value: unknown, charsMax: number): string | undefined =>
  isText(value, 1, charsMax) ? undefined : `must be a text of 1 to ${charsMax} characters`;

// Text that an XML attribute carries unchanged.
const xmlFault = (value: string): string | undefined =>
  /[\t\n\r]/.test(value) || value.trim() !== value ? 'has control characters, or white space at its ends' : undefined;

function constantFault(value: unknown): string | undefined {
  const fits = Array.isArray(value) ? value.length <= mappingValuesMax && value.every(isScalar) : isScalar(value);
  return fits
    ? undefined
    : `must be a text of at most ${mappingTextCharsMax} characters, a number, true, false, or a list of at most ${mappingValuesMax} of these`;
}

const conditions = [['path', 'equals'], ['path', 'present'], ['group']];

function whenFault(value: unknown, _rule: Unread, kind: MappingKind): string | undefined {
  const names = isObject(value) ? Object.keys(value) : [];
  if (!isObject(value) || !conditions.some((one) => one.length === names.length && one.every((name) => names.includes(name))))
    return 'must be {path, equals}, {path, present: true} or {group}';
  if (value['group'] !== undefined && kind === 'inbound') return 'group is not known before somebody is here; name a path';
  if (value['group'] !== undefined) return textFault(value['group'], mappingTextCharsMax);
  if (value['present'] !== undefined && value['present'] !== true) return 'present must be true';
  if (value['equals'] !== undefined && !isScalar(value['equals'])) return 'equals must be a text, a number, true or false';
  return pathFaultOf(kind, value['path']);
}

function onlyFault(value: unknown): string | undefined {
  const known: readonly string[] = comparisons;
  const names = isObject(value) ? Object.keys(value) : [];
  if (!isObject(value) || names.length === 0 || !names.every((name) => known.includes(name)))
    return `must have some of ${comparisons.join(', ')}`;
  const fits = (texts: unknown): boolean =>
    Array.isArray(texts) &&
    texts.length >= 1 &&
    texts.length <= mappingOnlyTextsMax &&
    texts.every((text) => isText(text, 1, mappingTextCharsMax));
  const unfit = names.find((name) => !fits(value[name]));
  return unfit && `${unfit} must be a list of 1 to ${mappingOnlyTextsMax} texts`;
}

function valuesFault(value: unknown): string | undefined {
  const entries = isObject(value) ? Object.entries(value) : [];
  if (entries.length === 0 || entries.length > mappingValuesMax) return `must have 1 to ${mappingValuesMax} values`;
  const unfit = entries.find(([from, to]) => !isText(from, 1, mappingTextCharsMax) || !isText(to, 1, mappingTextCharsMax));
  return unfit && `"${unfit[0].slice(0, 50)}" and what it becomes must be texts of 1 to ${mappingTextCharsMax} characters`;
}

function templateFault(value: unknown, _rule: Unread, kind: MappingKind): string | undefined {
  const fault = textFault(value, mappingTextCharsMax);
  if (fault !== undefined) return fault;
  const read = readTemplate(String(value));
  if (!read.ok) return read.reason === 'brace_open' ? 'a { has no }' : 'a } has no {; }} is a brace';
  const names = placeholdersOf(read.parts);
  if (names.length > mappingPlaceholdersMax) return `at most ${mappingPlaceholdersMax} placeholders are allowed`;
  for (const name of names.filter((one) => one !== valuePlaceholder)) {
    const unknown = pathFaultOf(kind, name, [valuePlaceholder]);
    if (unknown !== undefined) return unknown;
    const path = pathOf(name);
    if (path?.isList === true || path?.isObject === true) return `{${name}} is not one text`;
  }
  return undefined;
}

function placesFault(value: unknown): string | undefined {
  const known: readonly unknown[] = claimPlaces;
  const fits =
    Array.isArray(value) && value.length >= 1 && new Set(value).size === value.length && value.every((one) => known.includes(one));
  return fits ? undefined : `must be a list of ${claimPlaces.join(', ')}`;
}

function nameFormatFault(value: unknown): string | undefined {
  const fits =
    isText(value, 1, samlAttributeNameCharsMax) &&
    (['basic', 'uri', 'unspecified'].includes(value) || /^[A-Za-z][A-Za-z0-9+.-]*:\S+$/.test(value));
  return fits ? undefined : 'must be basic, uri, unspecified or a URI';
}
