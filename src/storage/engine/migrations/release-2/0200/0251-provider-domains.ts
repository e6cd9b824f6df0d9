// Domains that other providers answer for (design 14, 2): those a provider names, those that a TXT record has proven, and the provider
// a sign-in's address belongs to.
import { addColumn, createTable, type MigrationContext } from '../../table.ts';

export async function providerDomains(context: MigrationContext): Promise<void> {
  await addColumn(context, 'identity_providers', 'domains', "text='[]'");
  await addColumn(context, 'login_transactions', 'provider_id', 'text?');
  await createTable(context, 'provider_domains', {
    columns: { tenant_id: 'text', domain: 'text', provider_id: 'text', proven_at: 'integer' },
    primaryKey: ['tenant_id', 'domain'],
    indexes: [{ columns: ['tenant_id', 'provider_id'] }],
    foreignKeys: [{ columns: ['tenant_id', 'provider_id'], table: 'identity_providers', references: ['tenant_id', 'id'] }],
  });
}
