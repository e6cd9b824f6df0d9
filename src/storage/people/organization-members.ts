// Who is in which organisation, with the roles they hold there (design 19). Each organisation counts its members itself, in the statement
// that adds one, so that none has more than it may whoever comes at once.
import { type Generated, sql } from 'kysely';
import { membersPerOrganizationMax, organizationsPerPersonMax } from '../../contract/limits.ts';
import { foldKey } from '../../domain/fold.ts';
import type { TenantId, UserId } from '../../domain/ids.ts';
import type { HeldOrganization } from '../../domain/organizations/tenant-organizations.ts';
import type { Queries } from '../engine/database.ts';
import { databaseNowMs } from '../engine/instance.ts';
import { dialectOf, idAmong } from '../engine/rows/id-list.ts';
import { statement } from '../engine/statement.ts';
import { containsPattern } from '../engine/trigram-search.ts';
import { withdrawInvitationsOf } from '../organizations/invitations.ts';
import { leavesManager } from '../organizations/managers.ts';
import { holdOrganization } from '../organizations/organization-hold.ts';
import { touchGroupsOfUser } from './group-writer.ts';
import { isTenantFull } from './memberships-bound.ts';

export interface OrganizationMemberTable {
  tenant_id: TenantId;
  organization_id: string;
  user_id: UserId;
  /** Names of roles, as JSON text. */
  roles: string;
  created_at: number;
  /** 1: SCIM of the organisation made the person for it. Ends with the membership: who comes again was there before. */
  made_by_scim: Generated<number>;
  suspended: Generated<Suspension>;
}

/** What the organisation's directory suspended: nothing, the membership, or with it the person, who was nobody else's. */
export type Suspension = 0 | 1 | 2;

const rolesOf = (text: string): readonly string[] => JSON.parse(text) as readonly string[]; // written here

interface Membership {
  readonly organizationId: string;
  readonly userId: UserId;
  /** In order of their names. */
  readonly roles: readonly string[];
}

/** Why somebody does not become a member; `unknown_role` names the first role the tenant does not have. */
type Unjoined =
  | { readonly reason: 'unknown' | 'organization_full' | 'tenant_full' | 'person_full' | 'last_manager' }
  | { readonly reason: 'unknown_role'; readonly role: string };

type Joined =
  | { readonly ok: true; readonly was: 'none' | 'same' | 'other'; readonly roles: readonly string[]; readonly createdAt: number }
  | ({ readonly ok: false } & Unjoined);

interface Joining extends Omit<Membership, 'roles'> {
  readonly roles: Membership['roles'] | undefined;
  /** True where a member changes them: somebody still manages the organisation afterwards. */
  readonly keepsManager?: boolean;
}

/** Makes a person a member with these roles, or changes those of one who is; without roles they stay. The caller holds the person's row. */
export async function putMember(
  queries: Queries,
  tenant: TenantId,
  { organizationId, userId, roles: wanted, keepsManager = false }: Joining,
): Promise<Joined> {
  const unknown = await findUnknownRole(queries, tenant, wanted ?? []);
  if (unknown !== undefined) return { ok: false, reason: 'unknown_role', role: unknown };
  // The row of the organisation is written first: whoever adds somebody to it or deletes it is waited for.
  if (!(await holdOrganization(queries, tenant, organizationId))) return { ok: false, reason: 'unknown' };
  const before = await findRow(queries, tenant, organizationId, userId);
  const roles = wanted ?? rolesOf(before?.roles ?? '[]');
  const text = JSON.stringify(roles);
  if (before !== undefined) {
    if (before.roles === text) return { ok: true, was: 'same', roles, createdAt: before.created_at };
    const change = queries
      .updateTable('organization_members')
      .set({ roles: text })
      .where('tenant_id', '=', tenant)
      .where('organization_id', '=', organizationId)
      .where('user_id', '=', userId);
    const changed = await (keepsManager ? change.where(leavesManager(tenant, organizationId, text)) : change).executeTakeFirst();
    if (changed.numUpdatedRows !== 1n) return { ok: false, reason: 'last_manager' };
    return { ok: true, was: 'other', roles, createdAt: before.created_at };
  }
  const own = await queries
    .selectFrom('organization_members')
    .select((eb) => eb.fn.countAll<number>().as('n'))
    .where('tenant_id', '=', tenant)
    .where('user_id', '=', userId)
    .executeTakeFirstOrThrow();
  if (Number(own.n) >= organizationsPerPersonMax) return { ok: false, reason: 'person_full' };
  if (await isTenantFull(queries, tenant)) return { ok: false, reason: 'tenant_full' };
  const counted = await countOf(queries, tenant, 1)
    .where('id', '=', organizationId)
    .where('members', '<', membersPerOrganizationMax)
    .executeTakeFirst();
  if (counted.numUpdatedRows !== 1n) return { ok: false, reason: 'organization_full' };
  const { created_at: createdAt } = await queries
    .insertInto('organization_members')
    .values({ tenant_id: tenant, organization_id: organizationId, user_id: userId, roles: text, created_at: databaseNowMs })
    .returning('created_at')
    .executeTakeFirstOrThrow();
  return { ok: true, was: 'none', roles, createdAt };
}

