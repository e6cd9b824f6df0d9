// When each service provider last fetched the metadata made for it: who has not seen the next key yet. Written at most once
// an hour a provider, for the address is public.
import { sql } from 'kysely';
import type { ServiceProviderId, TenantId } from '../../domain/ids.ts';
import { ownUse } from '../../domain/saml/service-provider.ts';
import type { Database, Queries } from '../engine/database.ts';
import { databaseNowMs } from '../engine/instance.ts';

export interface SamlMetadataReadTable {
  tenant_id: TenantId;
  service_provider_id: ServiceProviderId;
  read_at: number;
}

const rememberedEveryMs = 60 * 60_000;

/** Remembers that a provider's metadata was fetched; `keyMadeAtMs` is when its newest key appeared. */
export async function recordMetadataRead(
  database: Database,
  tenant: TenantId,
  provider: ServiceProviderId,
  keyMadeAtMs: number,
): Promise<void> {
  const isKnown = await database.read(tenant, (queries) =>
    queries
      .selectFrom('saml_metadata_reads')
      .select('read_at')
      .where('tenant_id', '=', tenant)
      .where('service_provider_id', '=', provider)
      .where('read_at', '>', sql<number>`${databaseNowMs} - ${rememberedEveryMs}`)
      .where('read_at', '>=', keyMadeAtMs)
      .executeTakeFirst(),
  );
  if (isKnown !== undefined) return;
  await database.write(tenant, (queries) =>
    queries
      .insertInto('saml_metadata_reads')
      .values({ tenant_id: tenant, service_provider_id: provider, read_at: databaseNowMs })
      .onConflict((on) => on.columns(['tenant_id', 'service_provider_id']).doUpdateSet({ read_at: databaseNowMs }))
      .execute(),
  );
}

/** When a provider's metadata was last fetched, as far as that is remembered. */
export async function findMetadataRead(queries: Queries, tenant: TenantId, provider: ServiceProviderId): Promise<number | undefined> {
  const row = await queries
    .selectFrom('saml_metadata_reads')
    .select('read_at')
    .where('tenant_id', '=', tenant)
    .where('service_provider_id', '=', provider)
    .executeTakeFirst();
  return row?.read_at;
}

export interface StaleProvider {
  readonly id: ServiceProviderId;
  readonly name: string;
}

/** Enabled providers the tenant's key signs for that have not fetched their metadata since a time, by name; at most `limit`. */
export async function listStaleProviders(
  queries: Queries,
  tenant: TenantId,
  sinceMs: number,
  limit: number,
): Promise<readonly StaleProvider[]> {
  return queries
    .selectFrom('service_providers as provider')
    .leftJoin('saml_metadata_reads as seen', (join) =>
      join.onRef('seen.tenant_id', '=', 'provider.tenant_id').onRef('seen.service_provider_id', '=', 'provider.id'),
    )
    .select(['provider.id', 'provider.name'])
    .where('provider.tenant_id', '=', tenant)
    .where('provider.enabled', '=', 1)
    .where((eb) => eb.or([eb('seen.read_at', 'is', null), eb('seen.read_at', '<', sinceMs)]))
    .where(({ eb, or, not, exists, selectFrom }) => {
      const ownCurrent = selectFrom('signing_keys as own')
        .select('own.kid')
        .whereRef('own.tenant_id', '=', 'provider.tenant_id')
        .where('own.use', '=', sql<string>`${ownUse('')} || provider.id`)
        .where('own.state', '=', 'current');
      return or([eb('provider.signing_key', '=', 'tenant'), not(exists(ownCurrent))]);
    })
    .orderBy('provider.name')
    .orderBy('provider.id')
    .limit(limit)
    .execute();
}
