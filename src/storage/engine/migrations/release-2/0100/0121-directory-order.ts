// What SCIM lists along other tables than users: members of a group in order of the user's creation, with a kept count a group;
// primary addresses in their order.
import { addColumn, createIndex, type MigrationContext } from '../../table.ts';

const readTables = ['users', 'groups', 'group_members', 'directory_counts'];

export async function directoryOrder(context: MigrationContext): Promise<void> {
  const forAll = async (clause: string): Promise<void> => {
    if (context.dialect === 'postgres') for (const table of readTables) await context.execute(`ALTER TABLE ${table} ${clause}`);
  };
  await addColumn(context, 'group_members', 'user_created_at', 'integer=0');
  // The owner of the tables is held by their policies as everybody is; a migration reads every tenant.
  await forAll('NO FORCE ROW LEVEL SECURITY');
  await context.execute(
    `UPDATE group_members SET user_created_at =
      (SELECT created_at FROM users WHERE users.tenant_id = group_members.tenant_id AND users.id = group_members.user_id)`,
  );
  await context.execute(
    `INSERT INTO directory_counts (tenant_id, kind, shard, n)
      SELECT tenant_id, 'members:' || group_id, 0, count(*) FROM group_members GROUP BY tenant_id, group_id`,
  );
  await forAll('FORCE ROW LEVEL SECURITY');
  await createIndex(context, 'group_members', { columns: ['tenant_id', 'group_id', 'user_created_at', 'user_id'] });
  await createIndex(context, 'user_emails', {
    columns: ['tenant_id', 'value_key', 'user_id'],
    where: 'is_primary = 1',
    name: 'user_emails_primary',
  });
  if (context.dialect === 'postgres') await countOnPostgres(context);
  else await countOnSqlite(context);
}

async function countOnSqlite(context: MigrationContext): Promise<void> {
  for (const [event, row, step] of [
    ['insert', 'NEW', 1],
    ['delete', 'OLD', -1],
  ] as const)
    await context.execute(
      `CREATE TRIGGER group_members_counted_${event} AFTER ${event.toUpperCase()} ON group_members BEGIN
        INSERT INTO directory_counts VALUES (${row}.tenant_id, 'members:' || ${row}.group_id, 0, ${step})
          ON CONFLICT (tenant_id, kind, shard) DO UPDATE SET n = n + ${step}; END`,
    );
  await context.execute(
    `CREATE TRIGGER groups_forget_count AFTER DELETE ON groups BEGIN
      DELETE FROM directory_counts WHERE tenant_id = OLD.tenant_id AND kind = 'members:' || OLD.id; END`,
  );
}

/** Once a statement and one row a backend, as the counts of users and groups are kept (migration 8). */
async function countOnPostgres(context: MigrationContext): Promise<void> {
  for (const [event, rows, step] of [
    ['insert', 'NEW TABLE AS changed', 1],
    ['delete', 'OLD TABLE AS changed', -1],
  ] as const) {
    const name = `group_members_counted_${event}`;
    await trigger(context, {
      name,
      table: 'group_members',
      event,
      rows,
      body: `INSERT INTO directory_counts AS counts (tenant_id, kind, shard, n)
        SELECT tenant_id, 'members:' || group_id, pg_backend_pid() % 16, ${step} * count(*) FROM changed GROUP BY tenant_id, group_id
        ON CONFLICT (tenant_id, kind, shard) DO UPDATE SET n = counts.n + excluded.n;`,
    });
  }
  await trigger(context, {
    name: 'groups_forget_count',
    table: 'groups',
    event: 'delete',
    rows: 'OLD TABLE AS changed',
    body: `DELETE FROM directory_counts counts USING changed
      WHERE counts.tenant_id = changed.tenant_id AND counts.kind = 'members:' || changed.id;`,
  });
}

interface Trigger {
  readonly name: string;
  readonly table: string;
  readonly event: 'insert' | 'delete';
  readonly rows: string;
  readonly body: string;
}

export async function trigger(context: MigrationContext, { name, table, event, rows, body }: Trigger): Promise<void> {
  await context.execute(`CREATE FUNCTION ${name}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN ${body} RETURN NULL; END $$`);
  await context.execute(
    `CREATE TRIGGER ${name} AFTER ${event.toUpperCase()} ON ${table} REFERENCING ${rows} FOR EACH STATEMENT EXECUTE FUNCTION ${name}()`,
  );
}
