// Clients as the management API and `gatehouse client` handle them: registration, change, secret rotation, deletion.
// A secret is made here, shown once by the caller and kept as its auth method needs it.
import { hashSecret } from '../../crypto/secret-hash.ts';
import {
  type Client,
  type ClientChange,
  clientFields,
  type Registration,
  registrationOf,
  unreachableScope,
  usesSecret,
} from '../../domain/client/client.ts';
import { strangerFault } from '../../domain/client/client-json.ts';
import { isOwnClient } from '../../domain/client/own-clients.ts';
import { tlsClientAuthFields } from '../../domain/client/tls-client-auth.ts';
import { workloadFields } from '../../domain/client/workload.ts';
import type { FieldFault } from '../../domain/field.ts';
import type { ClientId, TenantId } from '../../domain/ids.ts';
import type { KindFault } from '../../domain/kind.ts';
import { unknownAttributeFault } from '../../domain/mappings/rule-faults.ts';
import { fail, type Outcome } from '../../domain/outcome.ts';
import { capabilitiesIn } from '../../domain/people/capabilities.ts';
import type { Tenant } from '../../domain/tenant/tenant.ts';
import { randomSecret } from '../../platform/random.ts';
import type { Queries } from '../../storage/engine/database.ts';
import { deleteAssignmentsOf } from '../../storage/registry/clients/access-assignments.ts';
import { deleteClient, findClient, holdClient, insertClient, updateClient } from '../../storage/registry/clients/clients.ts';
import { encryptClientSecret } from '../../tokens/client-secret.ts';
import { randomClientId } from '../../tokens/tenant-creation.ts';
import { type Administration, type By, recordAct } from '../administration.ts';
import type { Acting } from '../kind-effects.ts';
import { requireSigningKeys } from '../signing-keys.ts';

type Secrets = Pick<Client, 'secretHash' | 'secretEncrypted'>;

export interface ClientWithSecret {
  readonly client: Client;
  /** Present when a secret was made: show it now, it cannot be read again. */
  readonly secret: string | undefined;
}

export type Refused = { readonly ok: false; readonly reason: 'invalid'; readonly fault: KindFault };
/** `own`: one of our own pages, which nobody changes. */
type NotToWrite = 'unknown' | 'own';

/** Registers a client. @throws what `by` refuses */
export async function createClient(
  administration: Administration,
  { tenant, by }: Acting,
  fields: ClientChange,
): Promise<({ readonly ok: true } & ClientWithSecret) | Refused> {
  by.require?.(capabilitiesIn(fields.scopes));
  const fault = mappingsFault(tenant, fields);
  if (fault !== undefined) return { ok: false, reason: 'invalid', fault };
  const prepared = await prepareClient(administration, tenant.id, fields);
  if (!prepared.ok) return prepared;
  const client = await administration.cache.write(tenant.id, (queries) =>
    storeClient(queries, administration, tenant.id, prepared.client, by),
  );
  return { ok: true, client, secret: prepared.secret };
}

const mappingsFault = (tenant: Tenant, { mappings }: ClientChange): KindFault | undefined =>
  unknownAttributeFault('oidc', mappings ?? [], { tenant });

/** The client that a registration asks for, checked, with a secret where its method has one. Nothing is stored. */
export async function prepareClient(
  administration: Administration,
  tenant: TenantId,
  fields: ClientChange,
): Promise<({ readonly ok: true } & ClientWithSecret) | Refused> {
  const clientId = randomClientId();
  const read = registrationOf(fields, undefined, clientId);
  const fault = read.ok ? unreachableScope(read.registration) : read.fault;
  if (!read.ok || fault !== undefined) return { ok: false, reason: 'invalid', fault: fault! };
  await requireSigningKeys(administration, tenant, read.registration.idTokenSignedResponseAlg);
  const nowMs = administration.clock.nowMs();
  const { secrets, secret } = secretsFor(administration, tenant, {
    ...read.registration,
    secretHash: undefined,
    secretEncrypted: undefined,
  });
  return { ok: true, client: { ...read.registration, ...secrets, createdAtMs: nowMs, updatedAtMs: nowMs }, secret };
}

