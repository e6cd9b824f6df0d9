// A mapping rule (design 16, section 1) as it stands in the API, in documents and in rows: where a value comes from, what is done to it
// in a fixed order, and what it is called. A table of rules has no expressions, so that work on it is linear. Pure data.
import {
  customClaimCharsMax,
  mappingOnlyTextsMax,
  mappingPathCharsMax,
  mappingRulesMax,
  mappingTextCharsMax,
  mappingValuesMax,
  samlAttributeNameCharsMax,
  scopeNameCharsMax,
} from '../../contract/limits.ts';
import { type Json, json, type Kind } from '../field.ts';

export const mappingKinds = ['oidc', 'saml', 'inbound', 'scim'] as const;
export type MappingKind = (typeof mappingKinds)[number];

/** Where a claim goes. */
export const claimPlaces = ['id_token', 'userinfo', 'access_token'] as const;
export type ClaimPlace = (typeof claimPlaces)[number];
/** Where a claim goes whose rule does not say. */
export const defaultPlaces: readonly ClaimPlace[] = ['id_token', 'userinfo'];

/** When what another provider says of a person is written. */
export const applications = ['create', 'always'] as const;

export const comparisons = ['equals', 'prefix', 'suffix', 'contains'] as const;
export type Comparison = (typeof comparisons)[number];

type Scalar = string | number | boolean;

export interface When {
  readonly path?: string;
  readonly equals?: Scalar;
  readonly present?: true;
  /** A display name or an id. */
  readonly group?: string;
}

export interface MappingRule {
  readonly to: string;
  readonly from?: string;
  /** A constant or a list of them; null takes away what the default table says of `to`. */
  readonly value?: Scalar | readonly Scalar[] | null;
  readonly when?: When;
  readonly only?: { readonly [Name in Comparison]?: readonly string[] };
  readonly strip?: string;
  /** What each value becomes; what is not listed is dropped, unless `*` says what it becomes. `*` itself: it stays. */
  readonly values?: Readonly<Record<string, string>>;
  readonly case?: 'lower' | 'upper';
  readonly template?: string;
  readonly default?: Scalar | readonly Scalar[];
  readonly first?: true;
  readonly join?: string;
  /** OpenID Connect. */
  readonly in?: readonly ClaimPlace[];
  readonly scope?: string;
  /** SAML: basic, uri, unspecified, or a URI of its own. */
  readonly name_format?: string;
  readonly friendly_name?: string;
  /** Inbound: when an account is made, which is meant without a word, or at every sign-in. */
  readonly apply?: (typeof applications)[number];
}

export type MappingRules = readonly MappingRule[];
/** The default table of each kind. */
export type MappingTables = Readonly<Record<MappingKind, MappingRules>>;
export const noMappings: MappingTables = { oidc: [], saml: [], inbound: [], scim: [] };

const words = (charsMax: number, description: string): Json => ({ type: 'string', minLength: 1, maxLength: charsMax, description });
const texts = {
  type: 'array',
  minItems: 1,
  maxItems: mappingOnlyTextsMax,
  items: { type: 'string', minLength: 1, maxLength: mappingTextCharsMax },
};
const scalars = [{ type: 'string', maxLength: mappingTextCharsMax }, { type: 'number' }, { type: 'boolean' }];
const constant = [...scalars, { type: 'array', maxItems: mappingValuesMax, items: { anyOf: scalars } }];

// biome-ignore format: a table, one member a line
const members: Readonly<Record<keyof MappingRule, Json>> = {
  to: words(samlAttributeNameCharsMax, 'the claim or attribute'),
  from: words(mappingPathCharsMax, 'a path, e.g. user_name, emails.primary, emails[work], groups, custom.cost_code'),
  value: { anyOf: [...constant, { type: 'null' }], description: 'a constant or a list; null takes away what the default table says of `to`' },
  when: { type: 'object', properties: { path: words(mappingPathCharsMax, 'a path'), equals: { anyOf: scalars }, present: { type: 'boolean', enum: [true] },
    group: words(mappingTextCharsMax, 'display name or id') }, description: '{path, equals}, {path, present: true} or {group}' },
  only: { type: 'object', properties: Object.fromEntries(comparisons.map((name) => [name, texts])), description: 'which values pass' },
  strip: words(mappingTextCharsMax, 'taken from the beginning of each value'),
  values: { type: 'object', maxProperties: mappingValuesMax, additionalProperties: words(mappingTextCharsMax, 'what it becomes'),
    description: 'what each value becomes; others are dropped unless "*" says what they become ("*": they stay)' },
  case: { type: 'string', enum: ['lower', 'upper'] },
  template: words(mappingTextCharsMax, 'text with {value} and {path}s; {{ and }} are braces'),
  default: { anyOf: constant, description: 'when no value is left' },
  first: { type: 'boolean', enum: [true], description: 'the first value alone' },
  join: { type: 'string', maxLength: mappingTextCharsMax, description: 'the values as one text, with this between them' },
  in: { type: 'array', minItems: 1, maxItems: claimPlaces.length, items: { type: 'string', enum: claimPlaces }, description: `where a claim goes; without it ${defaultPlaces.join(' and ')}` },
  scope: words(scopeNameCharsMax, 'the scope that shows a claim; without it every sign-in does'),
  name_format: words(samlAttributeNameCharsMax, 'basic, uri, unspecified or a URI'),
  friendly_name: words(samlAttributeNameCharsMax, 'FriendlyName of a SAML attribute'),
  apply: { type: 'string', enum: applications, description: 'create: for new accounts, as without it; always: at every sign-in' },
};

const common = ['to', 'from', 'value', 'when', 'only', 'strip', 'values', 'case', 'template', 'default', 'first', 'join'] as const;
/** The members a rule of each kind may have, and how long its `to` is. */
export const membersOf: Readonly<Record<MappingKind, readonly (keyof MappingRule)[]>> = {
  oidc: [...common, 'in', 'scope'],
  saml: [...common, 'name_format', 'friendly_name'],
  inbound: [...common, 'apply'],
  scim: common,
};
export const toCharsMax: Readonly<Record<MappingKind, number>> = {
  oidc: customClaimCharsMax,
  saml: samlAttributeNameCharsMax,
  inbound: mappingPathCharsMax,
  scim: samlAttributeNameCharsMax,
};

/** A table of rules as a field: types and counts by its shape, everything else by rule-faults.ts. */
export const rulesKind = (kind: MappingKind): Kind<MappingRules, string> => ({
  ...json<MappingRules>({
    type: 'array',
    minItems: 0,
    maxItems: mappingRulesMax,
    items: { type: 'object', required: ['to'], properties: Object.fromEntries(membersOf[kind].map((name) => [name, members[name]])) },
  }),
  input: 'none',
});
