// A mapping rule in the console: the fields of its form, the rule they make, and a rule as a row says it.

import { emailTarget, userNameTarget } from '../../domain/extending/ldap-presets.ts';
import type { Json } from '../../domain/field.ts';
import { inboundTargets, listTargets } from '../../domain/mappings/inbound-targets.ts';
import { mappingPaths } from '../../domain/mappings/paths.ts';
import { applications, claimPlaces, comparisons, type MappingKind, type MappingRule } from '../../domain/mappings/rule.ts';
import type { FormField } from '../../first-party/form-field.ts';
import { type Html, html } from '../../platform/html.ts';

const listNames = {
  equals: 'Only these values',
  prefix: 'Only values that begin with',
  suffix: 'Only values that end with',
  contains: 'Only values with',
} as const;
const lines = 'One a line.';
const placeLabels = { id_token: { label: 'ID token' }, userinfo: { label: 'UserInfo' }, access_token: { label: 'Access token' } };

// biome-ignore format: a field a line
const shared: readonly FormField[] = [
  { path: 'to', label: 'Name at the application', kind: 'text', required: true, hint: 'The claim or attribute.' },
  { path: 'from', label: 'Field of the person', kind: 'text', suggestions: mappingPaths, hint: 'A name of the list, an attribute of your own (custom. and its name), or emails[work].' },
  { path: 'value', label: 'Or a constant', kind: 'lines', hint: 'One value a line; several lines make a list.' },
  { path: 'when.group', label: 'Only for members of the group', kind: 'text', tab: 'Who', hint: 'Its name or id. Empty: everybody.' },
  ...comparisons.map((name): FormField => ({ path: `only.${name}`, label: listNames[name], kind: 'lines', tab: 'Which values', hint: lines })),
  { path: 'strip', label: 'Take from the beginning', kind: 'text', tab: 'What becomes of them' },
  { path: 'values', label: 'What each becomes', kind: 'lines', tab: 'What becomes of them', hint: 'One a line: staff = employee. Others are dropped, unless * = says what they become.' },
  { path: 'case', label: 'Letters', kind: 'select', options: ['', 'lower', 'upper'], tab: 'What becomes of them' },
  { path: 'template', label: 'Text around it', kind: 'text', tab: 'What becomes of them', hint: '{value}@uni.example; {path} of one value.' },
  { path: 'default', label: 'When nothing is left', kind: 'text', tab: 'What becomes of them' },
  { path: 'several', label: 'Several values', kind: 'select', options: ['', 'first'], tab: 'What becomes of them', optionLabels: { first: { label: 'the first alone' } } },
];

/** Whose rules: those of a kind, or of a directory of LDAP, which are inbound ones of its own. */
export type RulesOf = MappingKind | 'directory';

/** What the other provider's rules call the same fields. */
const inboundWords: Readonly<Record<string, Partial<FormField>>> = {
  to: {
    label: 'Attribute here',
    suggestions: inboundTargets,
    hint: 'A name of the list, or an attribute of your own: custom. and its name.',
  },
  from: { label: 'What the provider says', suggestions: [], hint: 'upstream. and the name of its claim or attribute: upstream.department' },
  template: { label: 'Text around it', hint: '{value}@uni.example; {upstream.site} of one value.' },
};

const worded = (words: Readonly<Record<string, Partial<FormField>>>): readonly FormField[] =>
  shared
    .filter(({ path }) => path !== 'when.group')
    .map((field): FormField => (words[field.path] === undefined ? field : { ...field, ...words[field.path] }));

/** The fields of a rule of each kind. */
export const ruleFields: Readonly<Record<RulesOf, readonly FormField[]>> = {
  oidc: [
    ...shared,
    {
      path: 'in',
      label: 'Where it stands',
      kind: 'checks',
      options: claimPlaces,
      optionLabels: placeLabels,
      tab: 'Where',
      hint: 'None: ID token and UserInfo.',
    },
    { path: 'scope', label: 'Scope that shows it', kind: 'text', tab: 'Where', hint: 'Empty: every sign-in.' },
  ],
  saml: [
    ...shared,
    {
      path: 'name_format',
      label: 'Format of the name',
      kind: 'text',
      tab: 'Name',
      hint: 'basic, uri, unspecified or a URI. Empty: by the name.',
    },
    { path: 'friendly_name', label: 'Friendly name', kind: 'text', tab: 'Name' },
  ],
  inbound: [
    ...worded(inboundWords),
    {
      path: 'apply',
      label: 'When it is written',
      kind: 'select',
      options: applications,
      tab: 'When',
      optionLabels: { create: { label: 'when an account is made' }, always: { label: 'at every sign-in' } },
    },
  ],
  scim: shared,
  directory: worded({
    ...inboundWords,
    to: { ...inboundWords['to'], suggestions: [userNameTarget, emailTarget, ...inboundTargets.filter((to) => !listTargets.includes(to))] },
    from: { label: 'What the directory says', suggestions: [], hint: 'upstream. and the name of its attribute: upstream.department' },
  }),
};