/** Stores a prepared client with its audit record; gives it as it is stored. */
export async function storeClient(
  queries: Queries,
  administration: Administration,
  tenant: TenantId,
  client: Client,
  by: By,
): Promise<Client> {
  const secretBy = { actor: by.actor, atMs: client.createdAtMs };
  await insertClient(queries, tenant, { ...client, createdBy: by.actor, secretBy });
  await recordAct(queries, administration, tenant, by, {
    type: 'client.created',
    target: `client:${client.clientId}`,
    data: { name: client.name },
  });
  return (await findClient(queries, tenant, client.clientId)) ?? client;
}

/**
 * Changes a client by the fields given, which may hang on what it is. A new auth method may need a new secret, which is given then. Whoever could take over a client
 * must have its capabilities already, those it had and those it gets. @throws what `by` refuses
 */
export async function changeClient(
  administration: Administration,
  { tenant, by }: Acting,
  clientId: string,
  asked: ClientChange | ((before: Client) => ClientChange),
): Promise<Outcome<ClientWithSecret, NotToWrite> | Refused> {
  const { cache, clock, database } = administration;
  const examine = (client: Client | undefined) => {
    if (client === undefined) return fail('unknown');
    const fields = typeof asked === 'function' ? asked(client) : asked;
    const whose = foreignTo(client, by, fields.scopes);
    if (!whose.ok) return whose;
    const fault = strangerFault(whose.client, fields) ?? mappingsFault(tenant, fields);
    return fault === undefined ? ({ ...whose, fields } as const) : ({ ok: false, reason: 'invalid', fault } as const);
  };
  const early = examine(await database.read(tenant.id, (queries) => findClient(queries, tenant.id, clientId)));
  if (!early.ok) return early;
  const { id_token_signed_response_alg: alg } = early.fields;
  if (alg !== undefined) await requireSigningKeys(administration, tenant.id, alg); // in a transaction of its own
  return cache.write(tenant.id, async (queries) => {
    const held = examine(await holdClient(queries, tenant.id, clientId));
    if (!held.ok) return held;
    const { client: before, fields } = held;
    const read = registrationOf(fields, before, before.clientId);
    const fault = read.ok ? newlyUnreachable(before, read.registration) : read.fault;
    if (!read.ok || fault !== undefined) return { ok: false, reason: 'invalid', fault: fault! } as const;
    const { secrets, secret } = secretsFor(administration, tenant.id, { ...before, ...read.registration });
    const known =
      secret === undefined && !givesKeys(before, read.registration) ? {} : { secretBy: { actor: by.actor, atMs: clock.nowMs() } };
    await updateClient(queries, tenant.id, { ...before, ...read.registration, ...secrets, ...known });
    await recordAct(queries, administration, tenant.id, by, {
      type: 'client.updated',
      target: `client:${before.clientId}`,
      data: { fields: Object.keys(fields), new_secret: secret !== undefined },
    });
    const client = await findClient(queries, tenant.id, clientId);
    return client === undefined ? fail('unknown') : { ok: true, client, secret };
  });
}

/** A client that somebody may write who holds what it may have, and what it would get. @throws what `by` refuses */
function foreignTo(
  client: Client | undefined,
  by: By,
  scopes: readonly string[] | null | undefined = [],
): Outcome<{ readonly client: Client }, NotToWrite> {
  if (client === undefined) return fail('unknown');
  if (isOwnClient(client)) return fail('own');
  by.require?.(capabilitiesIn([...client.scopes, ...(scopes ?? [])]));
  return { ok: true, client };
}

const { tlsClientCertificateBoundAccessTokens: _flag, ...certificateFields } = tlsClientAuthFields;
const ofKeys = { jwks: clientFields.jwks, jwksUri: clientFields.jwksUri, ...workloadFields, ...certificateFields };
const keyProperties = Object.keys(ofKeys) as readonly (keyof typeof ofKeys)[]; // its own keys

