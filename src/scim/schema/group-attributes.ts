// The Group schema table (RFC 7643 section 4.2): one entry an attribute; see user-attributes.ts for what derives from it.
import { attribute, type ResourceType } from './attribute.ts';
import { externalIdAttribute, idAttribute, metaAttribute, schemasAttribute } from './common-attributes.ts';

const GROUP_SCHEMA = 'urn:ietf:params:scim:schemas:core:2.0:Group';

const membersAttribute = attribute('members', 'complex', 'The users in the group.', {
  multiValued: true,
  elements: 'members',
  subAttributes: [
    attribute('value', 'string', 'The identifier of the member.', {
      required: true,
      caseExact: true,
      column: { name: 'value', indexed: true },
    }),
    attribute('$ref', 'reference', 'The address of the member.', { mutability: 'readOnly', referenceTypes: ['User'] }),
    attribute('display', 'string', 'The name of the member to show.', {
      mutability: 'readOnly',
      column: { name: 'display', key: 'display_key' },
    }),
    attribute('type', 'string', 'The type of the member: User.', {
      canonicalValues: ['User'],
      column: { name: 'type', key: 'type_key' },
    }),
  ],
});

export const groupType: ResourceType = {
  name: 'Group',
  endpoint: '/Groups',
  description: 'Group',
  schema: {
    id: GROUP_SCHEMA,
    name: 'Group',
    description: 'Group',
    keyPrefix: '',
    attributes: [
      schemasAttribute,
      idAttribute,
      externalIdAttribute,
      metaAttribute,
      attribute('displayName', 'string', 'The name of the group; unique in the tenant.', {
        required: true,
        uniqueness: 'server',
        column: {
          name: 'display_name',
          key: 'display_name_key',
          reversed: 'display_name_reversed',
          indexed: true,
          trigram: 'display_name_key',
        },
      }),
      membersAttribute,
    ],
  },
  extensions: [],
};
