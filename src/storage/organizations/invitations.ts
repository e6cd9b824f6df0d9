// Invitations into organisations: a link to an address, 256 bits, stored by SHA-256, used up once. A newer one of an address in the same
// organisation takes the place of those before. One that a member made is worth something while they manage the organisation.
import { type RawBuilder, sql } from 'kysely';
import {
  openOrganizationInvitationsMax,
  organizationInvitationsPerAddressMax,
  organizationInvitationsPerDayMax,
} from '../../contract/organization-limits.ts';
import { foldKey } from '../../domain/fold.ts';
import type { TenantId, UserId } from '../../domain/ids.ts';
import type { Queries } from '../engine/database.ts';
import { databaseNowMs } from '../engine/instance.ts';
import { isManagedBy } from './managers.ts';
import { holdOrganization } from './organization-hold.ts';

export interface OrganizationInvitationTable {
  tenant_id: TenantId;
  /** UUID version 7: sorts by time. */
  id: string;
  organization_id: string;
  email: string;
  email_key: string;
  /** Names of roles, as JSON text. */
  roles: string;
  token_hash: string;
  /** 0: the link was handed over. */
  mailed: number;
  /** The member who made it; null: somebody of the tenant. */
  invited_by: UserId | null;
  created_at: number;
  expires_at: number;
  used_at: number | null;
  revoked_at: number | null;
}

export type OrganizationInvitation = Readonly<Omit<OrganizationInvitationTable, 'tenant_id' | 'token_hash' | 'email_key'>>;

const columns = [
  ...['id', 'organization_id', 'email', 'roles', 'mailed', 'invited_by', 'created_at', 'expires_at', 'used_at', 'revoked_at'],
] as unknown as readonly (keyof OrganizationInvitation)[]; // spelled out above

type NewInvitation = Pick<OrganizationInvitation, 'id' | 'organization_id' | 'email' | 'mailed' | 'invited_by'> & {
  readonly roles: readonly string[];
  readonly tokenHash: string;
  readonly lifetimeMs: number;
};

const dayMs = 24 * 3600 * 1000;

/** Stores an invitation in the place of those before; one that is refused takes no place. `full`: so many others wait; `often`: so many were sent within a day, in all or to the address. */
export async function insertOrganizationInvitation(
  queries: Queries,
  tenant: TenantId,
  { roles, tokenHash, lifetimeMs, ...given }: NewInvitation,
): Promise<{ readonly ok: true; readonly expiresAtMs: number } | { readonly ok: false; readonly reason: 'unknown' | 'full' | 'often' }> {
  const { organization_id: organization, email } = given;
  if (!(await holdOrganization(queries, tenant, organization))) return { ok: false, reason: 'unknown' };
  const emailKey = foldKey(email);
  const count = (condition: RawBuilder<unknown>) => sql<number>`sum(CASE WHEN ${condition} THEN 1 ELSE 0 END)`;
  const lately = sql`created_at > ${databaseNowMs} - ${dayMs}`;
  const counted = await queries
    .selectFrom('organization_invitations')
    .select([
      count(sql`${isOpen} AND email_key <> ${emailKey}`).as('open'),
      count(lately).as('lately'),
      count(sql`${lately} AND email_key = ${emailKey}`).as('to_address'),
    ])
    .where('tenant_id', '=', tenant)
    .where('organization_id', '=', organization)
    .executeTakeFirstOrThrow();
  if (Number(counted.open) >= openOrganizationInvitationsMax) return { ok: false, reason: 'full' };
  if (Number(counted.lately) >= organizationInvitationsPerDayMax || Number(counted.to_address) >= organizationInvitationsPerAddressMax)
    return { ok: false, reason: 'often' };
  await queries
    .updateTable('organization_invitations')
    .set({ revoked_at: databaseNowMs })
    .where('tenant_id', '=', tenant)
    .where('organization_id', '=', organization)
    .where('email_key', '=', emailKey)
    .where('used_at', 'is', null)
    .where('revoked_at', 'is', null)
    .execute();
  const row = await queries
    .insertInto('organization_invitations')
    .values({
      ...given,
      tenant_id: tenant,
      email_key: emailKey,
      roles: JSON.stringify(roles),
      token_hash: tokenHash,
      created_at: databaseNowMs,
      expires_at: sql<number>`${databaseNowMs} + ${lifetimeMs}`,
      used_at: null,
      revoked_at: null,
    })
    .returning('expires_at')
    .executeTakeFirstOrThrow();
  return { ok: true, expiresAtMs: row.expires_at };
}

