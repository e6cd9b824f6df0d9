// What an administrator does to many people at the console, item by item: it may be stopped, gone on with, and tells what became of each.
import { createTable, type MigrationContext } from '../../table.ts';

export async function consoleTasks(context: MigrationContext): Promise<void> {
  await createTable(context, 'console_tasks', {
    columns: { tenant_id: 'text', id: 'text', made_by: 'text', action: 'text', options: 'text', expires_at: 'integer' },
    primaryKey: ['tenant_id', 'id'],
    indexes: [{ columns: ['tenant_id', 'expires_at'] }],
  });
  await createTable(context, 'console_task_items', {
    columns: {
      tenant_id: 'text',
      task_id: 'text',
      position: 'integer',
      item: 'text',
      state: 'text',
      told: 'text?',
      taken_at: 'integer=0',
    },
    primaryKey: ['tenant_id', 'task_id', 'position'],
    indexes: [{ columns: ['tenant_id', 'task_id', 'state', 'position'] }],
    foreignKeys: [{ columns: ['tenant_id', 'task_id'], table: 'console_tasks', references: ['tenant_id', 'id'] }],
  });
}
