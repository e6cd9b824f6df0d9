// OAuth clients in a document. A secret travels as the hash that is stored (or clear, where an HMAC needs it), and only when
// asked for; without one a new client that needs a secret is given a new one, and a known client keeps its own.
import Type from 'typebox';
import { hashSecret } from '../../../crypto/secret-hash.ts';
import {
  adminClientAuthMethod,
  type Client,
  type ClientChange,
  clientAuthMethods,
  clientFields,
  type Registration,
  registrationOf,
  unreachableScope,
  usesSecret,
} from '../../../domain/client/client.ts';
import { isOwnClient, ownClientPrefix } from '../../../domain/client/own-clients.ts';
import { toJson } from '../../../domain/field.ts';
import type { ClientId } from '../../../domain/ids.ts';
import {
  clientIdSyntax,
  findClient,
  holdClient,
  insertClient,
  listClients,
  updateClient,
} from '../../../storage/registry/clients/clients.ts';
import { decryptClientSecret, encryptClientSecret } from '../../../tokens/client-secret.ts';
import { randomClientId } from '../../../tokens/tenant-creation.ts';
import { type By, recordAct } from '../../administration.ts';
import { dropClient, givesKeys, secretsFor } from '../../clients/clients.ts';
import { changeOf, closed, oneOf, propertiesOf } from '../../schema-pieces.ts';
import { requireSigningKeys } from '../../signing-keys.ts';
import {
  canonical,
  compact,
  type Declared,
  type Desired,
  faultAt,
  type Json,
  type Kind,
  pageRows,
  type Session,
  type Stored,
} from '../document.ts';
import { requireAttributes } from './mapping-kind.ts';

/** Shorter secrets could be guessed from their hash (R7). */
export const clientSecretCharsMin = 32;
const secretCharsMax = 512;
/** Stands for the tenant's own Management API, whose address is another on another deployment. */
const managementApiName = 'management_api';

const fields = propertiesOf(clientFields);
const optional = changeOf({
  ...fields,
  token_endpoint_auth_method: oneOf([...clientAuthMethods, adminClientAuthMethod]),
  client_secret: Type.String({ minLength: clientSecretCharsMin, maxLength: secretCharsMax, pattern: '^[\\x20-\\x7e]+$' }),
  client_secret_sha256: Type.String({ pattern: '^[A-Za-z0-9_-]{43}$' }),
}).properties;
const schema = closed({
  client_id: Type.String({ pattern: clientIdSyntax.source }),
  ...optional,
  name: fields['name']!,
});

