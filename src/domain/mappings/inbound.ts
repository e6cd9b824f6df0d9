// What another provider says of a person, as attributes here (design 16, section 1): the standard claims, the tenant's table over them,
// the provider's attribute_map read as rules, and the provider's own rules, each over the one before by name. Pure.
import { mappedClaimsBytesMax, nameCharsMax, profileCharsMax } from '../../contract/limits.ts';
import { foldKey } from '../fold.ts';
import { type CustomAttribute, type CustomValue, type CustomValues, changeCustom, customPath } from '../people/custom-attributes.ts';
import { type UserColumn, userAttributes } from '../people/user-attributes.ts';
import { isXmlText } from '../saml/xml-text.ts';
import type { IdentityProvider } from '../sign-in/identity-provider.ts';
import { type Applied, applyRules, type CompiledRules, compileRules, layRules, type Room } from './apply.ts';
import { groupsTarget, listTargets, organizationRolesTarget } from './inbound-targets.ts';
import type { MappedValue, MappingFacts } from './paths.ts';
import type { MappingRules } from './rule.ts';

/** Values by what they are for, the path of an attribute. */
export type InboundValues = Readonly<Record<string, readonly MappedValue[]>>;

const standard = compileRules(
  [
    { to: 'name.given_name', from: 'upstream.given_name' },
    { to: 'name.family_name', from: 'upstream.family_name' },
    { to: 'display_name', from: 'upstream.name' },
    { to: 'locale', from: 'upstream.locale' },
  ],
  true,
);

/** A map of claims to attributes is rules that stand before the others: where its claim is absent, what they say holds. The last one wins. */
const ofMap = (map: IdentityProvider['attributeMap']): MappingRules =>
  Object.entries(map)
    .map(([claim, to]) => ({ to, from: `upstream.${claim}` }))
    .reverse();

export function inboundRulesOf(
  table: MappingRules,
  { attributeMap, mappings }: Pick<IdentityProvider, 'attributeMap' | 'mappings'>,
): CompiledRules {
  return layRules([...compileRules(ofMap(attributeMap), true), ...layRules(standard, table)], mappings);
}

export const inboundRoom: Room = {
  bytesMax: mappedClaimsBytesMax,
  bytesOf: (to, { values }) => values.reduce<number>((sum, value) => sum + Buffer.byteLength(String(value)), Buffer.byteLength(to)),
};

export interface Inbound extends Pick<Applied, 'spilled'> {
  /** For a new account. */
  readonly create: InboundValues;
  /** For every sign-in. Where rules for groups or roles hold at each, these are here without a value too: then the person has none. */
  readonly always: InboundValues;
}

/** What the claims of somebody who comes from a provider give. */
export function inboundOf(rules: CompiledRules, facts: MappingFacts): Inbound {
  const whole = applyRules(rules, facts, inboundRoom);
  const each = rules.filter(({ rule }) => rule.apply === 'always');
  const valuesOf = ({ given }: Applied): InboundValues => Object.fromEntries(given.map(({ rule, values }) => [rule.to, values]));
  const spoken = listTargets.filter((target) => each.some(({ rule }) => rule.to === target));
  const none: InboundValues = Object.fromEntries(spoken.map((target) => [target, []]));
  const always = { ...none, ...valuesOf(applyRules(each, facts, inboundRoom)) };
  return { create: valuesOf(whole), always, spilled: whole.spilled };
}

/** The groups that values name, each once; undefined where no rule speaks of groups. */
export function inboundGroups({ [groupsTarget]: values }: InboundValues): readonly string[] | undefined {
  const fits = (text: string): boolean => text !== '' && text.length <= nameCharsMax && isXmlText(text);
  return (
    values && [
      ...new Map(
        values
          .map(String)
          .filter(fits)
          .map((name) => [foldKey(name), name]),
      ).values(),
    ]
  );
}

/** The roles in the provider's organisation that values name; undefined where no rule speaks of them. */
export const inboundRoles = ({ [organizationRolesTarget]: values }: InboundValues): readonly string[] | undefined =>
  values && [...new Set(values.map(String))];

/** The columns of a person that values fill: of several the first that fits. */
export function inboundColumns(values: InboundValues): Partial<Record<UserColumn, string>> {
  const fits = (text: string): boolean => text !== '' && text.length <= profileCharsMax && isXmlText(text);
  return Object.fromEntries(
    userAttributes.flatMap(({ path, name }) => {
      const text = (path === 'user_name' ? [] : (values[path] ?? [])).map(String).find(fits);
      return text === undefined ? [] : [[name, text]];
    }),
  );
}

/** The tenant's own attributes with values laid over those before; a value that is none of its attribute's is left out. */
export function inboundCustom(attributes: readonly CustomAttribute[], values: InboundValues, before: CustomValues): CustomValues {
  let custom = before;
  for (const attribute of attributes) {
    const given = values[customPath(attribute)];
    if (given === undefined || given.length === 0) continue;
    const typed = given.flatMap((value) => typedOf(attribute, value) ?? []);
    const read = changeCustom(attributes, custom, { [attribute.name]: attribute.list ? typed : typed[0] });
    if (read.ok) custom = read.values;
  }
  return custom;
}

/** A text as the type of the attribute has it. */
function typedOf({ type }: CustomAttribute, value: MappedValue): CustomValue | undefined {
  if (typeof value === 'object') return undefined;
  if (type === 'number') return value === '' || !Number.isFinite(Number(value)) ? undefined : Number(value);
  if (type === 'boolean') return value === true || value === 'true' ? true : value === false || value === 'false' ? false : undefined;
  return String(value);
}
