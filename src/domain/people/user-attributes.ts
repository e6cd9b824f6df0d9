// What is known about a person: every attribute once, with how each surface sees it. From this table come the columns and search
// keys, SCIM's schema with its filters and PATCH rules, the fields of the Management API, documents and console forms, claims and
// the sources of SAML attribute maps. Adding one is a line here, and a migration for its column.
import { profileCharsMax } from '../../contract/limits.ts';
import { type Field, field, text } from '../field.ts';

/**
 * How an attribute is searched: `full` by its start, its end and any part of it, `folded` by its start, both whatever the case;
 * `exact` by its start as it is written, `identifier` also by its end. The migration makes the columns and indexes this needs.
 */
export type Search = 'full' | 'folded' | 'exact' | 'identifier';

interface Views {
  /** Where SCIM has it; below `enterprise` is the EnterpriseUser extension. The API has the same path in snake_case. */
  readonly scim: string;
  /** What SCIM's schema says of it. */
  readonly description: string;
  /** The claim that shows it, and the scope that asks for the claim. */
  readonly claim?: readonly [name: string, scope: string];
  /** SAML attribute maps may name it. */
  readonly saml?: true;
  /** NameIDs may be made of it: it names one person, who cannot choose it. */
  readonly nameId?: true;
  /** An address (RFC 7643 reference). */
  readonly reference?: true;
  readonly unique?: true;
  /** SCIM tells it from something else, here the manager's own name; what it is sent is ignored. */
  readonly computed?: true;
}

export interface UserAttribute<Column extends string = string, How extends Search = Search>
  extends Views,
    Field<Column, string | undefined, string | null> {
  /** In the API and in documents, e.g. `name.given_name`. */
  readonly path: string;
  readonly search: How;
}

const attribute = <const Column extends string, const How extends Search>(
  column: Column,
  label: string,
  search: How,
  views: Views,
): UserAttribute<Column, How> => ({
  ...field(column, text(profileCharsMax), { label }),
  ...views,
  search,
  path: pathOf(views.scim),
});

/** SCIM's name in snake_case: `phone_numbers` for `phoneNumbers`. */
export const snakeCase = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** One level is kept: `enterprise.manager_value` for `enterprise.manager.value`. */
function pathOf(scim: string): string {
  const [first, ...rest] = snakeCase(scim).split('.');
  return [first, ...(rest.length === 0 ? [] : [rest.join('_')])].join('.');
}

const claimed = (name: string) => [name, 'profile'] as const;

// biome-ignore format: a table, one attribute a line
export const userAttributes = [
  attribute('user_name', 'User name', 'full', { scim: 'userName', claim: claimed('preferred_username'), saml: true, nameId: true, unique: true, description: 'The name the user signs in with; unique in the tenant.' }),
  attribute('external_id', 'External id', 'identifier', { scim: 'externalId', saml: true, nameId: true, description: 'The identifier the provisioning client uses.' }),
  attribute('name_formatted', 'Full name', 'folded', { scim: 'name.formatted', saml: true, description: 'The full name, ready to show.' }),
  attribute('given_name', 'Given name', 'full', { scim: 'name.givenName', claim: claimed('given_name'), saml: true, description: 'The given name.' }),
  attribute('family_name', 'Family name', 'full', { scim: 'name.familyName', claim: claimed('family_name'), saml: true, description: 'The family name.' }),
  attribute('middle_name', 'Middle names', 'folded', { scim: 'name.middleName', claim: claimed('middle_name'), saml: true, description: 'The middle names.' }),
  attribute('honorific_prefix', 'Title before the name', 'folded', { scim: 'name.honorificPrefix', saml: true, description: 'Titles in front of the name.' }),
  attribute('honorific_suffix', 'Title after the name', 'folded', { scim: 'name.honorificSuffix', saml: true, description: 'Titles after the name.' }),
  attribute('display_name', 'Display name', 'full', { scim: 'displayName', saml: true, description: 'The name to show.' }),
  attribute('nick_name', 'Nickname', 'folded', { scim: 'nickName', claim: claimed('nickname'), saml: true, description: 'The casual name.' }),
  attribute('profile_url', 'Profile address', 'exact', { scim: 'profileUrl', claim: claimed('profile'), saml: true, reference: true, description: 'The address of an online profile.' }),
  attribute('title', 'Title', 'folded', { scim: 'title', saml: true, description: 'The job title.' }),
  attribute('user_type', 'User type', 'folded', { scim: 'userType', saml: true, description: 'The relation to the organization.' }),
  attribute('preferred_language', 'Language', 'folded', { scim: 'preferredLanguage', saml: true, description: 'Preferred languages, as in Accept-Language.' }),
  attribute('locale', 'Locale', 'folded', { scim: 'locale', claim: claimed('locale'), saml: true, description: 'The locale for dates, currency and numbers.' }),
  attribute('timezone', 'Time zone', 'folded', { scim: 'timezone', claim: claimed('zoneinfo'), saml: true, description: 'The time zone, in IANA form.' }),
  attribute('employee_number', 'Employee number', 'folded', { scim: 'enterprise.employeeNumber', saml: true, description: 'The number the organization gave the user.' }),
  attribute('cost_center', 'Cost center', 'folded', { scim: 'enterprise.costCenter', saml: true, description: 'The cost center.' }),
  attribute('organization', 'Organization', 'folded', { scim: 'enterprise.organization', saml: true, description: 'The organization.' }),
  attribute('division', 'Division', 'folded', { scim: 'enterprise.division', saml: true, description: 'The division.' }),
  attribute('department', 'Department', 'folded', { scim: 'enterprise.department', saml: true, description: 'The department.' }),
  attribute('manager_value', "Manager's id", 'exact', { scim: 'enterprise.manager.value', saml: true, description: 'The identifier of the manager.' }),
  attribute('manager_display_name', 'Manager', 'folded', { scim: 'enterprise.manager.displayName', saml: true, computed: true, description: 'The display name of the manager.' }),
] as const;

