// The User and EnterpriseUser schema tables (RFC 7643 sections 4.1, 4.3, 8.7): one entry an attribute.
// /Schemas, filter names, SQL, PATCH rules, projection and validation all derive from it. Add an attribute here, and a
// migration when it needs a column.
import { type Attribute, type AttributeOptions, attribute, type Column, type ResourceType } from './attribute.ts';
import { externalIdAttribute, idAttribute, metaAttribute, schemasAttribute } from './common-attributes.ts';

export const USER_SCHEMA = 'urn:ietf:params:scim:schemas:core:2.0:User';
export const ENTERPRISE_SCHEMA = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User';

function text(name: string, column: string, description: string, options: AttributeOptions = {}): Attribute {
  return attribute(name, 'string', description, {
    column: { name: column, key: `${column}_key`, indexed: true },
    ...options,
  });
}

/** The columns of the attributes people search by: indexed in both directions and by trigram. */
function searched(column: string): Column {
  return {
    name: column,
    key: `${column}_key`,
    reversed: `${column}_reversed`,
    indexed: true,
    trigram: `${column}_key`,
  };
}

const elementType = (canonicalValues: readonly string[]): Attribute =>
  attribute('type', 'string', 'What the value is used for.', {
    canonicalValues,
    column: { name: 'type', key: 'type_key' },
  });
const elementDisplay = attribute('display', 'string', 'A readable name of the value.', {
  column: { name: 'display', key: 'display_key' },
});
const elementPrimary = attribute('primary', 'boolean', 'True for the preferred value; at most one is.', {
  column: { name: 'is_primary' },
});

function plural(name: string, description: string, types: readonly string[], value?: Attribute): Attribute {
  return attribute(name, 'complex', description, {
    multiValued: true,
    elements: 'values',
    subAttributes: [
      value ??
        attribute('value', 'string', 'The value.', {
          required: true,
          column: { name: 'value', key: 'value_key', indexed: true },
        }),
      elementDisplay,
      elementType(types),
      elementPrimary,
    ],
  });
}

const nameAttribute = attribute('name', 'complex', "The parts of the person's name.", {
  subAttributes: [
    text('formatted', 'name_formatted', 'The full name, ready to show.'),
    text('familyName', 'family_name', 'The family name.', { column: searched('family_name') }),
    text('givenName', 'given_name', 'The given name.', { column: searched('given_name') }),
    text('middleName', 'middle_name', 'The middle names.'),
    text('honorificPrefix', 'honorific_prefix', 'Titles in front of the name.'),
    text('honorificSuffix', 'honorific_suffix', 'Titles after the name.'),
  ],
});

const emailsAttribute = attribute('emails', 'complex', 'Email addresses; exactly one is primary.', {
  multiValued: true,
  required: true,
  elements: 'emails',
  subAttributes: [
    attribute('value', 'string', 'The email address.', {
      required: true,
      uniqueness: 'server',
      column: {
        name: 'value',
        key: 'value_key',
        reversed: 'value_reversed',
        indexed: true,
        trigram: 'value_key',
      },
    }),
    elementDisplay,
    elementType(['work', 'home', 'other']),
    elementPrimary,
  ],
});

function addressPart(name: string, column: string, description: string): Attribute {
  return attribute(name, 'string', description, { column: { name: column, key: `${column}_key` } });
}

const addressesAttribute = attribute('addresses', 'complex', 'Postal addresses.', {
  multiValued: true,
  elements: 'addresses',
  subAttributes: [
    addressPart('formatted', 'formatted', 'The full address, ready to show.'),
    addressPart('streetAddress', 'street_address', 'Street, house number, box.'),
    addressPart('locality', 'locality', 'The city or locality.'),
    addressPart('region', 'region', 'The state or region.'),
    addressPart('postalCode', 'postal_code', 'The postal code.'),
    addressPart('country', 'country', 'The country, ISO 3166-1 alpha-2.'),
    elementType(['work', 'home', 'other']),
    elementPrimary,
  ],
});

