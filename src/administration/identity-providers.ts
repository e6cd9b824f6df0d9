// Other providers people may sign in with, as the Management API and documents handle them: registration, change, deletion. The
// client secret is sealed here, and shown nowhere.
import { providersPerTenantMax } from '../contract/limits.ts';
import type { FieldFault } from '../domain/field.ts';
import type { IdentityProviderId, TenantId } from '../domain/ids.ts';
import { fail, type Outcome } from '../domain/outcome.ts';
import {
  type IdentityProvider,
  type IdentityProviderChange,
  type IdentityProviderReading,
  readIdentityProvider,
} from '../domain/sign-in/identity-provider.ts';
import { readUpstreamMetadata } from '../federation/saml/idp-metadata.ts';
import { uuidV7 } from '../platform/random.ts';
import type { Queries } from '../storage/engine/database.ts';
import {
  deleteIdentityProvider,
  findIdentityProvider,
  insertIdentityProvider,
  listIdentityProviders,
  updateIdentityProvider,
} from '../storage/registry/identity-providers.ts';
import { sealProviderSecret } from '../tokens/provider-secret.ts';
import { type Administration, type By, recordAct } from './administration.ts';

type Store = Pick<Administration, 'cache' | 'clock' | 'encryption'>;
type Refused = { readonly ok: false; readonly reason: 'invalid'; readonly fault: FieldFault };

/** Registers a provider. */
export async function createIdentityProvider(
  store: Store,
  tenant: TenantId,
  given: IdentityProviderChange,
  by: By,
): Promise<Outcome<{ readonly provider: IdentityProvider }, 'taken' | 'too_many'> | Refused> {
  const id = uuidV7(store.clock.nowMs()) as IdentityProviderId; // made here
  const read = readProvider(store.clock.nowMs(), sealed(store, tenant, id, given), undefined);
  if (!read.ok) return { ok: false, reason: 'invalid', fault: read.fault };
  const nowMs = store.clock.nowMs();
  return store.cache.write(tenant, async (queries) => {
    if ((await listIdentityProviders(queries, tenant, { after: '', limit: providersPerTenantMax })).length >= providersPerTenantMax)
      return fail('too_many');
    const provider = { ...read.values, id, createdAtMs: nowMs, updatedAtMs: nowMs };
    return (await addIdentityProvider(queries, store, tenant, provider, by))
      ? { ok: true, provider: (await findIdentityProvider(queries, tenant, { id })) ?? provider }
      : fail('taken');
  });
}

/** Stores a provider that was read, with its audit record; false when its alias is taken. */
export async function addIdentityProvider(
  queries: Queries,
  store: Pick<Store, 'clock'>,
  tenant: TenantId,
  provider: IdentityProvider,
  by: By,
): Promise<boolean> {
  if (!(await insertIdentityProvider(queries, tenant, provider))) return false;
  const data = { alias: provider.alias, kind: provider.kind };
  await recordAct(queries, store, tenant, by, { type: 'identity_provider.created', target: `identity_provider:${provider.id}`, data });
  return true;
}

/** Changes a provider by the fields given. */
export async function changeIdentityProvider(
  store: Store,
  tenant: TenantId,
  id: string,
  given: IdentityProviderChange,
  by: By,
): Promise<Outcome<{ readonly provider: IdentityProvider }, 'unknown'> | Refused> {
  return store.cache.write(tenant, async (queries) => {
    const before = await findIdentityProvider(queries, tenant, { id });
    if (before === undefined) return fail('unknown');
    const read = readProvider(store.clock.nowMs(), sealed(store, tenant, before.id, given), before);
    if (!read.ok) return { ok: false, reason: 'invalid', fault: read.fault } as const;
    const provider = { ...before, ...read.values };
    await updateIdentityProvider(queries, tenant, provider);
    const data = { fields: Object.keys(given) };
    await recordAct(queries, store, tenant, by, { type: 'identity_provider.updated', target: `identity_provider:${id}`, data });
    return { ok: true, provider: (await findIdentityProvider(queries, tenant, { id })) ?? provider };
  });
}

/** Deletes a provider with its links; false when there is none. Sessions it opened are over. */
export async function removeIdentityProvider(
  queries: Queries,
  store: Pick<Store, 'clock'>,
  tenant: TenantId,
  id: string,
  by: By,
): Promise<boolean> {
  if (!(await deleteIdentityProvider(queries, tenant, id))) return false;
  await recordAct(queries, store, tenant, by, { type: 'identity_provider.deleted', target: `identity_provider:${id}` });
  return true;
}

/** Lays a change over what is registered and checks the whole, metadata that is new included; it must be good at `nowMs`. */
export function readProvider(nowMs: number, given: IdentityProviderChange, before: IdentityProvider | undefined): IdentityProviderReading {
  const read = readIdentityProvider(given, before);
  if (!read.ok || typeof given.metadata !== 'string' || given.metadata === before?.metadata) return read;
  const metadata = readUpstreamMetadata(given.metadata, nowMs);
  return metadata.ok ? read : { ok: false, fault: { field: 'metadata', text: metadata.text } };
}

/** The change with its secret under the master key. */
export function sealed(
  { encryption }: Pick<Store, 'encryption'>,
  tenant: TenantId,
  id: string,
  given: IdentityProviderChange,
): IdentityProviderChange {
  const { client_secret: clear } = given;
  return typeof clear === 'string' ? { ...given, client_secret: sealProviderSecret(encryption, tenant, id, clear) } : given;
}