const countOf = (queries: Queries, tenant: TenantId, step: 1 | -1) =>
  queries
    .updateTable('organizations')
    .set((eb) => ({ members: eb('members', '+', step) }))
    .where('tenant_id', '=', tenant);

/** Makes whoever deletes one of these roles wait until the transaction ends; gives the first that is none. */
export async function findUnknownRole(queries: Queries, tenant: TenantId, names: readonly string[]): Promise<string | undefined> {
  const known = new Set(await holdKnownRoles(queries, tenant, names));
  return names.find((name) => !known.has(name));
}

/** Those of these roles that the tenant has, held in the same way, in order of their names. */
export async function holdKnownRoles(queries: Queries, tenant: TenantId, names: readonly string[]): Promise<readonly string[]> {
  if (names.length === 0) return [];
  const query = queries.selectFrom('organization_roles').select('name').where('tenant_id', '=', tenant).where('name', 'in', names);
  const rows = await (dialectOf(queries) === 'postgres' ? query.forShare() : query).execute();
  return rows.map(({ name }) => name).sort();
}

const findRow = (queries: Queries, tenant: TenantId, organization: string, user: string) =>
  queries
    .selectFrom('organization_members')
    .select(['roles', 'created_at'])
    .where('tenant_id', '=', tenant)
    .where('organization_id', '=', organization)
    .where('user_id', '=', user as UserId) // a look-up key, not yet known to be an id
    .executeTakeFirst();

export const isMember = async (queries: Queries, tenant: TenantId, organization: string, user: UserId): Promise<boolean> =>
  (await findRow(queries, tenant, organization, user)) !== undefined;

/** The roles of a member, suspended or not; undefined for who is none. */
export async function findMemberRoles(
  queries: Queries,
  tenant: TenantId,
  organization: string,
  user: UserId,
): Promise<readonly string[] | undefined> {
  const row = await findRow(queries, tenant, organization, user);
  return row && rolesOf(row.roles);
}

/** Ends a membership; false when there was none. */
export async function deleteMember(queries: Queries, tenant: TenantId, organization: string, user: string): Promise<boolean> {
  return (await endMembership(queries, tenant, { organization, user, keepsManager: false })) === 'ended';
}

/** The same for a member who does it: nobody takes the last away who manages. */
export async function endMembership(
  queries: Queries,
  tenant: TenantId,
  { organization, user, keepsManager }: { readonly organization: string; readonly user: string; readonly keepsManager: boolean },
): Promise<'ended' | 'unknown' | 'last_manager'> {
  if (!(await holdOrganization(queries, tenant, organization))) return 'unknown';
  await touchGroupsOfUser(queries, { tenant, organization }, user as UserId); // a look-up key, not yet known to be an id
  const own = queries
    .deleteFrom('organization_members')
    .where('tenant_id', '=', tenant)
    .where('organization_id', '=', organization)
    .where('user_id', '=', user as UserId) // a look-up key, not yet known to be an id
    .returning('user_id');
  const rows = await (keepsManager ? own.where(leavesManager(tenant, organization)) : own).execute();
  if (rows.length === 0) return (await findRow(queries, tenant, organization, user)) === undefined ? 'unknown' : 'last_manager';
  await countOf(queries, tenant, -1).where('id', '=', organization).execute();
  await withdrawInvitationsOf(queries, tenant, organization, user as UserId); // a member's, so an id
  return 'ended';
}

