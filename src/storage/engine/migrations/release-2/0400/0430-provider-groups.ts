// Which groups the rules of an identity provider made, and keep (design 16, 1). A table of its own, because no column that is added on the
// embedded database can refer to tenant and provider together. Its row goes with the provider: the group is the console's from then on.
import { createTable, type MigrationContext } from '../../table.ts';

export async function providerGroups(context: MigrationContext): Promise<void> {
  await createTable(context, 'identity_provider_groups', {
    columns: { tenant_id: 'text', group_id: 'text', provider_id: 'text' },
    primaryKey: ['tenant_id', 'group_id'],
    indexes: [{ columns: ['tenant_id', 'provider_id'] }],
    foreignKeys: [
      { columns: ['tenant_id', 'group_id'], table: 'groups', references: ['tenant_id', 'id'] },
      { columns: ['tenant_id', 'provider_id'], table: 'identity_providers', references: ['tenant_id', 'id'] },
    ],
  });
}
