// ẞ (U+1E9E) folds as ß does, to ss: keys made before hold a ß where it was, which no key made now does. A key that another row
// of the tenant has by then stays as it is, and `gatehouse doctor` lists its owner.
import { sql } from 'kysely';
import type { TenantId } from '../../../../../domain/ids.ts';
import type { Queries } from '../../../database.ts';

interface KeyedTable {
  readonly table: string;
  readonly id: readonly string[];
  readonly keys: readonly string[];
  /** The key that is unique in a tenant. */
  readonly unique?: string;
  /** Columns that hold a key's code points in reverse order, by the key. */
  readonly reversed?: Readonly<Record<string, string>>;
}

const profileKeys = [
  'name_formatted_key',
  'family_name_key',
  'given_name_key',
  'middle_name_key',
  'honorific_prefix_key',
  'honorific_suffix_key',
  'display_name_key',
  'nick_name_key',
  'title_key',
  'user_type_key',
  'preferred_language_key',
  'locale_key',
  'timezone_key',
  'employee_number_key',
  'cost_center_key',
  'organization_key',
  'division_key',
  'department_key',
  'manager_display_name_key',
];
const addressKeys = ['formatted', 'street_address', 'locality', 'region', 'postal_code', 'country', 'type'].map((part) => `${part}_key`);

const keyedTables: readonly KeyedTable[] = [
  {
    table: 'users',
    id: ['tenant_id', 'id'],
    keys: ['user_name_key', ...profileKeys],
    unique: 'user_name_key',
    reversed: {
      user_name_key: 'user_name_reversed',
      family_name_key: 'family_name_reversed',
      given_name_key: 'given_name_reversed',
      display_name_key: 'display_name_reversed',
    },
  },
  {
    table: 'user_emails',
    id: ['tenant_id', 'user_id', 'position'],
    keys: ['value_key', 'type_key', 'display_key'],
    unique: 'value_key',
    reversed: { value_key: 'value_reversed' },
  },
  {
    table: 'groups',
    id: ['tenant_id', 'id'],
    keys: ['display_name_key'],
    unique: 'display_name_key',
    reversed: { display_name_key: 'display_name_reversed' },
  },
  { table: 'user_values', id: ['tenant_id', 'user_id', 'attribute', 'position'], keys: ['value_key', 'display_key', 'type_key'] },
  { table: 'user_addresses', id: ['tenant_id', 'user_id', 'position'], keys: addressKeys },
];

/** One backfill a table, in the order of their numbers. */
export const sharpSBackfills = keyedTables.map((keyed) => ({
  name: `sharp-s-${keyed.table.replaceAll('_', '-')}`,
  backfill: (queries: Queries, tenant: TenantId, rows: number): Promise<number> => renewKeys(queries, tenant, keyed, rows),
}));

/** Renews the keys of at most `rows` rows of a tenant; gives how many it changed. */
async function renewKeys(
  queries: Queries,
  tenant: TenantId,
  { table, id, keys, unique, reversed }: KeyedTable,
  rows: number,
): Promise<number> {
  const columns = sql.raw([...id, ...keys].join(', '));
  const isOld = keys.map((key) => `t.${key} LIKE '%ß%'${key === unique ? ` AND NOT EXISTS (${takenBy(table, key)})` : ''}`);
  const { rows: old } = await sql<Readonly<Record<string, string | number | null>>>`
    SELECT ${columns} FROM ${sql.raw(table)} t WHERE tenant_id = ${tenant} AND (${sql.raw(isOld.map((test) => `(${test})`).join(' OR '))})
    LIMIT ${rows}`.execute(queries);
  let changed = 0;
  for (const row of old) {
    const sets = keys.flatMap((key) => renewed(row[key], key, reversed?.[key]));
    const own = sql.join(
      id.map((column) => sql`${sql.raw(column)} = ${row[column]}`),
      sql` AND `,
    );
    let isChanged = false;
    for (const [key, value, companion] of sets) {
      const set = companion === undefined ? sql`` : sql`, ${sql.raw(companion)} = ${[...value].reverse().join('')}`;
      const free =
        key === unique
          ? sql` AND NOT EXISTS (SELECT 1 FROM ${sql.raw(table)} o WHERE o.tenant_id = ${tenant} AND o.${sql.raw(key)} = ${value})`
          : sql``;
      const done = await sql`UPDATE ${sql.raw(table)} SET ${sql.raw(key)} = ${value}${set} WHERE ${own}${free}`.execute(queries);
      isChanged ||= Number(done.numAffectedRows ?? 0) > 0;
    }
    if (isChanged) changed += 1;
  }
  return changed;
}

/** Another row of the tenant that has the renewed key already. */
const takenBy = (table: string, key: string): string =>
  `SELECT 1 FROM ${table} o WHERE o.tenant_id = t.tenant_id AND o.${key} = replace(t.${key}, 'ß', 'ss')`;

type Renewed = readonly [key: string, value: string, companion: string | undefined];

function renewed(before: string | number | null | undefined, key: string, companion: string | undefined): readonly Renewed[] {
  if (typeof before !== 'string' || !before.includes('ß')) return [];
  return [[key, before.replaceAll('ß', 'ss').normalize('NFKC'), companion]];
}
