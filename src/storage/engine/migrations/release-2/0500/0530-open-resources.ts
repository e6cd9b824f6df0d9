// Which clients may ask for a resource, and what those that nobody registered may have of it (design 18, part 1). People are assigned to
// resources too. SQLite changes no constraint of a table, so that one is made anew there; no other refers to it.
import { addColumn, createIndex, createTable, type MigrationContext } from '../../table.ts';

const targets = "target_kind IN ('client', 'service_provider', 'resource')";
const table = 'access_assignments';

export async function openResources(context: MigrationContext): Promise<void> {
  await addColumn(context, 'resources', 'clients', "text='listed'");
  await addColumn(context, 'resources', 'refresh', 'integer=1');
  await addColumn(context, 'resources', 'unknown_access_policy', "text='everyone'");
  await addColumn(context, 'resources', 'documentation_uri', 'text?');
  if (context.dialect === 'sqlite') return rebuildAssignments(context);
  await context.execute(`ALTER TABLE ${table} DROP CONSTRAINT ${table}_target_kind_check`);
  await context.execute(`ALTER TABLE ${table} ADD CONSTRAINT ${table}_target_kind_check CHECK (${targets})`);
}

async function rebuildAssignments(context: MigrationContext): Promise<void> {
  const former = `${table}_before_resources`;
  for (const column of ['user_id', 'group_id']) await context.execute(`DROP INDEX "${table}_by_${column}"`);
  await context.execute(`ALTER TABLE "${table}" RENAME TO "${former}"`);
  const columns = {
    tenant_id: 'text',
    id: 'text',
    target_kind: 'text',
    target_id: 'text',
    user_id: 'text?',
    group_id: 'text?',
    created_at: 'integer',
  } as const;
  await createTable(context, table, {
    columns,
    primaryKey: ['tenant_id', 'id'],
    unique: [
      ['tenant_id', 'target_kind', 'target_id', 'user_id'],
      ['tenant_id', 'target_kind', 'target_id', 'group_id'],
    ],
    foreignKeys: [
      { columns: ['tenant_id', 'user_id'], table: 'users', references: ['tenant_id', 'id'] },
      { columns: ['tenant_id', 'group_id'], table: 'groups', references: ['tenant_id', 'id'] },
    ],
    checks: ['(user_id IS NULL) <> (group_id IS NULL)', targets],
  });
  const names = Object.keys(columns).join(', ');
  await context.execute(`INSERT INTO "${table}" (${names}) SELECT ${names} FROM "${former}"`);
  await context.execute(`DROP TABLE "${former}"`);
  for (const column of ['user_id', 'group_id'])
    await createIndex(context, table, { columns: ['tenant_id', column], where: `${column} IS NOT NULL` });
}
