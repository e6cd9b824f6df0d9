// A directory of LDAP as registered (design 20, 1): where people and groups are copied from, the table of its fields, and what it may do here.
// Its password goes nowhere else than where it was given for. The directories of organisations, which write by SCIM, are others. Pure.
import {
  bindPasswordCharsMax,
  directoriesPerTenantMax,
  directoryCaCharsMax,
  distinguishedNameCharsMax,
  everyMinutesMax,
  everyMinutesMin,
  fullEveryHoursMax,
  ldapFilterCharsMax,
} from '../../contract/directory-limits.ts';
import { nameCharsMax, urlCharsMax } from '../../contract/limits.ts';
import { choice, count, type FieldFault, field, flag, type Kind, text, type ValuesOf } from '../field.ts';
import type { LdapDirectoryId } from '../ids.ts';
import { type Context, defineKind, type KindFault, type Thing } from '../kind.ts';
import { listTargets } from '../mappings/inbound-targets.ts';
import { rulesKind } from '../mappings/rule.ts';
import { rulesFault, unknownAttributeFault } from '../mappings/rule-faults.ts';
import type { Capability } from '../people/capabilities.ts';
import { emailTarget, idAttributes, type LdapKind, type LdapPreset, ldapPresets, userNameTarget } from './ldap-presets.ts';
import { distinguishedNameFault, ldapAddressOf, ldapFilterFault, ldapUrlFault } from './ldap-syntax.ts';

const kindNames = Object.keys(ldapPresets) as readonly LdapKind[];
const matches = {
  none: { label: 'None' },
  userName: { label: 'Those with the same user name' },
  email: { label: 'Those with the same email address' },
} as const;
const groups = {
  none: { label: 'None' },
  listed: { label: 'Those that the filter finds' },
  all: { label: 'All' },
} as const;
const deprovisions = {
  suspend: { label: 'Suspend the person' },
  delete: { label: 'Delete the person' },
  leave: { label: 'Leave the person as they are' },
} as const;
const namesOf = <T extends object>(choices: T): readonly (keyof T & string)[] => Object.keys(choices) as (keyof T & string)[];

const secret: Kind<string, string> = { ...text(bindPasswordCharsMax), input: 'password' };
const paragraph: Kind<string, string> = { ...text(directoryCaCharsMax), input: 'paragraph' };
const namedEntry = text(distinguishedNameCharsMax);

// biome-ignore format: a field a line or two
export const directoryFields = {
  name: field('name', text(nameCharsMax), { required: true, label: 'Name' }),
  enabled: field('enabled', flag, { default: true, label: 'Enabled', help: 'While it is not, nothing is read.' }),
  kind: field('kind', choice(kindNames, ldapPresets), { required: true, label: 'Kind', write: 'create',
    help: 'Says what is meant where nothing is said of filters, of what identifies an entry, and of attributes.' }),
  url: field('url', text(urlCharsMax), { required: true, label: 'Address', check: ldapUrlFault,
    help: 'ldaps://host, or ldap://host with STARTTLS. Private addresses need GATEHOUSE_EGRESS_ALLOW.' }),
  starttls: field('starttls', flag, { default: false, label: 'STARTTLS', help: 'For ldap:// alone, which is not used without it.' }),
  ca: field('ca', paragraph, { label: 'Certificates of its authority', check: pemFault, help: 'PEM. Without them, the authorities that everybody trusts.' }),
  bindDn: field('bind_dn', namedEntry, { required: true, label: 'Signs in as',
    help: 'The name of an entry; Active Directory takes reader@example.com too.' }),
  bindPassword: field('bind_password', secret, { hidden: true, label: 'Password', help: 'Kept encrypted and never shown. Leave it empty to keep it.' }),
  baseDn: field('base_dn', namedEntry, { required: true, label: 'People are below', check: distinguishedNameFault, tab: 'Entries' }),
  userFilter: field('user_filter', text(ldapFilterCharsMax), { label: 'Which entries are people', check: ldapFilterFault, tab: 'Entries', help: 'A filter; without one, that of the kind.' }),
  idAttribute: field('id_attribute', choice(idAttributes), { label: 'What identifies an entry', write: 'create', tab: 'Entries', help: 'Without it, that of the kind.' }),
  groups: field('groups', choice(namesOf(groups), groups), { default: 'none', label: 'Groups that are copied', tab: 'Entries' }),
  groupBaseDn: field('group_base_dn', namedEntry, { label: 'Groups are below', check: distinguishedNameFault, tab: 'Entries', help: 'Without it, where people are.' }),
  groupFilter: field('group_filter', text(ldapFilterCharsMax), { label: 'Which groups are copied', check: ldapFilterFault, tab: 'Entries', help: 'A filter, for listed groups.' }),
  mappings: field('mappings', rulesKind('inbound'), { default: [], label: 'Attributes by rules', tab: 'People', check: mappingsFault,
    help: `Rules for what its attributes give a person, read as upstream.<attribute>; they replace, by to, those of its kind. They may write ${userNameTarget} and ${emailTarget} too.` }),
  match: field('match', choice(namesOf(matches), matches), { default: 'none', label: 'Which people from before are its own', tab: 'People', help: 'Somebody else with the same name or address is a conflict, which an administrator settles.' }),
  deprovision: field('deprovision', choice(namesOf(deprovisions), deprovisions), { default: 'suspend', label: 'When somebody is no longer there', tab: 'People' }),
  everyMinutes: field('every_minutes', count(everyMinutesMin, everyMinutesMax), { default: 15, label: 'Minutes between runs', tab: 'Runs' }),
  fullEveryHours: field('full_every_hours', count(1, fullEveryHoursMax), { default: 24, label: 'Hours between runs that read everything', tab: 'Runs' }),
} as const;

