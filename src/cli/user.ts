// `gatehouse user create|suspend|activate|list`.
import type { Command } from 'commander';
import { changeUserState, createUser, listStoredUsers, type StoredUser } from '../administration/users.ts';
import { emailCharsMax } from '../contract/limits.ts';
import type { TenantId } from '../domain/ids.ts';
import { findLiveUser, findUserByIdentifier, type UserTable } from '../storage/users.ts';
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
import { CommandFailure, usage } from './failure.ts';

export function userCommand(program: Command): void {
  const user = program.command('user').description('Make, suspend and list users');
  const add = (name: string, description: string): Command =>
    addCommonOptions(addTenantOption(user.command(name).description(description)));
  add('create <email>', 'Make a user')
    .option('--user-name <name>', 'user name (the email when absent)')
    .option('--display-name <name>', 'name shown to people')
    .option('--admin', 'an administrator of the tenant')
    .action(create);
  add('list', 'List users').action(list);
  add('suspend <user>', 'Suspend a user by id, email or user name; sessions end, devices stop').action((who, options) =>
    move(who, options, 'suspended'),
  );
  add('activate <user>', 'Activate a suspended user').action((who, options) => move(who, options, 'active'));
}

/** A plausible address; whether it exists, only a mail can tell. */
export function requireEmail(email: string): void {
  if (email.length > emailCharsMax || !/^[^\s@]+@[^\s@]+$/.test(email))
    throw usage(`email: expected an address such as ada@example.com, found ${email}`);
}

async function create(email: string, options: Options): Promise<void> {
  requireEmail(email);
  await administer(options, async (administrator) => {
    const tenant = await loadTenant(administrator, options);
    const created = await createUser(
      administrator,
      tenant.id,
      {
        state: 'active',
        origin: 'console',
        role: options['admin'] === true ? 'admin' : 'user',
        profile: {
          user_name: String(options['userName'] ?? email),
          ...(options['displayName'] === undefined ? {} : { display_name: String(options['displayName']) }),
        },
        emails: [{ value: email, type: null, display: null, is_primary: 1 }],
      },
      by,
    );
    if (!created.ok)
      throw new CommandFailure(
        `expected a free ${created.field === 'emails' ? 'email' : 'user name'}, found it in use. See: gatehouse user list --tenant ${tenant.slug}`,
      );
    administrator.print(userJson(created.user), `User ${created.user.row.id} (${email}) of ${tenant.baseUrl}`);
  });
}

async function list(options: Options): Promise<void> {
  await administer(options, async (administrator) => {
    const tenant = await loadTenant(administrator, options);
    const users = await allPages(
      (after) => listStoredUsers(administrator, tenant.id, { after, limit: pageRows }),
      (user) => user.row.id,
    );
    administrator.print(
      users.map(userJson),
      table(
        ['ID', 'STATE', 'ROLE', 'USER NAME', 'EMAIL'],
        users.map(({ row, emails }) => [row.id, row.state, row.role, row.user_name ?? '', emails[0]?.value ?? '']),
      ),
    );
  });
}

async function move(who: string, options: Options, state: 'active' | 'suspended'): Promise<void> {
  await administer(options, async (administrator) => {
    const tenant = await loadTenant(administrator, options);
    const user = await loadUser(administrator, tenant.id, who);
    await changeUserState(administrator, tenant.id, user.id, state, by);
    administrator.print({ id: user.id, state }, `User ${user.id} is ${state}.`);
  });
}

/** A live user by id, email or user name. @throws CommandFailure */
export async function loadUser({ database }: Administrator, tenant: TenantId, who: string): Promise<UserTable> {
  const user = await database.read(
    tenant,
    async (queries) => (await findLiveUser(queries, tenant, who)) ?? (await findUserByIdentifier(queries, tenant, who)),
  );
  if (user === undefined)
    throw new CommandFailure(`expected a user's id, email or user name, found none of ${who}. See: gatehouse user list`);
  return user;
}

function userJson({ row, emails }: StoredUser): Readonly<Record<string, unknown>> {
  return { id: row.id, user_name: row.user_name, emails: emails.map((email) => email.value), state: row.state, role: row.role };
}
