// The User and EnterpriseUser schemas (RFC 7643 sections 4.1, 4.3, 8.7), made from the table of a person's attributes in
// domain/people/user-attributes.ts, with what SCIM alone has: active, password, groups. /Schemas, filter names, SQL, PATCH rules,
// projection and validation all derive from it.
import { type CustomAttribute, labelOf } from '../../domain/people/custom-attributes.ts';
import {
  addressParts,
  userAttributes as attributes,
  type Search,
  type UserAttribute,
  type UserList,
  userLists,
} from '../../domain/people/user-attributes.ts';
import { type Attribute, attribute, type Column, type ResourceType } from './attribute.ts';
import { externalIdAttribute, idAttribute, metaAttribute, schemasAttribute } from './common-attributes.ts';

const USER_SCHEMA = 'urn:ietf:params:scim:schemas:core:2.0:User';
export const CUSTOM_SCHEMA = 'urn:ietf:params:scim:schemas:extension:custom:2.0:User';
const ENTERPRISE_SCHEMA = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User';

/** The companions that a search needs. */
const columns: Readonly<Record<Search, (name: string) => Column>> = {
  full: (name) => ({ name, key: `${name}_key`, reversed: `${name}_reversed`, indexed: true, trigram: `${name}_key` }),
  folded: (name) => ({ name, key: `${name}_key`, indexed: true }),
  exact: (name) => ({ name, indexed: true }),
  identifier: (name) => ({ name, reversed: `${name}_reversed`, indexed: true }),
};

function leafOf({ scim, name, search, description, reference, unique, computed }: UserAttribute): Attribute {
  const own = scim.slice(scim.lastIndexOf('.') + 1);
  if (computed === true) return attribute(own, 'string', description, { mutability: 'readOnly' });
  return attribute(own, reference === true ? 'reference' : 'string', description, {
    column: columns[search](name),
    caseExact: search === 'exact' || search === 'identifier',
    ...(reference === true ? { referenceTypes: ['external'] } : {}),
    ...(unique === true ? { required: true, uniqueness: 'server' } : {}),
  });
}

/** What has parts, and a part that is computed. */
const complexes: Readonly<Record<string, { readonly description: string; readonly computed?: Attribute }>> = {
  name: { description: "The parts of the person's name." },
  manager: {
    description: "The user's manager.",
    computed: attribute('$ref', 'reference', 'The address of the manager.', { mutability: 'readOnly', referenceTypes: ['User'] }),
  },
};

/** The attributes below a prefix, parts gathered where the first of them stands. */
function attributesBelow(prefix: string): readonly Attribute[] {
  const below = attributes.filter(({ scim }) => scim.startsWith(prefix) && (prefix !== '' || !scim.startsWith('enterprise.')));
  const heads = new Set(below.map(({ scim }) => scim.slice(prefix.length).split('.')[0]!));
  return [...heads].map((head) => {
    const complex = complexes[head];
    if (complex === undefined) return leafOf(below.find(({ scim }) => scim === prefix + head)!);
    const [first, ...parts] = below.filter(({ scim }) => scim.startsWith(`${prefix}${head}.`)).map(leafOf);
    const subAttributes = [first!, ...(complex.computed === undefined ? [] : [complex.computed]), ...parts];
    return attribute(head, 'complex', complex.description, { subAttributes: inRfcOrder(subAttributes) });
  });
}

/** RFC 7643 gives the family name before the given one. */
function inRfcOrder(parts: readonly Attribute[]): readonly Attribute[] {
  const rank = ({ name }: Attribute): number => (name === 'formatted' ? 0 : name === 'familyName' ? 1 : 2);
  return parts.toSorted((left, right) => rank(left) - rank(right));
}