type DirectoryValues = ValuesOf<typeof directoryFields>;
/** Its password is sealed. */
export type LdapDirectory = Thing<typeof directoryFields, LdapDirectoryId>;

export const directoryKind = defineKind({
  noun: 'directory',
  plural: 'directories',
  called: 'directory',
  fields: directoryFields,
  key: 'id',
  unique: [['name', 'Another directory has this name.']],
  atMost: { count: directoriesPerTenantMax, field: 'name', of: 'directories' },
  secret: {
    key: 'bindPassword',
    // Who is there is whom an authority says: with one of theirs, whoever stands on the way is.
    goesTo: ({ url, bindDn, ca }) => {
      const to = ldapAddressOf(url);
      return [to?.scheme, to?.host, to?.port.toString(), bindDn, ca];
    },
    again: () => ({
      field: 'bind_password',
      text: 'must be given again, because the address, bind_dn or ca is another',
      conflict: 'bind_password is not given, and the one that is known would be told somewhere else',
    }),
    missing: () => ({ field: 'bind_password', text: 'is required' }),
  },
  rules: directoryFault,
  power: { read: 'connectors:read', write: 'connectors:write', needs: directoryNeeds, isFreelyDeleted: true },
  searched: ({ name, url }) => [name, url],
  told: { created: ({ name }) => ({ name }), deleted: ({ name }) => ({ name }) },
  defaultsLeftOut: { but: [] },
  summaries: {
    create:
      'Make a directory that people are copied from by LDAP; enabled, it begins with everybody. Needs users:write, and groups:write where it copies groups',
    list: 'List directories, oldest first; `search` is a part of a name or an address',
    read: 'Read a directory',
    change:
      'Change a directory; who moves it to another host, signs in there as somebody else, or has another authority say who it is, gives its password again',
    remove: 'Delete a directory with its links; people and groups that came from it stay as they are, and are managed here from then on',
  },
  pages: {
    singular: 'LDAP directory',
    plural: 'LDAP directories',
    about:
      'Active Directory, OpenLDAP, FreeIPA or another that speaks LDAP: its people and groups are copied here, and kept as they are there.',
    searchHint: 'A part of the name',
    title: 'name',
    deletion: 'Nobody is copied from it any more. People and groups that came from it stay as they are.',
  },
});

/** What its maker must hold, and whoever sees what it reads: it makes, changes and ends people, and groups where it copies them. */
export function directoryNeeds({ groups: copied }: Pick<DirectoryValues, 'groups'>): readonly Capability[] {
  return copied === 'none' ? ['users:read', 'users:write'] : ['users:read', 'users:write', 'groups:read', 'groups:write'];
}

