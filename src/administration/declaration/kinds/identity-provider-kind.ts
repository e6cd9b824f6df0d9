// Other providers people may sign in with, in a document. A client secret travels clear, and only when asked for; a document that
// says nothing of it leaves the known one alone, and a provider made without one refuses sign-ins until it has its own.
import Type from 'typebox';
import { defaultsOf, toJson } from '../../../domain/field.ts';
import type { IdentityProviderId } from '../../../domain/ids.ts';
import {
  type IdentityProvider,
  type IdentityProviderChange,
  identityProviderFields,
  readIdentityProvider,
} from '../../../domain/sign-in/identity-provider.ts';
import { uuidV7 } from '../../../platform/random.ts';
import { ValueTaken } from '../../../storage/engine/unique-violation.ts';
import { findIdentityProvider, listIdentityProviders, updateIdentityProvider } from '../../../storage/registry/identity-providers.ts';
import { openProviderSecret } from '../../../tokens/provider-secret.ts';
import { recordAct } from '../../administration.ts';
import { addIdentityProvider, readProvider, removeIdentityProvider, sealed } from '../../identity-providers.ts';
import { closed, creationOf } from '../../schema-pieces.ts';
import { canonical, compact, type Desired, faultAt, type Json, type Kind, pageRows, type Session, type Stored } from '../document.ts';
import { requireAttributes } from './mapping-kind.ts';
import { uuid } from './uuid.ts';

const schema = closed({ id: Type.Optional(uuid), ...creationOf(identityProviderFields).properties });
/** With something for a secret the document leaves out, while the rest is judged; SAML has none. */
const withUnsaid = (item: IdentityProviderChange): IdentityProviderChange =>
  item.kind === 'saml' ? item : { client_secret: 'unsaid', ...item };
const defaults = compact(defaultsOf(identityProviderFields));

export const identityProviderKind: Kind = {
  section: 'identity_providers',
  noun: 'identity provider',
  schema,
  uniqueField: 'alias',
  isConfiguration: true,
  examine: (session, declared) => {
    const { id, ...item } = declared.value as IdentityProviderChange & { readonly id?: string }; // checked by the schema
    // Metadata that has expired since is restored like the rest.
    const read = readProvider(0, withUnsaid(item), undefined);
    if (!read.ok)
      throw faultAt(declared, [read.fault.field], `a value that ${read.fault.text}`, item[read.fault.field as keyof typeof item]);
    requireAttributes(session, declared, { kind: 'inbound', field: 'mappings' }, read.values.mappings);
    const { client_secret: _secret, ...fields } = toJson(identityProviderFields, read.values);
    return { id, title: read.values.alias, fields: compact({ ...fields, client_secret: item.client_secret }), declared };
  },
  newId: ({ administration }) => uuidV7(administration.clock.nowMs()),
  find: async (queries, session, items) =>
    Promise.all(
      items.map(async ({ id, title, fields }) => {
        const named = await findIdentityProvider(queries, session.tenant.id, { alias: title });
        const provider = id === undefined ? named : await findIdentityProvider(queries, session.tenant.id, { id });
        if (id !== undefined && named !== undefined && named.id !== id)
          return { conflict: `alias is in use by identity provider ${named.id}` };
        if (provider !== undefined && provider.alias !== title) return { conflict: `alias stays ${provider.alias}` };
        if (provider === undefined) return { stored: undefined };
        const stored = storedOf(session, provider);
        const { client_secret: _clear, ...known } = stored.fields;
        return { stored: fields['client_secret'] === undefined ? { ...stored, fields: known } : stored };
      }),
    ),
  remember: ({ identityProviders }, id, { title }) => void identityProviders.set(id, id).set(title, id),
  create: async (queries, session, items) => {
    const { administration, tenant, by } = session;
    for (const { id, desired } of items) {
      const nowMs = administration.clock.nowMs();
      const providerId = id as IdentityProviderId; // made for it
      const provider = { ...valuesOf(session, desired, providerId, undefined), id: providerId, createdAtMs: nowMs, updatedAtMs: nowMs };
      if (!(await addIdentityProvider(queries, administration, tenant.id, provider, by))) throw new ValueTaken('alias');
    }
  },
  update: async (queries, session, items) => {
    const { administration, tenant, by } = session;
    for (const { stored, desired, changed } of items) {
      const before = await findIdentityProvider(queries, tenant.id, { id: stored.id });
      if (before === undefined) continue;
      await updateIdentityProvider(queries, tenant.id, { ...before, ...valuesOf(session, desired, before.id, before) });
      const data = { fields: [...changed] };
      await recordAct(queries, administration, tenant.id, by, {
        type: 'identity_provider.updated',
        target: `identity_provider:${before.id}`,
        data,
      });
    }
  },
  page: async (queries, session, after) =>
    (await listIdentityProviders(queries, session.tenant.id, { after, limit: pageRows })).map((provider) => storedOf(session, provider)),
  remove: async (queries, { administration, tenant, by }, { id }) => {
    await removeIdentityProvider(queries, administration, tenant.id, id, by);
  },
  write: (_session, { id, fields }, withSecrets) => {
    const { client_secret: secret, ...plain } = fields;
    const differing = Object.entries(plain).filter(([name, value]) => canonical(value) !== canonical(defaults[name]));
    return compact({ id, ...Object.fromEntries(differing), client_secret: withSecrets ? secret : undefined });
  },
};

/** What the document says, with the secret it has or else the one there was. */
function valuesOf(
  { administration, tenant }: Session,
  { declared }: Desired,
  id: IdentityProviderId,
  before: IdentityProvider | undefined,
) {
  const { id: _id, ...item } = declared.value as IdentityProviderChange & { readonly id?: string }; // checked by the schema
  const read = readIdentityProvider(withUnsaid(sealed(administration, tenant.id, id, item)), undefined);
  if (!read.ok) throw new Error(`identity provider ${item.alias} was examined and is not valid: ${read.fault.field}`);
  return item.client_secret === undefined ? { ...read.values, clientSecret: before?.clientSecret } : read.values;
}

function storedOf({ administration, tenant }: Session, provider: IdentityProvider): Stored {
  const { clientSecret } = provider;
  const clear =
    clientSecret === undefined ? undefined : openProviderSecret(administration.encryption, tenant.id, provider.id, clientSecret);
  const fields: Json = { ...toJson(identityProviderFields, provider), client_secret: clear };
  return { id: provider.id, title: provider.alias, fields: compact(fields) };
}