const elementDisplay = attribute('display', 'string', 'A readable name of the value.', {
  column: { name: 'display', key: 'display_key' },
});
const elementPrimary = attribute('primary', 'boolean', 'True for the preferred value; at most one is.', {
  column: { name: 'is_primary' },
});
const elementType = (canonicalValues: readonly string[]): Attribute =>
  attribute('type', 'string', 'What the value is used for.', { canonicalValues, column: { name: 'type', key: 'type_key' } });

const values: Readonly<Record<'email' | 'text' | NonNullable<UserList['value']>, Attribute>> = {
  email: attribute('value', 'string', 'The email address.', {
    required: true,
    uniqueness: 'server',
    column: { name: 'value', key: 'value_key', reversed: 'value_reversed', indexed: true, trigram: 'value_key' },
  }),
  text: attribute('value', 'string', 'The value.', { column: { name: 'value', key: 'value_key', indexed: true } }),
  reference: attribute('value', 'reference', 'The address of the photo.', {
    referenceTypes: ['external'],
    column: { name: 'value' },
  }),
  binary: attribute('value', 'binary', 'The certificate, base64 of its DER form.', { column: { name: 'value' } }),
};

function pluralOf({ scim, description, table, types, value }: UserList): Attribute {
  const own =
    table === 'addresses'
      ? addressParts.map(([name, column, of]) => attribute(name, 'string', of, { column: { name: column, key: `${column}_key` } }))
      : [values[table === 'emails' ? 'email' : (value ?? 'text')], elementDisplay];
  return attribute(scim, 'complex', description, {
    multiValued: true,
    required: table === 'emails',
    elements: table,
    subAttributes: [...own, elementType(types), elementPrimary],
  });
}

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

const activeAttribute = attribute('active', 'boolean', 'False suspends the user everywhere at once.', { column: { name: 'active' } });
const passwordAttribute = attribute('password', 'string', 'Accepted and ignored: nothing here has passwords.', {
  mutability: 'writeOnly',
  returned: 'never',
});

export const userType: ResourceType = {
  name: 'User',
  endpoint: '/Users',
  description: 'User Account',
  schema: {
    id: USER_SCHEMA,
    name: 'User',
    description: 'User Account',
    keyPrefix: '',
    attributes: [
      schemasAttribute,
      idAttribute,
      externalIdAttribute,
      metaAttribute,
      ...attributesBelow('').filter(({ name }) => name !== externalIdAttribute.name),
      activeAttribute,
      passwordAttribute,
      ...userLists.flatMap((list) => (list.scim === 'addresses' ? [pluralOf(list), groupsAttribute] : [pluralOf(list)])),
    ],
  },
  extensions: [
    {
      id: ENTERPRISE_SCHEMA,
      name: 'EnterpriseUser',
      description: 'Enterprise User',
      keyPrefix: 'enterprise.',
      attributes: attributesBelow('enterprise.'),
    },
  ],
};

const customTypes = { string: 'string', number: 'decimal', boolean: 'boolean', date: 'dateTime' } as const;

function customOf(custom: CustomAttribute): Attribute {
  const { name, type, list, unique, edit, allowedValues } = custom;
  const own = {
    custom,
    column: { name: 'value_key', indexed: true, ordered: true },
    mutability: edit === 'admin' ? 'readOnly' : 'readWrite',
    uniqueness: unique ? 'server' : 'none',
    ...(allowedValues.length === 0 ? {} : { canonicalValues: allowedValues }),
  } as const;
  const subAttributes = list ? [attribute('value', customTypes[type], 'The value.', own)] : [];
  return attribute(name, customTypes[type], labelOf(custom), { ...own, multiValued: list, elements: 'custom', subAttributes });
}

/** The user of a tenant that adds attributes: an extension more (design 16, section 5). */
export const userTypeWith = (attributes: readonly CustomAttribute[]): ResourceType => ({
  ...userType,
  extensions: [
    ...userType.extensions,
    {
      id: CUSTOM_SCHEMA,
      name: 'CustomUser',
      description: 'What the tenant adds',
      keyPrefix: 'custom.',
      attributes: attributes.map(customOf),
    },
  ],
});
