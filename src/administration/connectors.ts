// Connectors, as the Management API and documents handle them: registration, change, deletion. A secret is sealed here and never shown; one
// that is known goes nowhere else than where it was given for.
import { connectorsPerTenantMax } from '../contract/limits.ts';
import {
  type Connector,
  type ConnectorChange,
  type ConnectorValues,
  connectorFields,
  goesElsewhere,
  partAuth,
  secretMemberOf,
} from '../domain/extending/connector.ts';
import { type FieldFault, overlay, valueFault } from '../domain/field.ts';
import type { ConnectorId, TenantId } from '../domain/ids.ts';
import { fail, type Outcome } from '../domain/outcome.ts';
import { uuidV7 } from '../platform/random.ts';
import type { Queries } from '../storage/engine/database.ts';
import { findFeedEnd } from '../storage/records/event-feed.ts';
import {
  changeConnectorState,
  deleteConnector,
  findConnector,
  insertConnector,
  listConnectors,
  updateConnector,
} from '../storage/registry/connectors.ts';
import { sealConnectorSecret } from '../tokens/connector-secret.ts';
import { type Administration, type By, recordAct } from './administration.ts';
import { unlessTaken } from './taken.ts';

type Store = Pick<Administration, 'cache' | 'clock' | 'database' | 'encryption'>;
type Refused = { readonly ok: false; readonly reason: 'invalid'; readonly fault: FieldFault };
type Made = { readonly connector: Connector };

/** Registers a connector, which begins with everybody. */
export async function createConnector(
  store: Store,
  tenant: TenantId,
  given: ConnectorChange,
  by: By,
): Promise<Outcome<Made, 'taken' | 'too_many'> | Refused> {
  const fault = valueFault(connectorFields, given);
  if (fault !== undefined) return { ok: false, reason: 'invalid', fault };
  const read = readConnector(given, undefined);
  if ('field' in read) return { ok: false, reason: 'invalid', fault: read };
  const id = uuidV7(store.clock.nowMs()) as ConnectorId; // made here
  await findFeedEnd(store.database, tenant);
  return store.cache.write(tenant, async (queries) => {
    if ((await listConnectors(queries, tenant, { after: '', limit: connectorsPerTenantMax })).length >= connectorsPerTenantMax)
      return fail('too_many');
    const connector = await addConnector(queries, store, tenant, { id, values: read }, by);
    return connector === undefined ? fail('taken') : { ok: true, connector };
  });
}

/** The values a caller gives, laid over those before; the secret clear where it is new, sealed where it is not. */
function readConnector(given: ConnectorChange, before: Connector | undefined): ConnectorValues | FieldFault {
  const { auth: givenAuth, ...others } = given;
  const parted = givenAuth === undefined ? undefined : partAuth(givenAuth);
  const values = overlay(connectorFields, { ...others, ...(parted !== undefined && { auth: parted.auth }) }, before);
  if (parted?.secret !== undefined) return { ...values, secret: parted.secret };
  const member = secretMemberOf(values.auth.type);
  if (before?.secret === undefined) return { field: 'auth', text: `of type ${values.auth.type} must have ${member}` };
  if (goesElsewhere(before, values))
    return { field: 'auth', text: `must be given again with its ${member}, which would be told somewhere else` };
  return values;
}

/** Stores a connector, its secret clear, with its audit record; undefined when its name is taken. */
export async function addConnector(
  queries: Queries,
  store: Pick<Store, 'clock' | 'encryption'>,
  tenant: TenantId,
  { id, values }: { readonly id: ConnectorId; readonly values: ConnectorValues },
  by: By,
): Promise<Connector | undefined> {
  const secret = values.secret === undefined ? undefined : sealConnectorSecret(store.encryption, tenant, id, values.secret);
  const connector = await insertConnector(queries, tenant, id, { ...values, secret });
  if (connector !== undefined)
    await recordAct(queries, store, tenant, by, { type: 'connector.created', target: `connector:${id}`, data: { name: connector.name } });
  return connector;
}

/** Changes a connector by the fields given; what it says of everybody is looked at again. */
export async function changeConnector(
  store: Store,
  tenant: TenantId,
  id: string,
  given: ConnectorChange,
  by: By,
): Promise<Outcome<Made, 'unknown' | 'taken'> | Refused> {
  const fault = valueFault(connectorFields, given);
  if (fault !== undefined) return { ok: false, reason: 'invalid', fault };
  const done = await unlessTaken('name', () =>
    store.cache.write(tenant, async (queries): Promise<Outcome<Made, 'unknown'> | Refused> => {
      const before = await findConnector(queries, tenant, { id });
      if (before === undefined) return fail('unknown');
      const read = readConnector(given, before);
      if ('field' in read) return { ok: false, reason: 'invalid', fault: read };
      const secret =
        read.secret === undefined || read.secret === before.secret
          ? read.secret
          : sealConnectorSecret(store.encryption, tenant, before.id, read.secret);
      const connector = await replaceConnector(queries, store, tenant, { before, values: { ...read, secret }, fields: given }, by);
      return connector === undefined ? fail('unknown') : { ok: true, connector };
    }),
  );
  return done.ok ? done.value : fail('taken');
}

/** Writes the values of a connector, its secret sealed, with the audit record. */
export async function replaceConnector(
  queries: Queries,
  store: Pick<Store, 'clock'>,
  tenant: TenantId,
  { before, values, fields }: { readonly before: Connector; readonly values: ConnectorValues; readonly fields: object },
  by: By,
): Promise<Connector | undefined> {
  const connector = await updateConnector(queries, tenant, before.id, values);
  await changeConnectorState(queries, tenant, before.id, { sync_after: '' });
  const data = { fields: Object.keys(fields) };
  await recordAct(queries, store, tenant, by, { type: 'connector.updated', target: `connector:${before.id}`, data });
  return connector;
}

/** Deletes a connector with its links; accounts at the target stay. False when there is none. */
export async function removeConnector(
  queries: Queries,
  store: Pick<Store, 'clock'>,
  tenant: TenantId,
  id: string,
  by: By,
): Promise<boolean> {
  const before = await findConnector(queries, tenant, { id });
  if (before === undefined || !(await deleteConnector(queries, tenant, id))) return false;
  await recordAct(queries, store, tenant, by, { type: 'connector.deleted', target: `connector:${id}`, data: { name: before.name } });
  return true;
}