const isOpen = sql<boolean>`used_at IS NULL AND revoked_at IS NULL AND expires_at > ${databaseNowMs}`;

/** What opens a link: nobody used it, it is in time, its organisation is enabled, and whoever made it might still. */
const isGood = (tenant: TenantId): RawBuilder<boolean> => sql<boolean>`${isOpen}
  AND EXISTS (SELECT 1 FROM organizations AS g WHERE g.tenant_id = ${tenant} AND g.id = organization_invitations.organization_id AND g.enabled = 1)
  AND (invited_by IS NULL OR ${isManagedBy(tenant, sql.ref('organization_invitations.organization_id'), sql.ref('organization_invitations.invited_by'))})`;

/** Whether it was sent to an address of this person; without one, to anybody. */
const isTo = (tenant: TenantId, user: UserId | undefined): RawBuilder<boolean> =>
  user === undefined
    ? sql<boolean>`1 = 1`
    : sql<boolean>`email_key IN (SELECT value_key FROM user_emails WHERE tenant_id = ${tenant} AND user_id = ${user})`;

/** The invitation behind a token, while it is good; with a person, only theirs. */
export async function findOrganizationInvitation(
  queries: Queries,
  tenant: TenantId,
  tokenHash: string,
  user?: UserId,
): Promise<OrganizationInvitation | undefined> {
  return queries
    .selectFrom('organization_invitations')
    .select(columns)
    .where('tenant_id', '=', tenant)
    .where('token_hash', '=', tokenHash)
    .where(isTo(tenant, user))
    .where(isGood(tenant))
    .executeTakeFirst();
}

/** Uses a link up: one caller gets it, once, while it is good; with a person, only theirs. */
export async function consumeOrganizationInvitation(
  queries: Queries,
  tenant: TenantId,
  tokenHash: string,
  user?: UserId,
): Promise<OrganizationInvitation | undefined> {
  return queries
    .updateTable('organization_invitations')
    .set({ used_at: databaseNowMs })
    .where('tenant_id', '=', tenant)
    .where('token_hash', '=', tokenHash)
    .where(isTo(tenant, user))
    .where(isGood(tenant))
    .returning(columns)
    .executeTakeFirst();
}

/** Those of an organisation, newest first, from one on; or those alone that wait. */
export async function listOrganizationInvitations(
  queries: Queries,
  tenant: TenantId,
  organization: string,
  { after, limit, waiting }: { readonly after: string; readonly limit: number; readonly waiting: boolean },
): Promise<readonly OrganizationInvitation[]> {
  let query = queries
    .selectFrom('organization_invitations')
    .select(columns)
    .where('tenant_id', '=', tenant)
    .where('organization_id', '=', organization);
  if (after !== '') query = query.where('id', '<', after);
  if (waiting) query = query.where(isOpen);
  return query.orderBy('id', 'desc').limit(limit).execute();
}

/** One that waits, by its id. */
export async function findWaitingInvitation(
  queries: Queries,
  tenant: TenantId,
  organization: string,
  id: string,
): Promise<OrganizationInvitation | undefined> {
  return queries
    .selectFrom('organization_invitations')
    .select(columns)
    .where('tenant_id', '=', tenant)
    .where('organization_id', '=', organization)
    .where('id', '=', id)
    .where(isOpen)
    .executeTakeFirst();
}

/** Withdraws one that nobody used; false when there is none. */
export async function revokeOrganizationInvitation(queries: Queries, tenant: TenantId, organization: string, id: string): Promise<boolean> {
  const rows = await queries
    .updateTable('organization_invitations')
    .set({ revoked_at: databaseNowMs })
    .where('tenant_id', '=', tenant)
    .where('organization_id', '=', organization)
    .where('id', '=', id)
    .where('used_at', 'is', null)
    .where('revoked_at', 'is', null)
    .returning('id')
    .execute();
  return rows.length === 1;
}

/** Those by which whoever leaves would come again: to an address of theirs, and those they made. */
export async function withdrawInvitationsOf(queries: Queries, tenant: TenantId, organization: string, user: UserId): Promise<void> {
  await queries
    .updateTable('organization_invitations')
    .set({ revoked_at: databaseNowMs })
    .where('tenant_id', '=', tenant)
    .where('organization_id', '=', organization)
    .where('used_at', 'is', null)
    .where('revoked_at', 'is', null)
    .where((eb) =>
      eb.or([
        eb('invited_by', '=', user),
        eb('email_key', 'in', eb.selectFrom('user_emails').select('value_key').where('tenant_id', '=', tenant).where('user_id', '=', user)),
      ]),
    )
    .execute();
}
