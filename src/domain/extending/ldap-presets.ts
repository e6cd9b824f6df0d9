// The kinds of directories that speak LDAP, and what is meant of each where nothing is said: which entries are people and groups, what
// identifies one for good, and what its attributes give a person. Pure data.
import type { MappingRules } from '../mappings/rule.ts';

/** What identifies an entry whatever it is called and wherever it stands; the first is 16 bytes. */
export const idAttributes = ['objectGUID', 'entryUUID', 'ipaUniqueID'] as const;
type IdAttribute = (typeof idAttributes)[number];

export interface LdapPreset {
  readonly label: string;
  readonly userFilter: string;
  readonly groupFilter: string;
  readonly idAttribute: IdAttribute;
  readonly rules: MappingRules;
}

/** The two of a person that rules for people from other providers do not write: a directory says who somebody is. */
export const userNameTarget = 'user_name';
export const emailTarget = 'emails.primary';

const rulesWith = (userName: string): MappingRules => [
  { to: userNameTarget, from: `upstream.${userName}` },
  { to: emailTarget, from: 'upstream.mail' },
  { to: 'name.given_name', from: 'upstream.givenName' },
  { to: 'name.family_name', from: 'upstream.sn' },
];
const groupsOfNames = '(|(objectClass=groupOfNames)(objectClass=groupOfUniqueNames))';

export const ldapPresets = {
  active_directory: {
    label: 'Active Directory',
    userFilter: '(&(objectCategory=person)(objectClass=user))',
    groupFilter: '(objectClass=group)',
    idAttribute: 'objectGUID',
    rules: rulesWith('sAMAccountName'),
  },
  openldap: {
    label: 'OpenLDAP',
    userFilter: '(objectClass=inetOrgPerson)',
    groupFilter: groupsOfNames,
    idAttribute: 'entryUUID',
    rules: rulesWith('uid'),
  },
  freeipa: {
    label: 'FreeIPA',
    userFilter: '(&(objectClass=person)(objectClass=posixAccount))',
    groupFilter: '(objectClass=ipaUserGroup)',
    idAttribute: 'ipaUniqueID',
    rules: rulesWith('uid'),
  },
  other: {
    label: 'Another',
    userFilter: '(objectClass=inetOrgPerson)',
    groupFilter: groupsOfNames,
    idAttribute: 'entryUUID',
    rules: rulesWith('uid'),
  },
} as const satisfies Readonly<Record<string, LdapPreset>>;
export type LdapKind = keyof typeof ldapPresets;
