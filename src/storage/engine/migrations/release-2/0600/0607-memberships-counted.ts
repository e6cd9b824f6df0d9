// How many memberships a tenant has, kept by triggers as the counts of people and groups are (migrations 8 and 121).
import type { MigrationContext } from '../../table.ts';
import { trigger } from '../0100/0121-directory-order.ts';

const table = 'organization_members';

export async function membershipsCounted(context: MigrationContext): Promise<void> {
  if (context.dialect === 'postgres') await countOnPostgres(context);
  else await countOnSqlite(context);
  const forAll = async (clause: string): Promise<void> => {
    if (context.dialect === 'postgres')
      for (const one of [table, 'directory_counts']) await context.execute(`ALTER TABLE ${one} ${clause}`);
  };
  // The owner of the tables is held by their policies as everybody is; a migration reads every tenant.
  await forAll('NO FORCE ROW LEVEL SECURITY');
  await context.execute(
    `INSERT INTO directory_counts (tenant_id, kind, shard, n) SELECT tenant_id, 'memberships', 0, count(*) FROM ${table} GROUP BY tenant_id`,
  );
  await forAll('FORCE ROW LEVEL SECURITY');
}

const steps = [
  ['insert', 'NEW', 1],
  ['delete', 'OLD', -1],
] as const;

async function countOnSqlite(context: MigrationContext): Promise<void> {
  for (const [event, row, step] of steps)
    await context.execute(
      `CREATE TRIGGER ${table}_counted_${event} AFTER ${event.toUpperCase()} ON ${table} BEGIN
        INSERT INTO directory_counts VALUES (${row}.tenant_id, 'memberships', 0, ${step})
          ON CONFLICT (tenant_id, kind, shard) DO UPDATE SET n = n + ${step}; END`,
    );
}

/** Once a statement and one row a backend. */
async function countOnPostgres(context: MigrationContext): Promise<void> {
  for (const [event, row, step] of steps)
    await trigger(context, {
      ...{ name: `${table}_counted_${event}`, table, event, rows: `${row} TABLE AS changed` },
      body: `INSERT INTO directory_counts AS counts (tenant_id, kind, shard, n)
        SELECT tenant_id, 'memberships', pg_backend_pid() % 16, ${step} * count(*) FROM changed GROUP BY tenant_id
        ON CONFLICT (tenant_id, kind, shard) DO UPDATE SET n = counts.n + excluded.n;`,
    });
}
