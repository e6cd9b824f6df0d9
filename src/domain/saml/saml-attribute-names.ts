// The names service providers know a person's fields by: what a RequestedAttribute of their metadata means, and what is
// released where nobody asked and nobody decided (design 15, "Import").

const claims = 'http://schemas.xmlsoap.org/ws/2005/05/identity/claims/';
const microsoft = 'http://schemas.microsoft.com/';

/** By path of samlSources. Short names in lower case; the first urn:oid Name of a field is the one of the default release. */
const namesOf: Readonly<Record<string, readonly string[]>> = {
  emails: ['urn:oid:0.9.2342.19200300.100.1.3', `${claims}emailaddress`, 'mail', 'email', 'emailaddress', 'email_address', 'user.email'],
  'name.given_name': ['urn:oid:2.5.4.42', `${claims}givenname`, 'givenname', 'given_name', 'firstname', 'first_name', 'user.firstname'],
  'name.family_name': [
    'urn:oid:2.5.4.4',
    `${claims}surname`,
    'sn',
    'surname',
    'familyname',
    'family_name',
    'lastname',
    'last_name',
    'user.lastname',
  ],
  display_name: ['urn:oid:2.16.840.1.113730.3.1.241', `${microsoft}identity/claims/displayname`, 'displayname', 'display_name'],
  user_name: [
    'urn:oid:0.9.2342.19200300.100.1.1',
    `${claims}name`,
    `${claims}upn`,
    'uid',
    'username',
    'user_name',
    'login',
    'userprincipalname',
    'upn',
  ],
  'name.formatted': ['urn:oid:2.5.4.3', 'cn', 'commonname', 'fullname', 'full_name'],
  nick_name: ['nickname', 'nick_name'],
  title: ['urn:oid:2.5.4.12', 'title', 'jobtitle'],
  preferred_language: ['urn:oid:2.16.840.1.113730.3.1.39', 'preferredlanguage', 'preferred_language'],
  locale: ['locale'],
  groups: [
    'urn:oid:1.3.6.1.4.1.5923.1.5.1.1',
    'http://schemas.xmlsoap.org/claims/group',
    `${microsoft}ws/2008/06/identity/claims/groups`,
    'groups',
    'memberof',
    'ismemberof',
    'group',
  ],
};

const fieldByName: ReadonlyMap<string, string> = new Map(
  Object.entries(namesOf).flatMap(([field, names]) => names.map((name): [string, string] => [name.toLowerCase(), field])),
);

/** The field an attribute Name means; undefined for a Name we do not know. Names compare without case. */
export function fieldOfAttributeName(name: string): string | undefined {
  return fieldByName.get(name.toLowerCase());
}

/** What a provider is told when its map was never given: field to Name. */
export const defaultRelease = {
  emails: 'urn:oid:0.9.2342.19200300.100.1.3',
  'name.given_name': 'urn:oid:2.5.4.42',
  'name.family_name': 'urn:oid:2.5.4.4',
  display_name: 'urn:oid:2.16.840.1.113730.3.1.241',
  user_name: 'urn:oid:0.9.2342.19200300.100.1.1',
} as const satisfies Readonly<Record<string, string>>;