/** Whether whoever changes a client so knows from then on by what it signs in: keys, where its method uses them and no secret. */
export function givesKeys(before: Registration, after: Registration): boolean {
  const { tokenEndpointAuthMethod: method } = after;
  if (method === 'none' || usesSecret(method)) return false;
  const isOther = (name: keyof Registration): boolean => JSON.stringify(after[name]) !== JSON.stringify(before[name]);
  return isOther('tokenEndpointAuthMethod') || keyProperties.some(isOther);
}

/** What is wrong with grants and scopes that a change brings; what was there before stays as it is. */
const newlyUnreachable = (before: Registration, after: Registration): FieldFault | undefined =>
  `${before.grantTypes} ${before.scopes}` === `${after.grantTypes} ${after.scopes}` ? undefined : unreachableScope(after);

/**
 * Makes a new secret; the old one fails at once. `no_secret` for methods without one, `stranger`: nobody registered it, its secret is its
 * own. @throws what `by` refuses
 */
export async function rotateClientSecret(
  administration: Administration,
  { tenant, by }: Acting,
  clientId: string,
): Promise<Outcome<{ readonly client: Client; readonly secret: string }, NotToWrite | 'stranger' | 'no_secret'>> {
  return administration.cache.write(tenant.id, async (queries) => {
    const held = foreignTo(await holdClient(queries, tenant.id, clientId), by);
    if (!held.ok) return held;
    const { client: before } = held;
    if (before.origin !== undefined) return fail('stranger');
    const { secrets, secret } = secretsFor(administration, tenant.id, { ...before, secretHash: undefined, secretEncrypted: undefined });
    if (secret === undefined) return fail('no_secret');
    const client = { ...before, ...secrets, secretBy: { actor: by.actor, atMs: administration.clock.nowMs() } };
    await updateClient(queries, tenant.id, client);
    await recordAct(queries, administration, tenant.id, by, { type: 'client.secret_rotated', target: `client:${before.clientId}` });
    return { ok: true, client, secret };
  });
}

/** Deletes a client with its grants, tokens and assignments. @throws what `by` refuses */
export async function removeClient(
  administration: Administration,
  { tenant, by }: Acting,
  clientId: string,
): Promise<Outcome<{ readonly client: Client }, NotToWrite>> {
  return administration.cache.write(tenant.id, async (queries) => {
    const held = foreignTo(await holdClient(queries, tenant.id, clientId), by);
    if (!held.ok) return held;
    await dropClient(queries, administration, tenant.id, held.client.clientId, by);
    return held;
  });
}

/** Takes away a client with what hangs on it, with its audit record. */
export async function dropClient(
  queries: Queries,
  administration: Pick<Administration, 'clock'>,
  tenant: TenantId,
  clientId: ClientId,
  by: By,
): Promise<void> {
  await deleteClient(queries, tenant, clientId);
  await deleteAssignmentsOf(queries, tenant, { kind: 'client', id: clientId });
  await recordAct(queries, administration, tenant, by, { type: 'client.deleted', target: `client:${clientId}` });
}

/** What is stored for the client's auth method: the present secret where it fits, else a new one, or none. */
export function secretsFor(
  { encryption }: Pick<Administration, 'encryption'>,
  tenant: TenantId,
  client: Pick<Client, 'clientId' | 'tokenEndpointAuthMethod'> & Secrets,
): { readonly secrets: Secrets; readonly secret: string | undefined } {
  const none = { secretHash: undefined, secretEncrypted: undefined };
  switch (client.tokenEndpointAuthMethod) {
    case 'none':
    case 'private_key_jwt':
    case 'federated_jwt':
    case 'tls_client_auth':
    case 'self_signed_tls_client_auth':
      return { secrets: none, secret: undefined };
    case 'client_secret_jwt': {
      if (client.secretEncrypted !== undefined) return { secrets: { ...none, secretEncrypted: client.secretEncrypted }, secret: undefined };
      const secret = randomSecret();
      return { secrets: { ...none, secretEncrypted: encryptClientSecret(encryption, tenant, client.clientId, secret) }, secret };
    }
    default: {
      if (client.secretHash !== undefined) return { secrets: { ...none, secretHash: client.secretHash }, secret: undefined };
      const secret = randomSecret();
      return { secrets: { ...none, secretHash: hashSecret(secret) }, secret };
    }
  }
}
