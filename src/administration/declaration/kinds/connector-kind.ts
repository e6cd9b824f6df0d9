// Connectors in a document. A secret stands in `auth`, clear, and only when asked for; a document that says nothing of it leaves the known one
// alone unless that would be told somewhere else, and a connector made without one asks nobody until it has its own.
import Type from 'typebox';
import {
  type Connector,
  type ConnectorAuth,
  type ConnectorChange,
  type ConnectorValues,
  connectorFields,
  goesElsewhere,
  partAuth,
  secretMemberOf,
} from '../../../domain/extending/connector.ts';
import { defaultsOf, overlay, toJson, valueFault } from '../../../domain/field.ts';
import type { ConnectorId } from '../../../domain/ids.ts';
import { uuidV7 } from '../../../platform/random.ts';
import { ValueTaken } from '../../../storage/engine/unique-violation.ts';
import { findFeedEnd } from '../../../storage/records/event-feed.ts';
import { findConnector, listConnectors } from '../../../storage/registry/connectors.ts';
import { openConnectorSecret, sealConnectorSecret } from '../../../tokens/connector-secret.ts';
import { addConnector, removeConnector, replaceConnector } from '../../connectors.ts';
import { closed, creationOf } from '../../schema-pieces.ts';
import { canonical, compact, type Desired, faultAt, type Json, type Kind, pageRows, type Session, type Stored } from '../document.ts';
import { requireAttributes } from './mapping-kind.ts';
import { uuid } from './uuid.ts';

const schema = closed({ id: Type.Optional(uuid), ...creationOf(connectorFields).properties });
const defaults = compact(defaultsOf(connectorFields));

export const connectorKind: Kind = {
  section: 'connectors',
  noun: 'connector',
  schema,
  uniqueField: 'name',
  isConfiguration: true,
  examine: (session, declared) => {
    const { id, ...item } = declared.value as ConnectorChange & { readonly id?: string }; // checked by the schema
    const fault = valueFault(connectorFields, item);
    if (fault !== undefined) throw faultAt(declared, [fault.field], `a value that ${fault.text}`, foundAt(item, fault.field));
    const values = valuesOf(item);
    requireAttributes(session, declared, { kind: 'scim', field: 'mappings' }, values.mappings);
    return { id, title: values.name, fields: fieldsOf(values, values.secret), declared };
  },
  newId: ({ administration }) => uuidV7(administration.clock.nowMs()),
  find: async (queries, session, items) =>
    Promise.all(
      items.map(async (desired) => {
        const { id, title, fields } = desired;
        const named = await findConnector(queries, session.tenant.id, { name: title });
        const connector = id === undefined ? named : await findConnector(queries, session.tenant.id, { id });
        if (id !== undefined && named !== undefined && named.id !== id) return { conflict: `name is in use by connector ${named.id}` };
        if (connector === undefined) return { stored: undefined };
        const stored = storedOf(session, connector);
        if (fields['secret'] !== undefined) return { stored };
        if (connector.secret !== undefined && goesElsewhere(connector, desiredValues(desired)))
          return { conflict: `auth has no ${secretMemberOf(connector.auth.type)}, and the one that is known would be told somewhere else` };
        const { secret: _clear, ...known } = stored.fields;
        return { stored: { ...stored, fields: known } };
      }),
    ),
  prepare: async ({ administration, tenant }) => void (await findFeedEnd(administration.database, tenant.id)),
  create: async (queries, { administration, tenant, by }, items) => {
    for (const { id, desired } of items) {
      const made = { id: id as ConnectorId, values: desiredValues(desired) }; // made for it
      if ((await addConnector(queries, administration, tenant.id, made, by)) === undefined) throw new ValueTaken('name');
    }
  },
  update: async (queries, { administration, tenant, by }, items) => {
    for (const { stored, desired, changed } of items) {
      const before = await findConnector(queries, tenant.id, { id: stored.id });
      if (before === undefined) continue;
      const given = desiredValues(desired);
      const secret =
        given.secret === undefined ? before.secret : sealConnectorSecret(administration.encryption, tenant.id, before.id, given.secret);
      const fields = Object.fromEntries([...changed].map((name) => [name === 'secret' ? 'auth' : name, true]));
      await replaceConnector(queries, administration, tenant.id, { before, values: { ...given, secret }, fields }, by);
    }
  },
  page: async (queries, session, after) =>
    (await listConnectors(queries, session.tenant.id, { after, limit: pageRows })).map((connector) => storedOf(session, connector)),
  remove: async (queries, { administration, tenant, by }, { id }) => {
    await removeConnector(queries, administration, tenant.id, id, by);
  },
  write: (_session, { id, fields }, withSecrets) => {
    const { secret, auth: shown, ...plain } = fields;
    const differing = Object.entries(plain).filter(([name, value]) => canonical(value) !== canonical(defaults[name]));
    const auth = shown as ConnectorAuth; // of the table
    return { id, ...Object.fromEntries(differing), auth: withSecrets ? { ...auth, [secretMemberOf(auth.type)]: secret } : auth };
  },
};

/** What a document gives, its secret clear. */
function valuesOf({ auth: given, ...item }: ConnectorChange): ConnectorValues {
  const { auth, secret } = partAuth(given!); // the schema requires it
  return { ...overlay(connectorFields, { ...item, auth }), secret };
}

const desiredValues = ({ declared }: Desired): ConnectorValues => {
  const { id: _id, ...item } = declared.value as ConnectorChange & { readonly id?: string }; // examined
  return valuesOf(item);
};

/** Of how it signs in the kind alone is told: a mistake must not print a secret. */
const foundAt = (item: ConnectorChange, field: string): unknown => (field === 'auth' ? item.auth?.type : item[field as keyof typeof item]);

function fieldsOf(values: ConnectorValues, secret: string | undefined): Json {
  return compact({ ...toJson(connectorFields, values), secret });
}

function storedOf({ administration, tenant }: Session, connector: Connector): Stored {
  const { secret } = connector;
  const clear = secret === undefined ? undefined : openConnectorSecret(administration.encryption, tenant.id, connector.id, secret);
  return { id: connector.id, title: connector.name, fields: fieldsOf(connector, clear) };
}
