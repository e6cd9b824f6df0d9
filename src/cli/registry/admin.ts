// `gatehouse admin invite|recover|list|roles`: administrators, their roles, and single-use links for them.
import type { Command } from 'commander';
import { createSetupToken, recoverLink, setupLink } from '../../administration/admin-setup.ts';
import { changeUser, createUser } from '../../administration/people/users.ts';
import { rolesPerPersonMax } from '../../contract/limits.ts';
import type { TenantId } from '../../domain/ids.ts';
import { builtInRole, ownerRole } from '../../domain/people/role.ts';
import { listHeldRoles, listHolders } from '../../storage/people/user-roles.ts';
import { findUserByIdentifier } from '../../storage/people/users.ts';
import { listRolesByName } from '../../storage/registry/roles.ts';
import { CommandFailure, usage } from '../failure.ts';
import {
  type Administrator,
  addCommonOptions,
  addTenantOption,
  administer,
  allPages,
  by,
  loadTenant,
  type Options,
  pageRows,
  table,
} from './administrator.ts';
import { loadUser, notActive, personOf, printInvitation, requireEmail } from './user.ts';

const roleHelp = 'roles by name, separated by commas: owner, admin, support, auditor or roles of the tenant';

export function adminCommand(program: Command): void {
  const admin = program.command('admin').description('Administrators and their roles');
  const add = (name: string, description: string): Command =>
    addCommonOptions(addTenantOption(admin.command(name).description(description)));
  add('invite', 'Make a single-use link that makes an administrator')
    .option('--email <email>', 'invite this person, by mail if the server can send mail: makes them an administrator')
    .option('--role <names>', `${roleHelp} (owner when absent, and for administrators those they hold)`)
    .action((options: Options) =>
      options['email'] === undefined ? link(options, undefined) : inviteByEmail(String(options['email']), options),
    );
  add('list', 'List the people who hold roles').action(list);
  add(
    'roles <user> [names]',
    `Set the roles of a person, by id, email or user name: ${roleHelp}; "none" takes all away; shows them without names`,
  ).action(setRoles);
  add('recover <user>', 'Make a single-use link that lets an administrator in again, by id, email or user name').action(
    (who: string, options: Options) => link(options, who),
  );
}

/** The roles that text names, each of which the tenant has. @throws CommandFailure */
async function readRoles({ database }: Administrator, tenant: TenantId, text: unknown): Promise<readonly string[] | undefined> {
  if (text === undefined) return undefined;
  const names = text === 'none' ? [] : [...new Set(String(text).split(','))].sort();
  if (names.length > rolesPerPersonMax) throw usage(`roles: expected at most ${rolesPerPersonMax}, found ${names.length}`);
  const own = names.filter((name) => builtInRole(name) === undefined);
  const found = await database.read(tenant, (queries) => listRolesByName(queries, tenant, own));
  const unknown = own.find((name) => !found.some((role) => role.name === name));
  if (unknown !== undefined) throw usage(`roles: expected ${roleHelp}, found ${unknown === '' ? 'nothing' : unknown}`);
  return names;
}

/** Makes the person an administrator, or one of somebody who is there, and invites them. */
async function inviteByEmail(email: string, options: Options): Promise<void> {
  requireEmail(email);
  await administer(options, async (administrator) => {
    const tenant = await loadTenant(administrator, options);
    const roles = await readRoles(administrator, tenant.id, options['role']);
    const found = await administrator.database.read(tenant.id, (queries) => findUserByIdentifier(queries, tenant.id, email));
    if (found === undefined) {
      const made = await createUser(administrator, tenant.id, await personOf(email, { user_name: email }, roles ?? [ownerRole]), by);
      if (!made.ok) throw new CommandFailure(`expected an email nobody has, found one in use: ${email}. See: gatehouse user list`);
      return printInvitation(administrator, tenant, made.user.row.id, undefined);
    }
    if (found.state !== 'active') throw notActive('inactive', found.id); // before they get a role
    const wanted = roles ?? (found.role === 'admin' ? undefined : [ownerRole]);
    if (wanted !== undefined) await changeUser(administrator, tenant.id, found.id, { roles: wanted }, by);
    await printInvitation(administrator, tenant, found.id, undefined);
  });
}

async function list(options: Options): Promise<void> {
  await administer(options, async (administrator) => {
    const { id: tenant } = await loadTenant(administrator, options);
    const holders = await allPages(
      (after) =>
        administrator.database.read(tenant, async (queries) => {
          const rows = await listHolders(queries, tenant, { after, limit: pageRows });
          const ids = rows.map(({ id }) => id);
          const held = await listHeldRoles(queries, tenant, ids);
          return rows.map((row) => ({ ...row, roles: (held.get(row.id) ?? []).map(({ name }) => name) }));
        }),
      ({ id }) => id,
    );
    administrator.print(
      holders,
      table(
        ['ID', 'STATE', 'ROLES', 'USER NAME'],
        holders.map(({ id, state, roles, user_name: name }) => [id, state, roles.join(','), name ?? '']),
      ),
    );
  });
}

async function setRoles(who: string, names: string | undefined, options: Options): Promise<void> {
  await administer(options, async (administrator) => {
    const tenant = await loadTenant(administrator, options);
    const user = await loadUser(administrator, tenant.id, who);
    const given = await readRoles(administrator, tenant.id, names);
    if (given !== undefined) await changeUser(administrator, tenant.id, user.id, { roles: given }, by);
    const held = await administrator.database.read(tenant.id, (queries) => listHeldRoles(queries, tenant.id, [user.id]));
    const roles = (held.get(user.id) ?? []).map(({ name }) => name);
    administrator.print({ id: user.id, roles }, `User ${user.id} holds ${roles.join(', ') || 'no role'}.`);
  });
}

async function link(options: Options, who: string | undefined): Promise<void> {
  await administer(options, async (administrator) => {
    const tenant = await loadTenant(administrator, options);
    const roles = await readRoles(administrator, tenant.id, options['role']);
    if (roles?.length === 0) throw usage('--role: expected roles, found none');
    const user = who === undefined ? undefined : await loadUser(administrator, tenant.id, who);
    if (user !== undefined && user.role !== 'admin')
      throw new CommandFailure(
        `expected an administrator of tenant ${tenant.slug}, found a user without a role: ${who}. See: gatehouse admin list`,
      );
    const wanted = { user: user?.id ?? null, ...(roles === undefined ? {} : { roles }) };
    const token = await createSetupToken(administrator, tenant.id, wanted, by);
    const url = user === undefined ? setupLink(tenant.baseUrl, token) : recoverLink(tenant.baseUrl, token);
    administrator.print({ setup_url: url }, [`Open once, within 7 days: ${url}`]);
  });
}
