// Who holds which roles (design 13, 4). `users.role` says `admin` of whoever holds one, which user-writer.ts keeps so; what the roles allow
// is read here each time, so that a role taken away acts at once.

import type { GroupId, TenantId, UserId } from '../../domain/ids.ts';
import type { Capability } from '../../domain/people/capabilities.ts';
import { builtInRole, capabilitiesOfRoles, type HeldRole, ownerRole, roleFields } from '../../domain/people/role.ts';
import { endEnrollments } from '../device/enrollment-tokens.ts';
import type { Queries } from '../engine/database.ts';
import { databaseNowMs } from '../engine/instance.ts';
import { idAmong } from '../engine/rows/id-list.ts';
import type { Page } from '../engine/rows/matching-rows.ts';
import { revokeInvitations } from '../sign-in/invitations.ts';

export interface UserRoleTable {
  tenant_id: TenantId;
  user_id: UserId;
  /** The name of a built-in role, or of one of `roles`. */
  role: string;
  /** The same name when it is one of `roles`. */
  custom_role: string | null;
  created_at: number;
}

/** Thrown inside a transaction to roll it back: nobody would be left who may do everything. */
export class LastOwner extends Error {
  constructor() {
    super('expected another active owner, found none. Make one: gatehouse admin invite');
    this.name = 'LastOwner';
  }
}

interface Holder {
  readonly id: UserId;
  readonly roles: readonly string[];
}

/** Gives people roles and says whether anybody lacked one; throws a foreign key violation for a role the tenant does not have. */
export async function insertHeldRoles(queries: Queries, tenant: TenantId, holders: readonly Holder[]): Promise<boolean> {
  const rows = holders.flatMap(({ id, roles }) =>
    roles.map((role) => ({
      tenant_id: tenant,
      user_id: id,
      role,
      custom_role: builtInRole(role) === undefined ? role : null,
      created_at: databaseNowMs,
    })),
  );
  const custom = rows.flatMap(({ custom_role: name }) => name ?? []);
  if (custom.length > 0) await holdRoles(queries, tenant, custom);
  if (rows.length === 0) return false;
  const given = await queries
    .insertInto('user_roles')
    .values(rows)
    .onConflict((on) => on.doNothing())
    .returning('role')
    .execute();
  return given.length > 0;
}

/** Makes whoever deletes one of these roles wait until the transaction ends. */
async function holdRoles(queries: Queries, tenant: TenantId, names: readonly string[]): Promise<void> {
  await queries
    .updateTable('roles')
    .set((eb) => ({ updated_at: eb.ref('updated_at') }))
    .where('tenant_id', '=', tenant)
    .where('name', 'in', names)
    .execute();
}

/** Makes whoever changes what this person's roles allow wait until the transaction ends; the caller holds the person's row, for which whoever gives them a role waits. */
export async function holdRolesOf(queries: Queries, tenant: TenantId, id: string): Promise<void> {
  const held = (await listHeldRoles(queries, tenant, [id])).get(id as UserId) ?? []; // a look-up key, not yet known to be an id
  const custom = held.flatMap(({ name }) => (builtInRole(name) === undefined ? [name] : [])).sort();
  if (custom.length > 0) await holdRoles(queries, tenant, custom);
}

/**
 * Makes the roles of a person these; the caller holds the person's row. Whoever gets a role is let in by no link made before: it was
 * made over somebody who held less, by who may not make one over them now. @throws LastOwner
 */
export async function replaceHeldRoles(queries: Queries, tenant: TenantId, { id, roles }: Holder): Promise<void> {
  const all = queries.deleteFrom('user_roles').where('tenant_id', '=', tenant).where('user_id', '=', id);
  const gone = await (roles.length === 0 ? all : all.where('role', 'not in', roles)).returning('role').execute();
  if (gone.some(({ role }) => role === ownerRole)) await keepAnOwner(queries, tenant, id);
  if (await insertHeldRoles(queries, tenant, [{ id, roles }])) await endLinks(queries, tenant, id);
}

async function endLinks(queries: Queries, tenant: TenantId, id: UserId): Promise<void> {
  await revokeInvitations(queries, tenant, id);
  await endEnrollments(queries, tenant, id);
}

/** The same for whoever holds a role that now allows more; the caller holds the role's row, for which whoever gives it waits. */
export async function endLinksOfHolders(queries: Queries, tenant: TenantId, role: string): Promise<void> {
  const holders = await queries
    .selectFrom('user_roles')
    .select('user_id')
    .where('tenant_id', '=', tenant)
    .where('custom_role', '=', role)
    .orderBy('user_id')
    .execute();
  for (const { user_id: id } of holders) await endLinks(queries, tenant, id);
}

