// People of a directory: what the rules name of each, and nothing else.
import { type LdapDirectory, readingOf } from '../../domain/extending/ldap-directory.ts';
import type { MappingRule, MappingRules } from '../../domain/mappings/rule.ts';
import { pathsIn } from '../../domain/mappings/rule-faults.ts';
import type { PersonEntry } from '../reading.ts';
import type { RawEntry } from './answers.ts';
import { disablingAttributes, isDisabled } from './disabled.ts';
import { type TakenOrSkipped, takeEntry } from './entry.ts';

const upstreamPrefix = 'upstream.';
const attributeName = /^(?:[a-z][a-z0-9-]*|\d+(?:\.\d+)+)$/;

/** Bytes, and what proves a person: asked for by no rule. */
const neverAsked: ReadonlySet<string> = new Set([
  ...['objectguid', 'objectsid', 'sidhistory', 'jpegphoto', 'thumbnailphoto', 'photo', 'audio', 'usercertificate', 'cacertificate'],
  ...['usersmimecertificate', 'userpkcs12', 'ms-ds-consistencyguid', 'msexchmailboxguid', 'logonhours', 'ipantsecurityidentifier'],
  ...['userpassword', 'authpassword', 'unicodepwd', 'dbcspwd', 'ntpwdhistory', 'lmpwdhistory', 'supplementalcredentials'],
  ...['sambantpassword', 'sambalmpassword', 'sambapasswordhistory', 'pwdhistory', 'krbprincipalkey', 'ipanthash', 'passwordhistory'],
  // By their numbers: some servers answer by the name that they were asked for.
  ...['2.5.4.35', '1.3.6.1.4.1.4203.1.3.4', '1.2.840.113556.1.4.90', '1.2.840.113556.1.4.55', '1.2.840.113556.1.4.94'],
  ...['1.2.840.113556.1.4.160', '1.2.840.113556.1.4.125', '1.3.6.1.4.1.7165.2.1.25', '1.3.6.1.4.1.7165.2.1.24', '1.3.6.1.4.1.7165.2.1.54'],
  ...['1.3.6.1.4.1.42.2.27.8.1.20', '2.16.840.1.113719.1.301.4.39.1', '2.16.840.1.113730.3.1.96'],
]);

/** What the rules of a directory read, in lower case. Its own replace those of its kind by `to`. */
export function attributesOf(directory: LdapDirectory): readonly string[] {
  const own = directory.mappings as MappingRules;
  const preset = readingOf(directory).rules.filter(({ to }) => !own.some((rule) => rule.to === to));
  const named = [...preset, ...own].flatMap((rule: MappingRule) => pathsIn(rule)).filter((path) => path.startsWith(upstreamPrefix));
  const attributes = named.map((path) => path.slice(upstreamPrefix.length).toLowerCase());
  return [...new Set(attributes)].filter((name) => attributeName.test(name) && !neverAsked.has(name));
}

/** What a search asks for of people, besides what identifies them. */
export const askedOfPeople = (attributes: readonly string[]): readonly string[] => [...attributes, ...disablingAttributes];

/** @param nowMs as the directory has it, where it says */
export function personOf(
  raw: RawEntry,
  { idAttribute, attributes, nowMs }: { readonly idAttribute: string; readonly attributes: readonly string[]; readonly nowMs: number },
): TakenOrSkipped<PersonEntry> {
  return takeEntry(raw, idAttribute, raw.bytes, (known, values) => ({
    ...known,
    attributes: Object.fromEntries(attributes.map((type) => [type, values(type)] as const).filter(([, { length }]) => length > 0)),
    isDisabled: isDisabled(raw, nowMs),
  }));
}
