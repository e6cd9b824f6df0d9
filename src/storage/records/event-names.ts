// What people and things that audit records name by id are called now. Of what is deleted nothing is known any more.
import { sql } from 'kysely';
import type { TenantId } from '../../domain/ids.ts';
import type { Capability } from '../../domain/people/capabilities.ts';
import type { Queries } from '../engine/database.ts';
import { idAmong } from '../engine/rows/id-list.ts';

interface Named {
  readonly table: string;
  readonly key: string;
  /** The first of these columns that holds something. */
  readonly names: readonly [string, string];
  /** Whose names one may read. */
  readonly capability: Capability;
}

const kinds: Readonly<Record<string, Named>> = {
  user: { table: 'users', key: 'id', names: ['display_name', 'user_name'], capability: 'users:read' },
  group: { table: 'groups', key: 'id', names: ['display_name', 'id'], capability: 'groups:read' },
  client: { table: 'clients', key: 'client_id', names: ['name', 'client_id'], capability: 'clients:read' },
  service_provider: { table: 'service_providers', key: 'id', names: ['name', 'entity_id'], capability: 'service-providers:read' },
  resource: { table: 'resources', key: 'id', names: ['name', 'identifier'], capability: 'resources:read' },
  identity_provider: { table: 'identity_providers', key: 'id', names: ['name', 'alias'], capability: 'sign-in:read' },
};

/** The names of those of these, written `kind:id`, that are there and that the capabilities let one read. */
export async function listEventNames(
  queries: Queries,
  tenant: TenantId,
  references: readonly string[],
  capabilities: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>();
  const kindOf = (reference: string): string => reference.slice(0, reference.indexOf(':'));
  for (const [kind, wanted] of Map.groupBy(new Set(references), kindOf)) {
    const named = Object.hasOwn(kinds, kind) ? kinds[kind] : undefined;
    if (named === undefined || !capabilities.includes(named.capability)) continue;
    const { table, key, names } = named;
    const ids = wanted.map((reference) => reference.slice(kind.length + 1));
    const { rows } = await sql<{ readonly id: string; readonly name: string | null }>`
      SELECT ${sql.ref(key)} AS id, coalesce(${sql.ref(names[0])}, ${sql.ref(names[1])}) AS name FROM ${sql.table(table)}
      WHERE tenant_id = ${tenant} AND ${idAmong(queries, key, ids)}`.execute(queries);
    for (const { id, name } of rows) if (name !== null) found.set(`${kind}:${id}`, name);
  }
  return found;
}
