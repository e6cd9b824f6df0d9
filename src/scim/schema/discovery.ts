// /Schemas, /ResourceTypes and /ServiceProviderConfig, generated from the schema table (RFC 7643 sections 5 to 7).
import { reject } from '../../contract/contract-error.ts';
import { scimBodyBytesMax, scimBulkOperationsMax } from '../../contract/limits.ts';
import { countMax } from '../list/list-query.ts';
import type { Json } from '../render.ts';
import type { Attribute, SchemaDefinition } from './attribute.ts';
import type { TypeIndex } from './schema-lookup.ts';

const schemaUrn = 'urn:ietf:params:scim:schemas:core:2.0:Schema';
const resourceTypeUrn = 'urn:ietf:params:scim:schemas:core:2.0:ResourceType';
const configUrn = 'urn:ietf:params:scim:schemas:core:2.0:ServiceProviderConfig';
export const listResponseUrn = 'urn:ietf:params:scim:api:messages:2.0:ListResponse';

/** Every schema as a list. */
export function listSchemas(types: readonly TypeIndex[], base: string): Json {
  return listOf(types.flatMap(({ schemas }) => schemas).map((schema) => schemaJson(schema, base)));
}

/** One schema by its URN, or 404. */
export function readSchema(types: readonly TypeIndex[], base: string, id: string): Json {
  const schema = types.flatMap(({ schemas }) => schemas).find((candidate) => candidate.id.toLowerCase() === id.toLowerCase());
  if (schema === undefined) throw reject('scim.resource_not_found', 'unknown_schema');
  return schemaJson(schema, base);
}

/** Every resource type as a list. */
export function listResourceTypes(types: readonly TypeIndex[], base: string): Json {
  return listOf(types.map((index) => resourceTypeJson(index, base)));
}

/** One resource type by its name, or 404. */
export function readResourceType(types: readonly TypeIndex[], base: string, name: string): Json {
  const index = types.find((candidate) => candidate.type.name === name);
  if (index === undefined) throw reject('scim.resource_not_found', 'unknown_resource_type');
  return resourceTypeJson(index, base);
}

function resourceTypeJson({ type }: TypeIndex, base: string): Json {
  return {
    schemas: [resourceTypeUrn],
    id: type.name,
    name: type.name,
    endpoint: type.endpoint,
    description: type.description,
    schema: type.schema.id,
    schemaExtensions: type.extensions.map((extension) => ({ schema: extension.id, required: false })),
    meta: { resourceType: 'ResourceType', location: `${base}/ResourceTypes/${type.name}` },
  };
}

/** What this service supports. */
export function serviceProviderConfig(base: string): Json {
  return {
    schemas: [configUrn],
    patch: { supported: true },
    bulk: { supported: true, maxOperations: scimBulkOperationsMax, maxPayloadSize: scimBodyBytesMax },
    filter: { supported: true, maxResults: countMax },
    changePassword: { supported: false },
    sort: { supported: true },
    etag: { supported: true },
    pagination: {
      cursor: true,
      index: true,
      defaultPaginationMethod: 'index',
      defaultPageSize: 100,
      maxPageSize: countMax,
      cursorTimeout: 3600,
    },
    authenticationSchemes: [
      {
        type: 'oauthbearertoken',
        name: 'OAuth Bearer Token',
        description: 'An access token from the client credentials grant, with the Management API as audience.',
        specUri: 'https://www.rfc-editor.org/info/rfc6750',
        primary: true,
      },
    ],
    meta: { resourceType: 'ServiceProviderConfig', location: `${base}/ServiceProviderConfig` },
  };
}

function listOf(resources: readonly Json[]): Json {
  return {
    schemas: [listResponseUrn],
    totalResults: resources.length,
    itemsPerPage: resources.length,
    startIndex: 1,
    Resources: resources,
  };
}

function schemaJson(schema: SchemaDefinition, base: string): Json {
  return {
    schemas: [schemaUrn],
    id: schema.id,
    name: schema.name,
    description: schema.description,
    attributes: schema.attributes.filter((attribute) => !commonNames.has(attribute.name)).map(attributeJson),
    meta: { resourceType: 'Schema', location: `${base}/Schemas/${schema.id}` },
  };
}

/** Common attributes belong to every resource and to no schema (RFC 7643 section 3.1). */
const commonNames: ReadonlySet<string> = new Set(['schemas', 'id', 'externalId', 'meta']);

function attributeJson(attribute: Attribute): Json {
  return {
    name: attribute.name,
    type: attribute.type,
    multiValued: attribute.multiValued,
    description: attribute.description,
    required: attribute.required,
    ...(attribute.canonicalValues === undefined || attribute.canonicalValues.length === 0
      ? {}
      : { canonicalValues: attribute.canonicalValues }),
    ...(attribute.type === 'complex' ? {} : { caseExact: attribute.caseExact }),
    mutability: attribute.mutability,
    returned: attribute.returned,
    uniqueness: attribute.uniqueness,
    ...(attribute.referenceTypes === undefined ? {} : { referenceTypes: attribute.referenceTypes }),
    ...(attribute.type !== 'complex' ? {} : { subAttributes: attribute.subAttributes.map(attributeJson) }),
  };
}
