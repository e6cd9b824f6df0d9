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
import { tlsClientAuthFields } from '../../domain/client/tls-client-auth.ts';
import { workloadFields } from '../../domain/client/workload.ts';
import type { FieldFault } from '../../domain/field.ts';
import type { ClientId, TenantId } from '../../domain/ids.ts';
import { fail, type Outcome } from '../../domain/outcome.ts';
import { randomSecret } from '../../platform/random.ts';
import type { Queries } from '../../storage/engine/database.ts';
import { deleteAssignmentsOf } from '../../storage/registry/clients/access-assignments.ts';
import { deleteClient, findClient, insertClient, updateClient } from '../../storage/registry/clients/clients.ts';
import { encryptClientSecret } from '../../tokens/client-secret.ts';
import { randomClientId } from '../../tokens/tenant-creation.ts';
import { type Administration, type By, recordAct } from '../administration.ts';
import { requireSigningKeys } from '../signing-keys.ts';

type Secrets = Pick<Client, 'secretHash' | 'secretEncrypted'>;

export interface ClientWithSecret {
  readonly client: Client;
  /** Present when a secret was made: show it now, it cannot be read again. */
  readonly secret: string | undefined;
}

export type Refused = { readonly ok: false; readonly reason: 'invalid'; readonly fault: FieldFault };

/** Registers a client. */
export async function createClient(
  administration: Administration,
  tenant: TenantId,
  fields: ClientChange,
  by: By,
): Promise<({ readonly ok: true } & ClientWithSecret) | Refused> {
  const prepared = await prepareClient(administration, tenant, fields);
  if (!prepared.ok) return prepared;
  const client = await administration.cache.write(tenant, (queries) => storeClient(queries, administration, tenant, prepared.client, by));
  return { ok: true, client, secret: prepared.secret };
}

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

/** Changes a client by the fields given. A new auth method may need a new secret, which is given then. */
export async function changeClient(
  administration: Administration,
  tenant: TenantId,
  clientId: string,
  fields: ClientChange,
  by: By,
): Promise<({ readonly ok: true } & ClientWithSecret) | Refused | { readonly ok: false; readonly reason: 'unknown' }> {
  if (fields.id_token_signed_response_alg !== undefined)
    await requireSigningKeys(administration, tenant, fields.id_token_signed_response_alg);
  return administration.cache.write(tenant, async (queries) => {
    const before = await findClient(queries, tenant, clientId);
    if (before === undefined) return fail('unknown');
    const read = registrationOf(fields, before, before.clientId);
    const fault = read.ok ? newlyUnreachable(before, read.registration) : read.fault;
    if (!read.ok || fault !== undefined) return { ok: false, reason: 'invalid', fault: fault! } as const;
    const { secrets, secret } = secretsFor(administration, tenant, { ...before, ...read.registration });
    const known =
      secret === undefined && !givesKeys(before, read.registration)
        ? {}
        : { secretBy: { actor: by.actor, atMs: administration.clock.nowMs() } };
    await updateClient(queries, tenant, { ...before, ...read.registration, ...secrets, ...known });
    await recordAct(queries, administration, tenant, by, {
      type: 'client.updated',
      target: `client:${before.clientId}`,
      data: { fields: Object.keys(fields), new_secret: secret !== undefined },
    });
    const client = await findClient(queries, tenant, clientId);
    return client === undefined ? fail('unknown') : { ok: true, client, secret };
  });
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

/** Makes a new secret; the old one fails at once. `no_secret` for methods without one. */
export async function rotateClientSecret(
  administration: Administration,
  tenant: TenantId,
  clientId: string,
  by: By,
): Promise<Outcome<{ readonly client: Client; readonly secret: string }, 'unknown' | 'no_secret'>> {
  return administration.cache.write(tenant, async (queries) => {
    const before = await findClient(queries, tenant, clientId);
    if (before === undefined) return fail('unknown');
    const { secrets, secret } = secretsFor(administration, tenant, { ...before, secretHash: undefined, secretEncrypted: undefined });
    if (secret === undefined) return fail('no_secret');
    const client = { ...before, ...secrets, secretBy: { actor: by.actor, atMs: administration.clock.nowMs() } };
    await updateClient(queries, tenant, client);
    await recordAct(queries, administration, tenant, by, { type: 'client.secret_rotated', target: `client:${before.clientId}` });
    return { ok: true, client, secret };
  });
}

/** Deletes a client with its grants, tokens and assignments; false when there is none. */
export async function removeClient(administration: Administration, tenant: TenantId, clientId: string, by: By): Promise<boolean> {
  return administration.cache.write(tenant, async (queries) => {
    if (!(await deleteClient(queries, tenant, clientId as ClientId))) return false; // a look-up key, not yet known to be an id
    await deleteAssignmentsOf(queries, tenant, { kind: 'client', id: clientId });
    await recordAct(queries, administration, tenant, by, { type: 'client.deleted', target: `client:${clientId}` });
    return true;
  });
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
