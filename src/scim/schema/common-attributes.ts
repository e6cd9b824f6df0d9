// The attributes every SCIM resource has (RFC 7643 section 3.1): schemas, id, externalId, meta.
// Listed once here; user-attributes.ts and group-attributes.ts put them in front of their own.
import { attribute } from './attribute.ts';

export const schemasAttribute = attribute('schemas', 'reference', 'The URNs of the schemas this resource carries.', {
  multiValued: true,
  mutability: 'readOnly',
  returned: 'always',
  required: true,
  referenceTypes: ['uri'],
  elements: 'schemas',
});

export const idAttribute = attribute('id', 'string', 'The identifier of the resource, made by the service.', {
  caseExact: true,
  mutability: 'readOnly',
  returned: 'always',
  uniqueness: 'server',
  column: { name: 'id', indexed: true },
});

export const externalIdAttribute = attribute('externalId', 'string', 'The identifier the provisioning client uses.', {
  caseExact: true,
  column: { name: 'external_id', reversed: 'external_id_reversed', indexed: true },
});

export const metaAttribute = attribute('meta', 'complex', 'Facts about the resource kept by the service.', {
  mutability: 'readOnly',
  subAttributes: [
    attribute('resourceType', 'string', 'The name of the resource type.', {
      caseExact: true,
      mutability: 'readOnly',
      column: { name: 'resource_type' },
    }),
    attribute('created', 'dateTime', 'When the resource was created.', {
      mutability: 'readOnly',
      column: { name: 'created_at', indexed: true },
    }),
    attribute('lastModified', 'dateTime', 'When the resource last changed.', {
      mutability: 'readOnly',
      column: { name: 'updated_at' },
    }),
    attribute('location', 'reference', 'The address of the resource.', {
      mutability: 'readOnly',
      referenceTypes: ['uri'],
    }),
    attribute('version', 'string', 'The version of the resource, equal to its ETag.', {
      caseExact: true,
      mutability: 'readOnly',
    }),
  ],
});