/** What is asked before an owner is suspended: another active one must remain. The caller holds the person's row. @throws LastOwner */
export async function requireOtherOwner(queries: Queries, tenant: TenantId, id: UserId): Promise<void> {
  const held = (await listHeldRoles(queries, tenant, [id])).get(id) ?? [];
  if (held.some(({ name }) => name === ownerRole)) await keepAnOwner(queries, tenant, id);
}

/** One statement decides; whoever takes an owner away waits for the one before, so that it sees what is left. */
async function keepAnOwner(queries: Queries, tenant: TenantId, id: UserId): Promise<void> {
  const mine = queries.updateTable('tenants').where('tenant_id', '=', tenant);
  await mine.set((eb) => ({ slug: eb.ref('slug') })).execute();
  const { numUpdatedRows: rows } = await mine
    .set((eb) => ({ slug: eb.ref('slug') }))
    .where(({ exists, selectFrom }) =>
      exists(
        selectFrom('user_roles as o')
          .innerJoin('users as u', (join) => join.onRef('u.tenant_id', '=', 'o.tenant_id').onRef('u.id', '=', 'o.user_id'))
          .select('o.user_id')
          .where('o.tenant_id', '=', tenant)
          .where('o.role', '=', ownerRole)
          .where('o.user_id', '<>', id)
          .where('u.state', '=', 'active'),
      ),
    )
    .executeTakeFirst();
  if (rows !== 1n) throw new LastOwner();
}

/** The roles of those of these people who hold any, in order of their names. */
export async function listHeldRoles(
  queries: Queries,
  tenant: TenantId,
  ids: readonly string[],
): Promise<ReadonlyMap<string, readonly HeldRole[]>> {
  if (ids.length === 0) return new Map();
  const rows = await queries
    .selectFrom('user_roles as h')
    .leftJoin('roles as c', (join) => join.onRef('c.tenant_id', '=', 'h.tenant_id').onRef('c.name', '=', 'h.custom_role'))
    .select(['h.user_id', 'h.role', 'c.capabilities'])
    .where('h.tenant_id', '=', tenant)
    .where(idAmong(queries, 'h.user_id', ids))
    .orderBy('h.role')
    .execute();
  const load = roleFields.capabilities.kind.load;
  const held = rows.map(({ user_id: id, role, capabilities }) => ({
    id,
    role: { name: role, custom: capabilities === null ? undefined : load(capabilities) },
  }));
  return new Map([...Map.groupBy(held, ({ id }): string => id)].map(([id, all]) => [id, all.map(({ role }) => role)]));
}

/** What a person may do by the roles they hold now. */
export async function findCapabilities(queries: Queries, tenant: TenantId, id: UserId): Promise<readonly Capability[]> {
  return capabilitiesOfRoles((await listHeldRoles(queries, tenant, [id])).get(id) ?? []);
}

/** The members of a group who hold roles, or those among `people`. */
export async function listHoldersInGroup(
  queries: Queries,
  tenant: TenantId,
  group: string,
  people?: readonly string[],
): Promise<readonly UserId[]> {
  const rows = await queries
    .selectFrom('group_members as m')
    .innerJoin('user_roles as h', (join) => join.onRef('h.tenant_id', '=', 'm.tenant_id').onRef('h.user_id', '=', 'm.user_id'))
    .select('m.user_id')
    .distinct()
    .where('m.tenant_id', '=', tenant)
    .where('m.group_id', '=', group as GroupId) // a look-up key, not yet known to be an id
    .$if(people !== undefined, (some) => some.where(idAmong(queries, 'm.user_id', people!)))
    .execute();
  return rows.map((row) => row.user_id);
}

/** A page of the live people who hold roles, or one of them, in order of their ids. */
export async function listHolders(
  queries: Queries,
  tenant: TenantId,
  { after, limit, role }: Page & { readonly role?: string | undefined },
) {
  return queries
    .selectFrom('users')
    .select(['id', 'user_name', 'display_name', 'state'])
    .where('tenant_id', '=', tenant)
    .where('state', '<>', 'deleted')
    .where('id', 'in', (eb) =>
      eb
        .selectFrom('user_roles')
        .select('user_id')
        .where('tenant_id', '=', tenant)
        .where('user_id', '>', after as UserId) // a place in the order, not yet known to be an id
        .$if(role !== undefined, (some) => some.where('role', '=', role!)),
    )
    .orderBy('id')
    .limit(limit)
    .execute();
}
