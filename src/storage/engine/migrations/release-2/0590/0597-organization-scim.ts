// SCIM of each organisation (design 19): its groups, apart from the tenant's, its tokens, and what its directory did to its members.
import { addColumn, createTable, type MigrationContext } from '../../table.ts';

async function makeTables(context: MigrationContext): Promise<void> {
  await createTable(context, 'organization_groups', {
    columns: {
      tenant_id: 'text',
      id: 'text',
      organization_id: 'text',
      display_name: 'text',
      display_name_key: 'text',
      display_name_reversed: 'text?',
      external_id: 'text?',
      external_id_reversed: 'text?',
      version: 'integer',
      created_at: 'integer',
      updated_at: 'integer',
    },
    primaryKey: ['tenant_id', 'id'],
    unique: [['tenant_id', 'organization_id', 'display_name_key']],
    indexes: [{ columns: ['tenant_id', 'organization_id', 'created_at', 'id'] }],
    foreignKeys: [{ columns: ['tenant_id', 'organization_id'], table: 'organizations', references: ['tenant_id', 'id'] }],
  });
  await createTable(context, 'organization_group_members', {
    columns: {
      tenant_id: 'text',
      group_id: 'text',
      user_id: 'text',
      organization_id: 'text',
      created_at: 'integer',
      user_created_at: 'integer',
    },
    primaryKey: ['tenant_id', 'group_id', 'user_id'],
    indexes: [{ columns: ['tenant_id', 'organization_id', 'user_id', 'group_id'] }],
    foreignKeys: [
      { columns: ['tenant_id', 'group_id'], table: 'organization_groups', references: ['tenant_id', 'id'] },
      // Who is a member no more is in none of its groups.
      {
        columns: ['tenant_id', 'organization_id', 'user_id'],
        table: 'organization_members',
        references: ['tenant_id', 'organization_id', 'user_id'],
      },
    ],
  });
  await addColumn(context, 'organization_members', 'made_by_scim', 'integer=0');
  await addColumn(context, 'organization_members', 'suspended', 'integer=0');
  await addColumn(context, 'scim_tokens', 'organization_id', 'text?');
}

const byOrganization = { columns: ['tenant_id', 'organization_id', 'id'] };
const byMaker = { columns: ['tenant_id', 'created_by', 'id'] };

export const organizationScim = [
  { number: 597, name: 'organization-scim', apply: makeTables },
  { number: 598, name: 'scim-tokens-by-organization', table: 'scim_tokens', index: byOrganization },
  { number: 599, name: 'scim-tokens-by-maker', table: 'scim_tokens', index: byMaker },
];
