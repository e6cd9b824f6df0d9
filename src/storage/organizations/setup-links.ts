// Set-up links (design 19): 256 bits, stored by SHA-256, by which somebody without an account connects their company. One browser opens one,
// once; from then on a cookie of that browser is worth what the link was, until its time is over or it is taken back.
import { sql } from 'kysely';
import { setupLinksPerOrganizationMax } from '../../contract/organization-limits.ts';
import type { TenantId } from '../../domain/ids.ts';
import type { Queries } from '../engine/database.ts';
import { databaseNowMs } from '../engine/instance.ts';
import { holdOrganization } from './organization-hold.ts';

export interface OrganizationSetupLinkTable {
  tenant_id: TenantId;
  /** UUID version 7: sorts by time. */
  id: string;
  organization_id: string;
  token_hash: string;
  /** As in the audit trail. */
  created_by: string;
  created_at: number;
  expires_at: number;
  used_at: number | null;
  revoked_at: number | null;
  visit_hash: string | null;
}

export type SetupLink = Readonly<Omit<OrganizationSetupLinkTable, 'tenant_id' | 'token_hash' | 'visit_hash'>>;

const columns = ['id', 'organization_id', 'created_by', 'created_at', 'expires_at', 'used_at', 'revoked_at'] as const;
const isLive = sql<boolean>`revoked_at IS NULL AND expires_at > ${databaseNowMs}`;

type NewSetupLink = Pick<SetupLink, 'id' | 'organization_id' | 'created_by'> & { readonly tokenHash: string; readonly lifetimeMs: number };

/** Stores a link; `full` where as many work as may. */
export async function insertSetupLink(
  queries: Queries,
  tenant: TenantId,
  { tokenHash, lifetimeMs, ...given }: NewSetupLink,
): Promise<SetupLink | 'unknown' | 'full'> {
  if (!(await holdOrganization(queries, tenant, given.organization_id))) return 'unknown';
  const { n } = await queries
    .selectFrom('organization_setup_links')
    .select((eb) => eb.fn.countAll<number>().as('n'))
    .where('tenant_id', '=', tenant)
    .where('organization_id', '=', given.organization_id)
    .where(isLive)
    .executeTakeFirstOrThrow();
  if (Number(n) >= setupLinksPerOrganizationMax) return 'full';
  return queries
    .insertInto('organization_setup_links')
    .values({
      ...given,
      tenant_id: tenant,
      token_hash: tokenHash,
      created_at: databaseNowMs,
      expires_at: sql<number>`${databaseNowMs} + ${lifetimeMs}`,
      used_at: null,
      revoked_at: null,
      visit_hash: null,
    })
    .returning(columns)
    .executeTakeFirstOrThrow();
}

/** Those of an organisation, newest first, until a month after their time. */
export async function listSetupLinks(
  queries: Queries,
  tenant: TenantId,
  organization: string,
  limit: number,
): Promise<readonly SetupLink[]> {
  return queries
    .selectFrom('organization_setup_links')
    .select(columns)
    .where('tenant_id', '=', tenant)
    .where('organization_id', '=', organization)
    .orderBy('id', 'desc')
    .limit(limit)
    .execute();
}

/** Takes a link back, and what it began; false when there is none that works. */
export async function revokeSetupLink(queries: Queries, tenant: TenantId, organization: string, id: string): Promise<boolean> {
  const rows = await queries
    .updateTable('organization_setup_links')
    .set({ revoked_at: databaseNowMs })
    .where('tenant_id', '=', tenant)
    .where('organization_id', '=', organization)
    .where('id', '=', id)
    .where('revoked_at', 'is', null)
    .returning('id')
    .execute();
  return rows.length === 1;
}

/** Uses a link up for one browser: one caller gets it, once, in time, while its organisation is enabled. */
export async function consumeSetupLink(
  queries: Queries,
  tenant: TenantId,
  { tokenHash, visitHash }: { readonly tokenHash: string; readonly visitHash: string },
): Promise<SetupLink | undefined> {
  return queries
    .updateTable('organization_setup_links')
    .set({ used_at: databaseNowMs, visit_hash: visitHash })
    .where('tenant_id', '=', tenant)
    .where('token_hash', '=', tokenHash)
    .where('used_at', 'is', null)
    .where(isLive)
    .where(ofEnabled(tenant))
    .returning(columns)
    .executeTakeFirst();
}

/** The link a browser opened, while it works. */
export async function findSetupVisit(queries: Queries, tenant: TenantId, visitHash: string): Promise<SetupLink | undefined> {
  return queries
    .selectFrom('organization_setup_links')
    .select(columns)
    .where('tenant_id', '=', tenant)
    .where('visit_hash', '=', visitHash)
    .where(isLive)
    .where(ofEnabled(tenant))
    .executeTakeFirst();
}

const ofEnabled = (tenant: TenantId) =>
  sql<boolean>`EXISTS (SELECT 1 FROM organizations AS g WHERE g.tenant_id = ${tenant} AND g.id = organization_setup_links.organization_id AND g.enabled = 1)`;
