// Whose the domains of addresses are, where SCIM of an organisation writes people (design 19).
import { sql } from 'kysely';
import type { OrganizationDirectory } from '../../../domain/organizations/directory.ts';
import type { Queries } from '../../engine/database.ts';

/** Whether one of these domains is proven to be another organisation's, or of a provider that is not this one's, and not this one's own. */
export async function isDomainOfOthers(
  queries: Queries,
  { tenant, organization }: OrganizationDirectory,
  domains: readonly string[],
): Promise<boolean> {
  if (domains.length === 0) return false;
  const named = sql.join(domains);
  const { rows } = await sql`SELECT 1 FROM organization_domains
      WHERE tenant_id = ${tenant} AND domain IN (${named}) AND organization_id <> ${organization}
    UNION ALL
    SELECT 1 FROM provider_domains d
      JOIN identity_providers p ON p.tenant_id = d.tenant_id AND p.id = d.provider_id
      LEFT JOIN organization_providers o ON o.tenant_id = p.tenant_id AND o.alias = p.alias
      WHERE d.tenant_id = ${tenant} AND d.domain IN (${named}) AND (o.organization_id IS NULL OR o.organization_id <> ${organization})
        AND NOT EXISTS (SELECT 1 FROM organization_domains own
          WHERE own.tenant_id = ${tenant} AND own.domain = d.domain AND own.organization_id = ${organization})
    LIMIT 1`.execute(queries);
  return rows.length > 0;
}