/** Ends every membership of somebody who is about to be nobody; the caller holds the person's row. */
export async function leaveOrganizations(queries: Queries, tenant: TenantId, user: UserId): Promise<void> {
  const own = queries
    .selectFrom('organization_members')
    .select('organization_id')
    .where('tenant_id', '=', tenant)
    .where('user_id', '=', user);
  // Organisations before their members, and in one order, as everywhere.
  const held = queries.selectFrom('organizations').select('id').where('tenant_id', '=', tenant).where('id', 'in', own).orderBy('id');
  const left = await (dialectOf(queries) === 'postgres' ? held.forUpdate() : held).execute();
  if (left.length === 0) return;
  for (const { id } of left) await touchGroupsOfUser(queries, { tenant, organization: id }, user);
  const gone = await queries
    .deleteFrom('organization_members')
    .where('tenant_id', '=', tenant)
    .where('user_id', '=', user)
    .returning('organization_id')
    .execute();
  const ids = gone.map(({ organization_id: id }) => id);
  if (ids.length > 0)
    await countOf(queries, tenant, -1)
      .where(idAmong(queries, 'id', ids))
      .execute();
}

/** A member of an organisation as a list shows them. */
export interface ListedMember extends Membership {
  readonly userName: string | null;
  readonly displayName: string | null;
  readonly createdAtMs: number;
  /** Where they stand in the order of names. */
  readonly name: string;
  /** By the organisation's directory. */
  readonly isSuspended: boolean;
}

interface MemberPage {
  readonly search?: string | undefined;
  /** Searches main addresses alone, for whoever sees no others. */
  readonly byMainEmail?: boolean;
  /** The last member of the page before. */
  readonly after?: readonly [name: string, id: string] | undefined;
  readonly limit: number;
}

const nameOf = sql<string>`coalesce(u.display_name_key, u.user_name_key, '')`;

const membersOf = (
  queries: Queries,
  tenant: TenantId,
  organization: string,
  { search, byMainEmail = false }: Pick<MemberPage, 'search' | 'byMainEmail'>,
) => {
  const all = queries
    .selectFrom('organization_members as m')
    .innerJoin('users as u', (join) => join.onRef('u.tenant_id', '=', 'm.tenant_id').onRef('u.id', '=', 'm.user_id'))
    .where('m.tenant_id', '=', tenant)
    .where('m.organization_id', '=', organization);
  if (search === undefined) return all;
  const pattern = containsPattern(foldKey(search));
  const has = (column: string) => sql<boolean>`${sql.ref(column)} LIKE ${pattern} ESCAPE '\\'`;
  return all.where((eb) =>
    eb.or([
      has('u.display_name_key'),
      has('u.user_name_key'),
      eb.exists(
        eb
          .selectFrom('user_emails as e')
          .select('e.user_id')
          .whereRef('e.tenant_id', '=', 'm.tenant_id')
          .whereRef('e.user_id', '=', 'm.user_id')
          .where(has('e.value_key'))
          .where('e.is_primary', '>=', byMainEmail ? 1 : 0),
      ),
    ]),
  );
};

/** A page of the members of an organisation in the order of their names; `search` is a part of a name or an email. */
export async function listMembers(
  queries: Queries,
  tenant: TenantId,
  organization: string,
  { after, limit, ...searched }: MemberPage,
): Promise<readonly ListedMember[]> {
  const order = dialectOf(queries) === 'postgres' ? sql<string>`${nameOf} COLLATE "C"` : nameOf;
  const some = membersOf(queries, tenant, organization, searched)
    .select([
      'm.organization_id',
      'm.user_id',
      'm.roles',
      'm.created_at',
      'm.suspended',
      'u.user_name',
      'u.display_name',
      nameOf.as('name'),
    ])
    .orderBy(order)
    .orderBy('m.user_id')
    .limit(limit);
  const page = after === undefined ? some : some.where(sql<boolean>`(${order}, m.user_id) > (${after[0]}, ${after[1]})`);
  return (await page.execute()).map((row) => ({
    organizationId: row.organization_id,
    userId: row.user_id,
    roles: rolesOf(row.roles),
    userName: row.user_name,
    displayName: row.display_name,
    createdAtMs: Number(row.created_at),
    name: row.name,
    isSuspended: row.suspended > 0,
  }));
}

/** How many members a search finds. */
export async function countMembers(
  queries: Queries,
  tenant: TenantId,
  organization: string,
  searched: Pick<MemberPage, 'search' | 'byMainEmail'>,
): Promise<number> {
  const row = await membersOf(queries, tenant, organization, searched)
    .select((eb) => eb.fn.countAll<number>().as('n'))
    .executeTakeFirstOrThrow();
  return Number(row.n);
}