export const clientKind: Kind = {
  section: 'clients',
  noun: 'client',
  schema,
  uniqueField: 'client_id',
  secrets: ['client_secret', 'client_secret_sha256'],
  isConfiguration: true,
  examine: (session, declared) => {
    const {
      client_id: id,
      client_secret: secret,
      client_secret_sha256: sha256,
      ...item
    } = declared.value as Readonly<Record<string, unknown>>; // checked by the schema
    const clientId = id as ClientId;
    if (isOwnClient({ clientId })) throw faultAt(declared, ['client_id'], `an id that does not start with ${ownClientPrefix}`, clientId);
    const read = registrationOf(expand(session, item), undefined, clientId);
    if (!read.ok) throw faultAt(declared, [read.fault.field], `a value that ${read.fault.text}`, item[read.fault.field]);
    requireAttributes(session, declared, { kind: 'oidc', field: 'mappings' }, read.registration.mappings);
    const hash = secret === undefined ? sha256 : hashSecret(String(secret));
    const method = read.registration.tokenEndpointAuthMethod;
    if (hash !== undefined && !usesSecret(method)) throw faultAt(declared, ['client_secret'], `no secret for ${method}`, 'a secret');
    if (sha256 !== undefined && method === 'client_secret_jwt')
      throw faultAt(declared, ['client_secret_sha256'], 'client_secret, because client_secret_jwt needs the secret itself', 'a hash');
    return {
      id: clientId,
      title: read.registration.name,
      fields: { ...fieldsOf(read.registration), ...compact({ client_secret_sha256: hash }) },
      declared,
    };
  },
  newId: randomClientId,
  find: async (queries, session, items) =>
    Promise.all(
      items.map(async ({ id, fields, declared }) => {
        const client = await findClient(queries, session.tenant.id, id!);
        if (client?.origin !== undefined) return { conflict: `expected a client that somebody registered, found ${id}, which nobody did` };
        const stored = client && storedOf(session, client);
        requireReachable(declared, fields, stored?.fields);
        if (stored === undefined) return { stored };
        const { client_secret: _clear, client_secret_sha256: sha256, ...known } = stored.fields;
        // A document that says nothing of the secret leaves it alone.
        return {
          stored: {
            ...stored,
            fields: fields['client_secret_sha256'] === undefined ? known : { ...known, ...compact({ client_secret_sha256: sha256 }) },
          },
        };
      }),
    ),
  remember: (session, id) => void session.clients.add(id),
  prepare: async ({ administration, tenant }, items) => {
    for (const alg of new Set(items.map(({ fields }) => fields['id_token_signed_response_alg'])))
      await requireSigningKeys(administration, tenant.id, alg as Client['idTokenSignedResponseAlg']);
  },
  create: async (queries, session, items) => {
    const { administration, tenant, by } = session;
    for (const { id, desired } of items) {
      const nowMs = administration.clock.nowMs();
      const client = {
        ...clientOf(session, desired, undefined),
        createdBy: by.actor,
        ...givenBy(by, nowMs),
        createdAtMs: nowMs,
        updatedAtMs: nowMs,
      };
      await insertClient(queries, tenant.id, client);
      const data = { name: client.name };
      await recordAct(queries, administration, tenant.id, by, { type: 'client.created', target: `client:${id}`, data });
    }
  },
  update: async (queries, session, items) => {
    const { administration, tenant, by } = session;
    for (const { stored, desired, changed } of items) {
      const before = await holdClient(queries, tenant.id, stored.id);
      if (before === undefined) continue;
      const after = { ...before, ...clientOf(session, desired, before) };
      const isAnother = after.secretHash !== before.secretHash || after.secretEncrypted !== before.secretEncrypted;
      const isGiven = isAnother || givesKeys(before, after);
      await updateClient(queries, tenant.id, isGiven ? { ...after, ...givenBy(by, administration.clock.nowMs()) } : after);
      const data = { fields: [...changed] };
      await recordAct(queries, administration, tenant.id, by, { type: 'client.updated', target: `client:${stored.id}`, data });
    }
  },
  page: async (queries, session, after) =>
    (await listClients(queries, session.tenant.id, { after, limit: pageRows })).map((client) => storedOf(session, client)),
  remove: async (queries, { administration, tenant, by }, { id, fields }) => {
    if (isOwn(id, fields)) return;
    await dropClient(queries, administration, tenant.id, id as ClientId, by); // read from the table
  },
  write: (session, { id, fields }, withSecrets) => {
    if (isOwnClient({ clientId: id }) || (isOwn(id, fields) && !withSecrets)) return undefined;
    const defaults = fieldsOf(defaultsFor(fields));
    const { client_secret_sha256: sha256, client_secret: secret, ...plain } = fields;
    const differing = Object.entries(plain).filter(([name, value]) => canonical(value) !== canonical(defaults[name]));
    const resources = (fields['resources'] as readonly string[] | undefined)?.map((resource) =>
      resource === session.tenant.managementApi ? managementApiName : resource,
    );
    const secrets = secret === undefined ? { client_secret_sha256: sha256 } : { client_secret: secret };
    const type = fields['type'] === 'confidential' ? {} : { type: fields['type'] };
    const none = Object.keys(defaults).filter((name) => fields[name] === undefined);
    return {
      ...compact({
        client_id: id,
        name: fields['name'],
        ...type,
        ...Object.fromEntries(differing),
        resources,
        ...(withSecrets ? secrets : {}),
      }),
      ...Object.fromEntries(none.map((name) => [name, []])), // lists alone have defaults that may be emptied
    };
  },
};