type Every = (typeof userAttributes)[number];
/** The columns of `users` that describe the person. */
export type UserColumn = Every['name'];
/** The columns with a folded key, and those with a reversed one. */
export type FoldedColumn = Extract<Every, { search: 'full' | 'folded' }>['name'];
export type ReversedColumn = Extract<Every, { search: 'full' | 'identifier' }>['name'];

export const userColumns: readonly UserColumn[] = userAttributes.map(({ name }) => name);

const inOrder = [...userAttributes.filter(({ path }) => !path.includes('.')), ...userAttributes.filter(({ path }) => path.includes('.'))];
/** What a SAML attribute map may name. */
export const samlSources: readonly string[] = [
  'id',
  ...inOrder.filter(({ saml }) => saml === true).map(({ path }) => path),
  'emails',
  'groups',
];

/** What a NameID may be made of, beside emails. */
export const nameIdColumns: readonly Every[] = userAttributes.filter((one) => 'nameId' in one);

/** A list of a person: elements with a value, a type and more; one may be the primary one. */
export interface UserList {
  /** SCIM's name, and that of `user_values.attribute`. */
  readonly scim: string;
  readonly path: string;
  readonly description: string;
  /** Where its elements are. */
  readonly table: 'emails' | 'values' | 'addresses';
  /** What its elements are commonly for. */
  readonly types: readonly string[];
  /** What a value is when it is no plain text. Such values are compared as they are written and have no key. */
  readonly value?: 'reference' | 'binary';
  /** SCIM alone has it. */
  readonly scimOnly?: true;
}

const list = (scim: string, description: string, types: readonly string[], more: Partial<UserList> = {}): UserList => ({
  scim,
  path: snakeCase(scim),
  description,
  table: 'values',
  types,
  ...more,
});

const places = ['work', 'home', 'other'];

// biome-ignore format: a table, one list a line
export const userLists: readonly UserList[] = [
  list('emails', 'Email addresses; exactly one is primary.', places, { table: 'emails' }),
  list('phoneNumbers', 'Phone numbers.', ['work', 'home', 'mobile', 'fax', 'pager', 'other']),
  list('ims', 'Instant messaging addresses.', ['aim', 'gtalk', 'icq', 'xmpp', 'msn', 'skype', 'qq', 'yahoo']),
  list('photos', 'Photos of the user.', ['photo', 'thumbnail'], { value: 'reference' }),
  list('addresses', 'Postal addresses.', places, { table: 'addresses' }),
  list('entitlements', 'What the user is entitled to.', []),
  list('roles', 'The roles of the user in the organization.', []),
  list('x509Certificates', 'Certificates issued to the user.', [], { value: 'binary', scimOnly: true }),
];

/** The texts of an address: SCIM's name and the API's. */
export const addressParts = [
  ['formatted', 'formatted', 'The full address, ready to show.'],
  ['streetAddress', 'street_address', 'Street, house number, box.'],
  ['locality', 'locality', 'The city or locality.'],
  ['region', 'region', 'The state or region.'],
  ['postalCode', 'postal_code', 'The postal code.'],
  ['country', 'country', 'The country, ISO 3166-1 alpha-2.'],
] as const;
export type AddressPart = (typeof addressParts)[number][1] | 'type';
export const addressColumns: readonly AddressPart[] = [...addressParts.map(([, column]) => column), 'type'];