/** An organisation somebody is in. */
export interface Belonging extends HeldOrganization {
  readonly displayName: string | undefined;
  readonly isEnabled: boolean;
  /** By its directory. */
  readonly isSuspended: boolean;
  /** Whether they may sign in for it. */
  readonly isOpen: boolean;
  readonly createdAtMs: number;
}

interface HeldRow {
  readonly id: string;
  readonly name: string;
  readonly sign_in: string;
  readonly acr_min: string | null;
  readonly roles: string;
}

const heldOf = ({ id, name, sign_in, acr_min, roles }: HeldRow): HeldOrganization => ({
  id,
  name,
  signIn: sign_in as HeldOrganization['signIn'], // values of its field
  acrMin: (acr_min ?? undefined) as HeldOrganization['acrMin'],
  roles: rolesOf(roles),
});

/** The organisations a person is in, by name, the disabled ones too; at most as many as one may be in. */
export async function listOrganizationsOfUser(queries: Queries, tenant: TenantId, user: UserId): Promise<readonly Belonging[]> {
  const rows = await queries
    .selectFrom('organization_members as m')
    .innerJoin('organizations as o', (join) => join.onRef('o.tenant_id', '=', 'm.tenant_id').onRef('o.id', '=', 'm.organization_id'))
    .select(['o.id', 'o.name', 'o.display_name', 'o.enabled', 'o.sign_in', 'o.acr_min', 'm.roles', 'm.created_at', 'm.suspended'])
    .where('m.tenant_id', '=', tenant)
    .where('m.user_id', '=', user)
    .execute();
  return rows
    .map((row) => ({
      displayName: row.display_name ?? undefined,
      isEnabled: row.enabled === 1,
      isSuspended: row.suspended > 0,
      isOpen: row.enabled === 1 && row.suspended === 0,
      ...heldOf(row),
      createdAtMs: Number(row.created_at),
    }))
    .sort((one, other) => (one.name < other.name ? -1 : 1));
}

/** The memberships of these people, by the names of the organisations. */
export async function listMembershipsByName(
  queries: Queries,
  tenant: TenantId,
  ids: readonly string[],
): Promise<readonly { readonly userId: UserId; readonly organization: string; readonly roles: readonly string[] }[]> {
  const rows = await queries
    .selectFrom('organization_members as m')
    .innerJoin('organizations as o', (join) => join.onRef('o.tenant_id', '=', 'm.tenant_id').onRef('o.id', '=', 'm.organization_id'))
    .select(['m.user_id', 'o.name', 'm.roles'])
    .where('m.tenant_id', '=', tenant)
    .where(idAmong(queries, 'm.user_id', ids))
    .execute();
  return rows.map((row) => ({ userId: row.user_id, organization: row.name, roles: rolesOf(row.roles) }));
}

const selectHeld = statement((queries, values: { readonly tenant: TenantId; readonly organization: string; readonly user: UserId }) =>
  queries
    .selectFrom('organization_members as m')
    .innerJoin('organizations as o', (join) => join.onRef('o.tenant_id', '=', 'm.tenant_id').onRef('o.id', '=', 'm.organization_id'))
    .select(['o.id', 'o.name', 'o.sign_in', 'o.acr_min', 'm.roles'])
    .where('m.tenant_id', '=', values.tenant)
    .where('m.organization_id', '=', values.organization)
    .where('m.user_id', '=', values.user)
    .where('o.enabled', '=', 1)
    .where('m.suspended', '=', 0),
);

/** The organisation as a member of it has it now; undefined for who is none or suspended there, and while it is disabled. */
export async function findHeldOrganization(
  queries: Queries,
  tenant: TenantId,
  organization: string,
  user: UserId,
): Promise<HeldOrganization | undefined> {
  const row = (await selectHeld(queries, { tenant, organization, user })).rows[0];
  return row && heldOf(row);
}

/** The people in an organisation who hold roles of administrators. */
export async function listHoldersInOrganization(queries: Queries, tenant: TenantId, organization: string): Promise<readonly UserId[]> {
  const rows = await queries
    .selectFrom('organization_members as m')
    .innerJoin('user_roles as h', (join) => join.onRef('h.tenant_id', '=', 'm.tenant_id').onRef('h.user_id', '=', 'm.user_id'))
    .select('m.user_id')
    .distinct()
    .where('m.tenant_id', '=', tenant)
    .where('m.organization_id', '=', organization)
    .execute();
  return rows.map((row) => row.user_id);
}
