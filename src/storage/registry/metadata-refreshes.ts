// When the metadata of each service provider is read next, and how it went last (design 15, "Refresh by URL"). A row comes and goes
// with the provider's address; taking one up is one conditional statement, so that one node reads.
import { hash } from 'node:crypto';
import { sql } from 'kysely';
import type { ServiceProviderId, TenantId } from '../../domain/ids.ts';
import type { ServiceProvider } from '../../domain/saml/service-provider.ts';
import type { Queries } from '../engine/database.ts';
import { databaseNowMs } from '../engine/instance.ts';

export interface MetadataRefreshTable {
  tenant_id: TenantId;
  service_provider_id: ServiceProviderId;
  /** A hash of the address and of who must have signed: what was learnt of another source counts no more. */
  source: string;
  due_at: number;
  /** Until the next reading, after one that went well. */
  every_ms: number;
  etag: string | null;
  tried_at: number | null;
  /** When the last one went well. */
  refreshed_at: number | null;
  /** Why the last one did not. */
  failure: string | null;
  /** JSON: the consumer services of the last copy, those that wait for approval too. */
  acs: string | null;
  /** JSON: what of the last copy was left out, and warnings. */
  report: string | null;
}

export type MetadataRefresh = Readonly<MetadataRefreshTable>;

export const dailyMs = 24 * 60 * 60_000;
/** How long whoever took a reading up has for it; then another may. */
const leaseMs = 2 * 60_000;

type Source = Pick<ServiceProvider, 'id' | 'metadataUrl' | 'metadataCertificate'>;

const sourceOf = ({ metadataUrl = '', metadataCertificate = '' }: Source): string =>
  hash('sha256', `${metadataUrl} ${metadataCertificate}`, 'base64url');

/** Whether what was taken up is what the provider says now. */
export const isSourceOf = (refresh: MetadataRefresh, provider: Source): boolean => refresh.source === sourceOf(provider);

/** Follows the provider's address: a new one is read at once, an unchanged one when it was to be. */
export async function planRefresh(queries: Queries, tenant: TenantId, provider: Source): Promise<void> {
  if (provider.metadataUrl === undefined) {
    await queries
      .deleteFrom('saml_metadata_refreshes')
      .where('tenant_id', '=', tenant)
      .where('service_provider_id', '=', provider.id)
      .execute();
    return;
  }
  const source = sourceOf(provider);
  const nothing = { etag: null, tried_at: null, refreshed_at: null, failure: null, acs: null, report: null };
  const fresh = { source, due_at: databaseNowMs, every_ms: dailyMs, ...nothing };
  await queries
    .insertInto('saml_metadata_refreshes')
    .values({ tenant_id: tenant, service_provider_id: provider.id, ...fresh })
    .onConflict((on) =>
      on.columns(['tenant_id', 'service_provider_id']).doUpdateSet(fresh).where('saml_metadata_refreshes.source', '<>', source),
    )
    .execute();
}

export async function findRefresh(queries: Queries, tenant: TenantId, provider: string): Promise<MetadataRefresh | undefined> {
  return queries
    .selectFrom('saml_metadata_refreshes')
    .selectAll()
    .where('tenant_id', '=', tenant)
    .where('service_provider_id', '=', provider as ServiceProviderId) // a look-up key
    .executeTakeFirst();
}

/** The providers of the tenant whose metadata is to be read now, the longest due first. */
export async function listDueRefreshes(queries: Queries, tenant: TenantId, limit: number): Promise<readonly ServiceProviderId[]> {
  const rows = await queries
    .selectFrom('saml_metadata_refreshes')
    .select('service_provider_id')
    .where('tenant_id', '=', tenant)
    .where('due_at', '<=', databaseNowMs)
    .orderBy('due_at')
    .limit(limit)
    .execute();
  return rows.map((row) => row.service_provider_id);
}

/** Takes a reading up; undefined when it is not due, unless it is asked for now, or when there is no address. */
export async function claimRefresh(
  queries: Queries,
  tenant: TenantId,
  provider: ServiceProviderId,
  when: 'due' | 'now',
): Promise<MetadataRefresh | undefined> {
  const claim = queries
    .updateTable('saml_metadata_refreshes')
    .set({ due_at: sql<number>`${databaseNowMs} + ${leaseMs}` })
    .where('tenant_id', '=', tenant)
    .where('service_provider_id', '=', provider);
  return (when === 'now' ? claim : claim.where('due_at', '<=', databaseNowMs)).returningAll().executeTakeFirst();
}

/** How a reading went; absent members stay. */
interface RefreshRecord {
  readonly waitMs: number;
  readonly failure: string | null;
  readonly everyMs?: number;
  readonly etag?: string | null;
  readonly acs?: string;
  readonly report?: string;
}

/** Writes down how a reading went; one of an address that changed meanwhile is forgotten. */
export async function recordRefresh(queries: Queries, refresh: MetadataRefresh, record: RefreshRecord): Promise<void> {
  const { waitMs, failure, everyMs, ...learnt } = record;
  await queries
    .updateTable('saml_metadata_refreshes')
    .set({
      ...learnt,
      failure,
      tried_at: databaseNowMs,
      due_at: sql<number>`${databaseNowMs} + ${waitMs}`,
      ...(failure === null ? { refreshed_at: databaseNowMs } : {}),
      ...(everyMs === undefined ? {} : { every_ms: everyMs }),
    })
    .where('tenant_id', '=', refresh.tenant_id)
    .where('service_provider_id', '=', refresh.service_provider_id)
    .where('source', '=', refresh.source)
    .execute();
}