/** What of a directory decides what is read of it: with another one, everything is read again. */
const reading = ['url', 'bindDn', 'baseDn', 'userFilter', 'groups', 'groupBaseDn', 'groupFilter', 'mappings', 'match'] as const;
export const readsOtherwise = (one: DirectoryValues, other: DirectoryValues): boolean =>
  reading.some((key) => JSON.stringify(one[key]) !== JSON.stringify(other[key]));

/** What is read of a directory: what is said of it, else what is meant of its kind. Its own rules replace those of its kind by `to`. */
export function readingOf(
  directory: Pick<DirectoryValues, 'kind' | 'baseDn' | 'userFilter' | 'groupBaseDn' | 'groupFilter' | 'idAttribute'>,
): LdapPreset & { readonly groupBaseDn: string } {
  const preset: LdapPreset = ldapPresets[directory.kind];
  return {
    ...preset,
    userFilter: directory.userFilter ?? preset.userFilter,
    groupFilter: directory.groupFilter ?? preset.groupFilter,
    idAttribute: directory.idAttribute ?? preset.idAttribute,
    groupBaseDn: directory.groupBaseDn ?? directory.baseDn,
  };
}

/** What a directory says of its people, by the paths of the API. */
export const writtenBy = (directory: Parameters<typeof readingOf>[0] & Pick<DirectoryValues, 'mappings'>): ReadonlySet<string> =>
  new Set([...readingOf(directory).rules, ...directory.mappings].map(({ to }) => to));

function directoryFault(values: DirectoryValues, context: Context<typeof directoryFields>): KindFault | undefined {
  return encryptionFault(values) ?? groupsFault(values) ?? unknownAttributeFault('inbound', values.mappings, context);
}

function encryptionFault({ url, starttls }: DirectoryValues): FieldFault | undefined {
  const isPlain = ldapAddressOf(url)?.scheme === 'ldap';
  if (isPlain && !starttls) return { field: 'starttls', text: 'must be true with ldap://, or the password would travel in the clear' };
  return !isPlain && starttls ? { field: 'starttls', text: 'is for ldap:// only; ldaps:// is encrypted from the beginning' } : undefined;
}

function groupsFault({ groups: copied, groupFilter, groupBaseDn }: DirectoryValues): FieldFault | undefined {
  if (copied === 'listed' && groupFilter === undefined) return { field: 'group_filter', text: 'is required where groups are listed' };
  if (copied !== 'listed' && groupFilter !== undefined) return { field: 'group_filter', text: 'is for listed groups only' };
  return copied === 'none' && groupBaseDn !== undefined
    ? { field: 'group_base_dn', text: 'is for directories that copy groups' }
    : undefined;
}

/** As rules for people from other providers, but that they write names and addresses, never groups or roles, and hold at every run. */
function mappingsFault(rules: readonly unknown[]): string | undefined {
  const own: readonly unknown[] = [userNameTarget, emailTarget];
  for (const [index, rule] of rules.entries()) {
    const { to, apply } = rule as { readonly to?: unknown; readonly apply?: unknown };
    if (listTargets.includes(String(to)))
      return `has a mistake in rule ${index + 1}, to: "${to}" is not for a directory, whose groups are its own`;
    if (apply !== undefined) return `has a mistake in rule ${index + 1}, apply: is not for a directory, whose rules hold at every run`;
  }
  const others = rules.map((rule) =>
    own.includes((rule as { readonly to?: unknown }).to) ? { ...(rule as object), to: 'display_name' } : rule,
  );
  const fault = rulesFault('inbound', others);
  return fault && `has a mistake in ${fault}`;
}

const pem = /^\s*(?:-----BEGIN CERTIFICATE-----[A-Za-z0-9+/=\s]+-----END CERTIFICATE-----\s*)+$/;

function pemFault(certificates: string): string | undefined {
  return pem.test(certificates) ? undefined : 'must be certificates as PEM, from BEGIN CERTIFICATE to END CERTIFICATE';
}
