// The rows of each multi-valued attribute as a source `e` with the columns the schema table names.
// Called by filter-sql.ts. Console-managed groups never appear in it (07-scim), and those of an organisation in its own directory alone.
import { type RawBuilder, sql } from 'kysely';
import type { Directory } from '../../domain/organizations/directory.ts';
import type { Dialect } from '../../storage/engine/database.ts';
import { groupTables, isShownGroup } from '../../storage/people/directories/directory.ts';
import type { Plural } from '../schema/schema-lookup.ts';

interface ElementSource {
  readonly from: RawBuilder<unknown>;
  /** The column that names the resource the element belongs to. */
  readonly owner: 'e.user_id' | 'e.group_id';
  /** Restricts the source to the tenant and attribute. */
  readonly inTenant: RawBuilder<boolean>;
}

/** The element rows of a multi-valued attribute. */
export function elementSource({ dialect, directory }: { dialect: Dialect; directory: Directory }, plural: Plural): ElementSource {
  const { tenant } = directory;
  const groups = sql.table(groupTables(directory).groups);
  const members = sql.table(groupTables(directory).members);
  const inTenant = sql<boolean>`e.tenant_id = ${tenant}`;
  const word = (text: string): RawBuilder<string> =>
    dialect === 'postgres' ? sql`${sql.lit(text)}::text COLLATE "C"` : sql`${sql.lit(text)}`;
  switch (plural.attribute.elements) {
    case 'emails':
      return { from: sql`user_emails e`, owner: 'e.user_id', inTenant };
    case 'values':
      return {
        from: sql`user_values e`,
        owner: 'e.user_id',
        inTenant: sql`${inTenant} AND e.attribute = ${sql.lit(plural.key)}`,
      };
    case 'addresses':
      return { from: sql`user_addresses e`, owner: 'e.user_id', inTenant };
    case 'custom':
      return {
        from: sql`user_custom_values e`,
        owner: 'e.user_id',
        inTenant: sql`${inTenant} AND e.attribute = ${plural.attribute.custom!.id}`,
      };
    case 'groups':
      return {
        from: sql`(SELECT gm.tenant_id, gm.user_id, gr.id AS value, gr.display_name AS display, gr.display_name_key AS display_key,
            ${word('direct')} AS type, ${word('direct')} AS type_key
          FROM ${members} gm JOIN ${groups} gr ON gr.tenant_id = gm.tenant_id AND gr.id = gm.group_id WHERE ${isShownGroup(directory, 'gr')}) e`,
        owner: 'e.user_id',
        inTenant,
      };
    case 'members':
      return {
        from: sql`(SELECT gm.tenant_id, gm.group_id, us.id AS value, coalesce(us.display_name, us.user_name) AS display,
            coalesce(us.display_name_key, us.user_name_key) AS display_key, ${word('User')} AS type, ${word('user')} AS type_key
          FROM ${members} gm JOIN users us ON us.tenant_id = gm.tenant_id AND us.id = gm.user_id) e`,
        owner: 'e.group_id',
        inTenant,
      };
    default:
      throw new Error(`${plural.key} has no element rows`);
  }
}