const groupsAttribute = attribute('groups', 'complex', 'The groups the user is a member of.', {
  multiValued: true,
  mutability: 'readOnly',
  elements: 'groups',
  subAttributes: [
    attribute('value', 'string', 'The identifier of the group.', {
      caseExact: true,
      mutability: 'readOnly',
      column: { name: 'value', indexed: true },
    }),
    attribute('$ref', 'reference', 'The address of the group.', { mutability: 'readOnly', referenceTypes: ['Group'] }),
    attribute('display', 'string', 'The display name of the group.', {
      mutability: 'readOnly',
      column: { name: 'display', key: 'display_key' },
    }),
    attribute('type', 'string', 'How the membership came about: direct.', {
      mutability: 'readOnly',
      canonicalValues: ['direct'],
      column: { name: 'type', key: 'type_key' },
    }),
  ],
});

const referenceValue = attribute('value', 'reference', 'The address of the photo.', {
  required: true,
  referenceTypes: ['external'],
  column: { name: 'value' },
});
const certificateValue = attribute('value', 'binary', 'The certificate, base64 of its DER form.', {
  required: true,
  column: { name: 'value' },
});

const userAttributes: readonly Attribute[] = [
  schemasAttribute,
  idAttribute,
  externalIdAttribute,
  metaAttribute,
  text('userName', 'user_name', 'The name the user signs in with; unique in the tenant.', {
    required: true,
    uniqueness: 'server',
    column: searched('user_name'),
  }),
  nameAttribute,
  text('displayName', 'display_name', 'The name to show.', { column: searched('display_name') }),
  text('nickName', 'nick_name', 'The casual name.'),
  attribute('profileUrl', 'reference', 'The address of an online profile.', {
    referenceTypes: ['external'],
    column: { name: 'profile_url', indexed: true },
  }),
  text('title', 'title', 'The job title.'),
  text('userType', 'user_type', 'The relation to the organization.'),
  text('preferredLanguage', 'preferred_language', 'Preferred languages, as in Accept-Language.'),
  text('locale', 'locale', 'The locale for dates, currency and numbers.'),
  text('timezone', 'timezone', 'The time zone, in IANA form.'),
  attribute('active', 'boolean', 'False suspends the user everywhere at once.', { column: { name: 'active' } }),
  attribute('password', 'string', 'Accepted and ignored: nothing here has passwords.', {
    mutability: 'writeOnly',
    returned: 'never',
  }),
  emailsAttribute,
  plural('phoneNumbers', 'Phone numbers.', ['work', 'home', 'mobile', 'fax', 'pager', 'other']),
  plural('ims', 'Instant messaging addresses.', ['aim', 'gtalk', 'icq', 'xmpp', 'msn', 'skype', 'qq', 'yahoo']),
  plural('photos', 'Photos of the user.', ['photo', 'thumbnail'], referenceValue),
  addressesAttribute,
  groupsAttribute,
  plural('entitlements', 'What the user is entitled to.', []),
  plural('roles', 'The roles of the user in the organization.', []),
  plural('x509Certificates', 'Certificates issued to the user.', [], certificateValue),
];

const managerAttribute = attribute('manager', 'complex', "The user's manager.", {
  subAttributes: [
    attribute('value', 'string', 'The identifier of the manager.', {
      caseExact: true,
      column: { name: 'manager_value', indexed: true },
    }),
    attribute('$ref', 'reference', 'The address of the manager.', {
      mutability: 'readOnly',
      referenceTypes: ['User'],
    }),
    text('displayName', 'manager_display_name', 'The display name of the manager.'),
  ],
});

export const userType: ResourceType = {
  name: 'User',
  endpoint: '/Users',
  description: 'User Account',
  schema: { id: USER_SCHEMA, name: 'User', description: 'User Account', keyPrefix: '', attributes: userAttributes },
  extensions: [
    {
      id: ENTERPRISE_SCHEMA,
      name: 'EnterpriseUser',
      description: 'Enterprise User',
      keyPrefix: 'enterprise.',
      attributes: [
        text('employeeNumber', 'employee_number', 'The number the organization gave the user.'),
        text('costCenter', 'cost_center', 'The cost center.'),
        text('organization', 'organization', 'The organization.'),
        text('division', 'division', 'The division.'),
        text('department', 'department', 'The department.'),
        managerAttribute,
      ],
    },
  ],
};