const isEmpty = (value: unknown): boolean =>
  value === undefined || value === null || value === '' || (Array.isArray(value) && value.length === 0);

/** The rule that a form makes: what was left empty is not in it. */
export function ruleOf(typed: Json): Json {
  const { when, only, value, values, several, ...rest } = typed as Readonly<Record<string, Json & string>>;
  const { group } = (when ?? {}) as { readonly group?: string };
  const compared = Object.fromEntries(Object.entries((only ?? {}) as Json).filter(([, texts]) => !isEmpty(texts)));
  const constants = (value ?? []) as unknown as readonly string[];
  const pairs = (values ?? []) as unknown as readonly string[];
  return Object.fromEntries(
    Object.entries({
      ...rest,
      value: constants.length > 1 ? constants : constants[0],
      when: isEmpty(group) ? undefined : { group },
      only: Object.keys(compared).length === 0 ? undefined : compared,
      values: pairs.length === 0 ? undefined : Object.fromEntries(pairs.map(pairOf)),
      first: isEmpty(several) ? undefined : true,
    }).filter(([, one]) => !isEmpty(one)),
  );
}

const pairOf = (line: string): readonly [string, string] => {
  const at = line.indexOf('=');
  return at < 0 ? [line.trim(), line.trim()] : [line.slice(0, at).trim(), line.slice(at + 1).trim()];
};

const listed = (texts: readonly string[] = []): Html => html`${texts.map((one, at) => html`${at > 0 && ', '}<code>${one}</code>`)}`;
const shown = (value: unknown): string => [value].flat().map(String).join(', ');

/** Where the values of a rule come from. */
export function sourceOf({ from, value, template }: MappingRule): Html {
  if (value === null) return html`taken away`;
  if (from !== undefined) return html`<code>${from}</code>`;
  return value === undefined ? html`<code>${template}</code>` : html`“${shown(value)}”`;
}

/** What a rule does, in the order it does it. */
export function stepsOf(rule: MappingRule): Html {
  const { when, only, strip, values, case: letters, from, value, template, default: fallback, first, join } = rule;
  const steps: Html[] = [];
  if (when?.group !== undefined) steps.push(html`for members of <code>${when.group}</code>`);
  if (when?.path !== undefined)
    steps.push(html`where <code>${when.path}</code> ${when.present === true ? 'has a value' : html`is “${String(when.equals)}”`}`);
  for (const name of comparisons) if (only?.[name] !== undefined) steps.push(html`${listNames[name].toLowerCase()} ${listed(only[name])}`);
  if (strip !== undefined) steps.push(html`without <code>${strip}</code>`);
  if (values !== undefined) steps.push(listed(Object.entries(values).map(([one, other]) => `${one} = ${other}`)));
  if (letters !== undefined) steps.push(html`in ${letters} case`);
  if (template !== undefined && (from !== undefined || value !== undefined)) steps.push(html`as <code>${template}</code>`);
  if (fallback !== undefined) steps.push(html`else “${shown(fallback)}”`);
  if (first === true) steps.push(html`the first alone`);
  if (join !== undefined) steps.push(html`joined by <code>${join}</code>`);
  return steps.length === 0 ? html`as it is` : html`${steps.map((step, at) => html`${at > 0 && '; '}${step}`)}`;
}

/** Where a claim stands, how an attribute is named, or when one is written. */
export function placeOf({ in: places, scope, name_format: format, friendly_name: friendly, apply }: MappingRule, kind: RulesOf): string {
  if (kind === 'directory') return 'at every run';
  if (kind === 'inbound') return apply === 'always' ? 'at every sign-in' : 'when an account is made';
  const parts =
    kind === 'oidc'
      ? [(places ?? ['id_token', 'userinfo']).map((place) => placeLabels[place].label).join(', '), scope && `scope ${scope}`]
      : [format, friendly];
  return parts.filter((one) => one !== undefined).join(', ');
}
