// Attributes a tenant adds to its people: definitions, values as JSON with the person, and the keys that find them.
import { addColumn, createIndex, createTable, type MigrationContext } from '../../table.ts';

export async function customAttributes(context: MigrationContext): Promise<void> {
  await createTable(context, 'custom_attributes', {
    columns: {
      tenant_id: 'text',
      id: 'text',
      name: 'text',
      type: 'text',
      list: 'integer',
      unique: 'integer',
      label: 'text?',
      edit: 'text',
      allowed_values: 'text',
      claim: 'text?',
      created_at: 'integer',
      updated_at: 'integer',
      deleted_at: 'integer?',
    },
    primaryKey: ['tenant_id', 'id'],
  });
  for (const column of ['name', 'claim'])
    await createIndex(context, 'custom_attributes', { columns: ['tenant_id', column], where: 'deleted_at IS NULL', unique: true });
  await createTable(context, 'user_custom_values', {
    columns: { tenant_id: 'text', user_id: 'text', attribute: 'text', value_key: 'text', unique_key: 'text?' },
    primaryKey: ['tenant_id', 'user_id', 'attribute', 'value_key'],
    indexes: [{ columns: ['tenant_id', 'attribute', 'value_key', 'user_id'] }],
    foreignKeys: [{ columns: ['tenant_id', 'user_id'], table: 'users', references: ['tenant_id', 'id'] }],
  });
  await createIndex(context, 'user_custom_values', {
    columns: ['tenant_id', 'attribute', 'unique_key'],
    where: 'unique_key IS NOT NULL',
    unique: true,
  });
  await addColumn(context, 'users', 'custom', 'text?');
}