/** Clients that belong to the tenant itself: its admin client and its own pages. They are not pruned. */
export const isOwn = (id: string, fields: Json): boolean =>
  isOwnClient({ clientId: id }) || fields['token_endpoint_auth_method'] === adminClientAuthMethod;

/** As at registration: grants and scopes that are new are ones that go together. @throws DeclarationFault */
function requireReachable(declared: Declared, fields: Json, before: Json | undefined): void {
  const { grant_types: grantTypes = [], scopes = [] } = fields;
  if (before !== undefined && canonical([grantTypes, scopes]) === canonical([before['grant_types'] ?? [], before['scopes'] ?? []])) return;
  const fault = unreachableScope({ grantTypes, scopes } as Pick<Registration, 'grantTypes' | 'scopes'>); // of the table
  if (fault !== undefined) throw faultAt(declared, [fault.field], `a value that ${fault.text}`, scopes);
}

function expand({ tenant }: Session, item: Json): ClientChange {
  const resources = item['resources'] as readonly string[] | undefined;
  const named = resources?.map((resource) => (resource === managementApiName ? tenant.managementApi : resource));
  return { ...item, ...(named === undefined ? {} : { resources: named }) } as ClientChange; // checked by the schema
}

/** What a document with a name and a type alone would register. */
function defaultsFor(fields: Json): Registration {
  const type = fields['type'] as Client['type'];
  const read = registrationOf({ name: '-', type }, undefined, '-' as ClientId);
  if (!read.ok) throw new Error(`the defaults of a ${type} client are not valid: ${read.fault.field}`);
  return read.registration;
}

const fieldsOf = (client: Registration): Json => compact(toJson(clientFields, client));

function storedOf({ administration, tenant }: Session, client: Client): Stored {
  const { clientId, secretHash, secretEncrypted } = client;
  const secret =
    secretEncrypted === undefined
      ? undefined
      : decryptClientSecret(administration.encryption, tenant.id, clientId, secretEncrypted).toString();
  const hash = secret === undefined ? secretHash : hashSecret(secret);
  return {
    id: clientId,
    title: client.name,
    fields: { ...fieldsOf(client), ...compact({ client_secret_sha256: hash, client_secret: secret }) },
    ...(client.origin === undefined ? {} : { isUndeclared: true }),
  };
}

/** The client to store: with the secret the document has, else the one it had, else a new one that is shown. */
function clientOf(
  session: Session,
  { declared, id, fields }: Desired,
  before: Client | undefined,
): Omit<Client, 'createdAtMs' | 'updatedAtMs'> {
  const { administration, tenant, secrets } = session;
  const { client_id: _id, client_secret: clear, client_secret_sha256: _hash, ...item } = declared.value as Json; // checked by the schema
  const clientId = id as ClientId; // a client always has one
  const read = registrationOf(expand(session, item), undefined, clientId);
  if (!read.ok) throw new Error(`client ${clientId} was examined and is not valid: ${read.fault.field}`);
  const hash = fields['client_secret_sha256'];
  const isEncrypted = read.registration.tokenEndpointAuthMethod === 'client_secret_jwt';
  const given = {
    secretHash: !isEncrypted && typeof hash === 'string' ? hash : before?.secretHash,
    secretEncrypted:
      isEncrypted && typeof clear === 'string'
        ? encryptClientSecret(administration.encryption, tenant.id, clientId, clear)
        : before?.secretEncrypted,
  };
  const made = secretsFor(administration, tenant.id, { ...read.registration, ...given });
  if (made.secret !== undefined) secrets.push({ clientId, secret: made.secret });
  return { ...read.registration, ...made.secrets };
}

const givenBy = ({ actor }: By, atMs: number): Pick<Client, 'secretBy'> => ({ secretBy: { actor, atMs } });
