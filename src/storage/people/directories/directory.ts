// Where the people and groups of a directory are. Groups of an organisation are in tables of their own, with the same columns, so that
// nothing that reads the tenant's groups gives anything by them.
import { type RawBuilder, sql } from 'kysely';
import type { Directory, OrganizationDirectory } from '../../../domain/organizations/directory.ts';

/** The tables of its groups and of their members; for the columns that both kinds have. */
export const groupTables = ({ organization }: Directory): { readonly groups: 'groups'; readonly members: 'group_members' } =>
  organization === undefined ? ownTables : (organizationTables as never); // see above

const ownTables = { groups: 'groups', members: 'group_members' } as const;
const organizationTables = { groups: 'organization_groups', members: 'organization_group_members' } as const;

/** Of a row of the table of groups: whether SCIM shows it in this directory. */
export const isShownGroup = ({ organization }: Directory, alias: string): RawBuilder<boolean> =>
  organization === undefined ? sql`${sql.ref(`${alias}.origin`)} = 'scim'` : sql`${sql.ref(`${alias}.organization_id`)} = ${organization}`;

/** Of a user's row: whether they are in the organisation; `looked` up for each row, or the list that rows are found by. */
export function isMember({ tenant, organization }: OrganizationDirectory, how: 'looked' | 'listed'): RawBuilder<boolean> {
  const member = sql`FROM organization_members om WHERE om.tenant_id = ${tenant} AND om.organization_id = ${organization}`;
  return how === 'listed' ? sql`(u.id IN (SELECT om.user_id ${member}))` : sql`(EXISTS (SELECT 1 ${member} AND om.user_id = u.id))`;
}

/** Of a user's row: whether the directory of the organisation suspended them there. */
export const isSuspendedMember = ({ tenant, organization }: Directory): RawBuilder<boolean> =>
  sql`(EXISTS (SELECT 1 FROM organization_members os
    WHERE os.tenant_id = ${tenant} AND os.organization_id = ${organization} AND os.user_id = u.id AND os.suspended > 0))`;
