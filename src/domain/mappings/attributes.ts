// The SAML attributes one provider is told: the tenant's table, then the provider's attribute_map read as rules, then its own rules, each
// replacing the one before by name (design 16, section 1). Pure.
import { mappedAttributesBytesMax } from '../../contract/limits.ts';
import type { ServiceProvider } from '../saml/service-provider.ts';
import { type Applied, applyRules, type CompiledRules, compileRules, layRules, type Mapped, type Room } from './apply.ts';
import type { MappingFacts } from './paths.ts';
import type { MappingRules } from './rule.ts';

export interface SamlAttribute {
  readonly name: string;
  readonly nameFormat: string;
  readonly friendlyName: string | undefined;
  /** Never empty. */
  readonly values: readonly string[];
}

/** A map of paths to names is a table of rules that say nothing else; it gives whatever the person has. */
const ofMap = (map: ServiceProvider['attributeMap']): MappingRules => Object.entries(map).map(([from, to]) => ({ to, from }));

export function attributeRulesOf(
  table: MappingRules,
  { attributeMap, mappings }: Pick<ServiceProvider, 'attributeMap' | 'mappings'>,
): CompiledRules {
  return layRules(layRules(compileRules(table), ofMap(attributeMap), true), mappings);
}

export const attributesRoom: Room = {
  bytesMax: mappedAttributesBytesMax,
  bytesOf: (to, { values }) => values.reduce<number>((sum, value) => sum + Buffer.byteLength(String(value)), Buffer.byteLength(to)),
};

/** The attributes that rules give, in the order of the rules; one without a value is left out. */
export function attributesOf(
  rules: CompiledRules,
  facts: MappingFacts,
): { readonly attributes: readonly SamlAttribute[] } & Pick<Applied, 'spilled'> {
  const { given, spilled } = applyRules(rules, facts, attributesRoom);
  return { attributes: given.filter(({ values }) => values.length > 0).map(attributeOf), spilled };
}

const attributeOf = ({ rule, values }: Mapped): SamlAttribute => ({
  name: rule.to,
  nameFormat: nameFormatOf(rule.to, rule.name_format),
  friendlyName: rule.friendly_name,
  values: values.map(String),
});

// SAML core 8.2: a name that is a URI says so, any other is a simple string, unless a rule says what it is.
function nameFormatOf(name: string, given: string | undefined): string {
  const format = given ?? (/^[A-Za-z][A-Za-z0-9+.-]*:\S+$/.test(name) ? 'uri' : 'basic');
  return format.includes(':') ? format : `urn:oasis:names:tc:SAML:2.0:attrname-format:${format}`;
}
