// `/connectors`: applications people and groups are provisioned to by SCIM. The fields are in domain/extending/connector.ts; what a
// connector does in connector-runs.ts.
import Type from 'typebox';
import { changeConnector, createConnector, removeConnector } from '../../administration/connectors.ts';
import { changeOf, creationOf, propertiesOf } from '../../administration/schema-pieces.ts';
import { connectorsPerTenantMax } from '../../contract/limits.ts';
import { type Connector, type ConnectorChange, connectorFields } from '../../domain/extending/connector.ts';
import { type FieldFault, takenAt, toJson } from '../../domain/field.ts';
import type { Tenant } from '../../domain/tenant/tenant.ts';
import { findConnector, listConnectors } from '../../storage/registry/connectors.ts';
import { conflict, type Endpoint, endpoint, invalidField, isoTime, type Json, notFound } from '../endpoint.ts';
import { answerSearched } from '../paging.ts';
import { dateTime, listAnswer, searchQuery } from '../schemas.ts';
import { requireAttributes } from './mappings.ts';

const { secret: _secret, ...shown } = propertiesOf(connectorFields);
const connectorAnswer = Type.Object({ id: Type.String(), ...shown, created_at: dateTime, updated_at: dateTime });

export const unknownConnector = (): Error => notFound('unknown_connector');
const nameTaken = (): Error => conflict('name', 'Another connector has this name.');
const invalid = ({ field, text }: FieldFault): Error => invalidField(field, `This field ${text}.`);

export const connectorEndpoints: readonly Endpoint[] = [
  endpoint({
    method: 'POST',
    path: '/connectors',
    capability: 'connectors:write',
    summary: 'Make a connector; enabled, it begins with everybody',
    body: creationOf(takenAt(connectorFields, 'create')),
    answer: connectorAnswer,
    status: 201,
    handle: async ({ services, tenant, body, actor, requestId }) => {
      const given = readBody(tenant, body);
      const created = await createConnector(services, tenant.id, given, { actor, requestId });
      if (created.ok) return connectorToJson(created.connector);
      if (created.reason === 'invalid') throw invalid(created.fault);
      if (created.reason === 'too_many') throw invalidField('name', `A tenant has at most ${connectorsPerTenantMax} connectors.`);
      throw nameTaken();
    },
  }),
  endpoint({
    method: 'GET',
    path: '/connectors',
    capability: 'connectors:read',
    summary: 'List connectors, oldest first; `search` is a part of a name or an address',
    query: searchQuery,
    answer: listAnswer(connectorAnswer),
    status: 200,
    handle: (call) =>
      answerSearched(call, listConnectors, { key: ({ id }) => id, texts: ({ name, baseUrl }) => [name, baseUrl], json: connectorToJson }),
  }),
  endpoint({
    method: 'GET',
    path: '/connectors/:id',
    capability: 'connectors:read',
    summary: 'Read a connector',
    answer: connectorAnswer,
    status: 200,
    handle: async ({ services, tenant, params }) => {
      const connector = await services.database.read(tenant.id, (queries) => findConnector(queries, tenant.id, { id: params['id']! }));
      if (connector === undefined) throw unknownConnector();
      return connectorToJson(connector);
    },
  }),
  endpoint({
    method: 'PATCH',
    path: '/connectors/:id',
    capability: 'connectors:write',
    summary: 'Change a connector; who moves it to another host gives its secret again',
    body: changeOf(propertiesOf(takenAt(connectorFields, 'change'))),
    answer: connectorAnswer,
    status: 200,
    handle: async ({ services, tenant, params, body, actor, requestId }) => {
      const given = readBody(tenant, body);
      const changed = await changeConnector(services, tenant.id, params['id']!, given, { actor, requestId });
      if (changed.ok) return connectorToJson(changed.connector);
      if (changed.reason === 'invalid') throw invalid(changed.fault);
      throw changed.reason === 'taken' ? nameTaken() : unknownConnector();
    },
  }),
  endpoint({
    method: 'DELETE',
    path: '/connectors/:id',
    capability: 'connectors:write',
    summary: 'Delete a connector with its links; accounts at the target stay as they are',
    answer: undefined,
    status: 204,
    handle: async ({ services, tenant, params, actor, requestId }) => {
      const by = { actor, requestId };
      const isDone = await services.cache.write(tenant.id, (queries) => removeConnector(queries, services, tenant.id, params['id']!, by));
      if (!isDone) throw unknownConnector();
    },
  }),
];

function readBody(tenant: Tenant, body: unknown): ConnectorChange {
  const given = body as ConnectorChange; // checked by the schema of the same fields
  if (Array.isArray(given.mappings)) requireKnown(tenant, given);
  return given;
}

/** Rules with a mistake are refused by the field itself. */
function requireKnown(tenant: Tenant, { mappings }: ConnectorChange): void {
  if (connectorFields.mappings.about.check?.(mappings ?? []) === undefined) requireAttributes(tenant, 'scim', 'mappings', mappings ?? []);
}

/** The connector as the API shows it, without its secret. */
function connectorToJson(connector: Connector): Json {
  const { secret: _sealed, ...fields } = toJson(connectorFields, connector);
  return { id: connector.id, ...fields, created_at: isoTime(connector.createdAtMs), updated_at: isoTime(connector.updatedAtMs) };
}
