// A tenant's own tables of mapping rules, one of each kind; a kind without a row has no rules.

import type { TenantId } from '../../../domain/ids.ts';
import { type MappingKind, type MappingRules, type MappingTables, mappingKinds, noMappings } from '../../../domain/mappings/rule.ts';
import type { Queries } from '../../engine/database.ts';
import { databaseNowMs } from '../../engine/instance.ts';
import { syncEveryConnector } from './connectors.ts';

export interface MappingTableTable {
  tenant_id: TenantId;
  kind: MappingKind;
  /** JSON. */
  rules: string;
  updated_at: number;
}

/** The rules of every kind. */
export async function readMappings(queries: Queries, tenant: TenantId): Promise<MappingTables> {
  const rows = await queries
    .selectFrom('mapping_tables')
    .select(['kind', 'rules'])
    .where('tenant_id', '=', tenant)
    .limit(mappingKinds.length)
    .execute();
  return { ...noMappings, ...Object.fromEntries(rows.map(({ kind, rules }) => [kind, JSON.parse(rules)])) };
}

/** Replaces the rules of one kind; connectors, which follow those of SCIM, go through everybody again. */
export async function writeMappings(queries: Queries, tenant: TenantId, kind: MappingKind, rules: MappingRules): Promise<void> {
  const values = { rules: JSON.stringify(rules), updated_at: databaseNowMs };
  await queries
    .insertInto('mapping_tables')
    .values({ tenant_id: tenant, kind, ...values })
    .onConflict((on) => on.columns(['tenant_id', 'kind']).doUpdateSet(values))
    .execute();
  if (kind === 'scim') await syncEveryConnector(queries, tenant);
}
