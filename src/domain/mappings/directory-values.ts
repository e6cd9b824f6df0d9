// What an entry of a directory of LDAP gives a person (design 20, 1): the rules of its kind, under its own, over the entry's attributes. What
// the rules name and the entry does not say, the person does not have. Pure.
import { emailCharsMax, profileCharsMax } from '../../contract/limits.ts';
import { type LdapDirectory, readingOf } from '../extending/ldap-directory.ts';
import { emailTarget, userNameTarget } from '../extending/ldap-presets.ts';
import { type CustomAttribute, type CustomValues, customPath } from '../people/custom-attributes.ts';
import type { UserColumn } from '../people/user-attributes.ts';
import { userAttributes } from '../people/user-attributes.ts';
import { userNameFault } from '../people/user-name.ts';
import { isXmlText } from '../saml/xml-text.ts';
import { applyRules, type CompiledRules, compileRules, layRules } from './apply.ts';
import { type InboundValues, inboundColumns, inboundCustom, inboundRoom } from './inbound.ts';
import { pathsIn } from './rule-faults.ts';

const upstreamPrefix = 'upstream.';

export interface DirectoryRules {
  readonly compiled: CompiledRules;
  /** What they write. */
  readonly targets: ReadonlySet<string>;
  /** The attributes they read, as they spell them: LDAP knows their names whatever the case. */
  readonly attributes: readonly string[];
}

export function directoryRulesOf(directory: LdapDirectory): DirectoryRules {
  const compiled = layRules(compileRules(readingOf(directory).rules, true), directory.mappings);
  const paths = compiled.flatMap(({ rule }) => pathsIn(rule)).filter((path) => path.startsWith(upstreamPrefix));
  return {
    compiled,
    targets: new Set(compiled.map(({ rule }) => rule.to)),
    attributes: [...new Set(paths.map((path) => path.slice(upstreamPrefix.length)))],
  };
}

/** Values by the path of what they are for, or the sentence that says why they are not taken. */
type EntryValues = { readonly ok: true; readonly values: InboundValues } | { readonly ok: false; readonly reason: string };

/** @param attributes by their names in lower case */
export function valuesOfEntry(
  { compiled, attributes: names }: DirectoryRules,
  tenantSlug: string,
  attributes: Readonly<Record<string, readonly string[]>>,
): EntryValues {
  const upstream = Object.fromEntries(
    names.flatMap((name) => {
      const found = Object.hasOwn(attributes, name.toLowerCase()) ? attributes[name.toLowerCase()]! : [];
      return found.length === 0 ? [] : [[name, found.length === 1 ? found[0] : found]];
    }),
  );
  const { given, spilled } = applyRules(compiled, { person: undefined, clientId: '', tenantSlug, acr: undefined, upstream }, inboundRoom);
  if (spilled.length > 0) return { ok: false, reason: `The rules for ${spilled.join(', ')} give more than a person may have.` };
  return { ok: true, values: Object.fromEntries(given.map(({ rule, values }) => [rule.to, values])) };
}

/** What is written of a person; `null` where the entry says nothing. */
export interface WantedPerson {
  readonly userName: string;
  /** Undefined: no rule speaks of it. */
  readonly email: string | null | undefined;
  readonly columns: Readonly<Partial<Record<UserColumn, string | null>>>;
  /** Of the tenant's own attributes those that rules speak of. */
  readonly custom: CustomValues;
  readonly customNames: readonly string[];
}

type Wanted = { readonly ok: true; readonly person: WantedPerson } | { readonly ok: false; readonly reason: string };

/** The person that values make, or why they make none. */
export function wantedPerson({ targets }: DirectoryRules, customAttributes: readonly CustomAttribute[], values: InboundValues): Wanted {
  const names = textsOf(values, userNameTarget);
  const [userName] = names;
  if (userName === undefined) return { ok: false, reason: 'It says no user name.' };
  const fault = nameFault(userName);
  if (fault !== undefined) return { ok: false, reason: `Its user name ${fault}.` };
  const emails = textsOf(values, emailTarget);
  const email = emails.find(isAddress);
  if (email === undefined && emails.length > 0) return { ok: false, reason: 'Its email address is none.' };
  const given = inboundColumns(values);
  const spoken = userAttributes.filter(({ path }) => path !== userNameTarget && targets.has(path));
  const custom = customAttributes.filter((one) => targets.has(customPath(one)));
  return {
    ok: true,
    person: {
      userName,
      email: targets.has(emailTarget) ? (email ?? null) : undefined,
      columns: { user_name: userName, ...Object.fromEntries(spoken.map(({ name }) => [name, given[name] ?? null])) },
      custom: inboundCustom(custom, values, {}),
      customNames: custom.map(({ name }) => name),
    },
  };
}

const textsOf = (values: InboundValues, target: string): readonly string[] =>
  (values[target] ?? []).map(String).filter((text) => text.trim() !== '');

function nameFault(name: string): string | undefined {
  if (name.length > profileCharsMax) return `has more than ${profileCharsMax} characters`;
  return isXmlText(name) ? userNameFault(name) : 'has a character that names may not have';
}

const isAddress = (text: string): boolean => text.length <= emailCharsMax && /^[^\s@]+@[^\s@]+$/.test(text) && isXmlText(text);
