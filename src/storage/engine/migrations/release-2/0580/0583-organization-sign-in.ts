// Who becomes a member of an organisation and how its people sign in; whose the domains that are proven are, and the providers (design 19).
import { addColumn, createTable, type MigrationContext } from '../../table.ts';

const organization = { columns: ['tenant_id', 'organization_id'], table: 'organizations', references: ['tenant_id', 'id'] } as const;

export async function organizationSignIn(context: MigrationContext): Promise<void> {
  const added = {
    join: `text='["invitation"]'`,
    default_roles: "text='[]'",
    domains: "text='[]'",
    identity_providers: "text='[]'",
    sign_in: "text='any'",
    acr_min: 'text?',
    branding: "text='{}'",
  } as const;
  for (const [name, type] of Object.entries(added)) await addColumn(context, 'organizations', name, type as (typeof added)['join']);
  await createTable(context, 'organization_domains', {
    columns: { tenant_id: 'text', domain: 'text', organization_id: 'text', proven_at: 'integer' },
    primaryKey: ['tenant_id', 'domain'],
    indexes: [{ columns: ['tenant_id', 'organization_id'] }],
    foreignKeys: [organization],
  });
  await createTable(context, 'organization_providers', {
    columns: { tenant_id: 'text', alias: 'text', organization_id: 'text' },
    primaryKey: ['tenant_id', 'alias'],
    indexes: [{ columns: ['tenant_id', 'organization_id'] }],
    foreignKeys: [organization],
  });
}
