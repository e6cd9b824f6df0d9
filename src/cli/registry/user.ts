// `gatehouse user create|suspend|activate|list|invite|recover`.
import type { Command } from 'commander';
import { changeUserState, createUser, listStoredUsers, type StoredUser } from '../../administration/people/users.ts';
import { invite } from '../../approvals/invitations.ts';
import { recover } from '../../approvals/recovery/recoveries.ts';
import { emailCharsMax, recoveryReasonCharsMax } from '../../contract/limits.ts';
import type { Json } from '../../domain/field.ts';
import type { TenantId, UserId } from '../../domain/ids.ts';
import { adminRole } from '../../domain/people/role.ts';
import { userNameFault } from '../../domain/people/user-name.ts';
import type { Tenant } from '../../domain/tenant/tenant.ts';
import type { UserRow } from '../../storage/people/user-rows.ts';
import type { NewUser } from '../../storage/people/user-writer.ts';
import { findLiveUser, findUserByIdentifier } from '../../storage/people/users.ts';
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
import { requireFit } from './kind.ts';

export function userCommand(program: Command): void {
  const user = program.command('user').description('Make, suspend and list users');
  const add = (name: string, description: string): Command =>
    addCommonOptions(addTenantOption(user.command(name).description(description)));
  add('create <email>', 'Make a user')
    .option('--user-name <name>', 'user name (the email when absent)')
    .option('--display-name <name>', 'name shown to people')
    .option('--admin', 'an administrator of the tenant, with the role admin')
    .action(create);
  add('list', 'List users').action(list);
  add('suspend <user>', 'Suspend a user by id, email or user name; sessions end, devices stop').action((who, options) =>
    move(who, options, 'suspended'),
  );
  add('invite <user>', 'Make a single-use link with which a user adds a passkey or phone; it is mailed if the server can send mail')
    .option('--no-mail', 'hand the link over yourself')
    .action((who: string, options: Options) => inviteUser(who, options));
  add('recover <user>', 'Make a link for 24 hours with which a user who lost the phone adds a new one; using it revokes the old phones')
    .requiredOption('--reason <text>', 'how you know it is them, for the audit')
    .option('--no-mail', 'hand the link over yourself')
    .action((who: string, options: Options) => recoverUser(who, options));
  add('activate <user>', 'Activate a suspended user').action((who, options) => move(who, options, 'active'));
}

async function inviteUser(who: string, options: Options): Promise<void> {
  await administer(options, async (administrator) => {
    const tenant = await loadTenant(administrator, options);
    const user = await loadUser(administrator, tenant.id, who);
    await printInvitation(administrator, tenant, user.id, options['mail'] === false ? false : undefined);
  });
}

async function recoverUser(who: string, options: Options): Promise<void> {
  const reason = String(options['reason']).trim();
  if (reason === '' || reason.length > recoveryReasonCharsMax)
    throw usage(`--reason: expected 1 to ${recoveryReasonCharsMax} characters, found ${reason.length}`);
  await administer(options, async (administrator) => {
    const tenant = await loadTenant(administrator, options);
    const { id: userId } = await loadUser(administrator, tenant.id, who);
    const wanted = { userId, reason, byMail: options['mail'] === false ? false : undefined, mayRecover: async () => undefined };
    const made = await recover(mailing(administrator), tenant, wanted, by);
    if (!made.ok) throw notActive(made.reason, userId);
    const { id, url, mailedTo, expiresAtMs } = made;
    const shown = mailedTo === undefined ? url : null;
    administrator.print(
      { id, recovery_url: shown, mailed_to: mailedTo ?? null, expires_at: new Date(expiresAtMs).toISOString() },
      mailedTo === undefined
        ? ['Hand this link over; it opens once, for 24 hours:', url]
        : `Mailed to ${mailedTo}; it opens once, for 24 hours.`,
    );
  });
}

/** What queues a mail on the command line. */
export const mailing = (administrator: Administrator) => ({
  ...administrator,
  mail: { transport: administrator.config.smtpUrl === undefined ? ('outbox' as const) : ('smtp' as const) },
});

/** An invitation or recovery of somebody who may not sign in. */
export const notActive = (reason: string, userId: string): CommandFailure =>
  new CommandFailure(
    `expected an active user, found ${reason === 'inactive' ? 'a suspended one' : 'none'}: ${userId}. See: gatehouse user list`,
  );

/** Invites and prints the link. @throws CommandFailure */
export async function printInvitation(
  administrator: Administrator,
  tenant: Tenant,
  userId: UserId,
  byMail: boolean | undefined,
): Promise<void> {
  const made = await invite(mailing(administrator), tenant, { userId, byMail, mayInvite: async () => undefined }, by);
  if (!made.ok) throw notActive(made.reason, userId);
  const { id, url, mailedTo, expiresAtMs } = made;
  administrator.print({ id, invitation_url: url, mailed_to: mailedTo ?? null, expires_at: new Date(expiresAtMs).toISOString() }, [
    mailedTo === undefined
      ? 'Hand this link over; it opens once:'
      : `Mailed to ${mailedTo}. The link, should the mail get lost; it opens once:`,
    url,
  ]);
}

/** A plausible address; whether it exists, only a mail can tell. */
export function requireEmail(email: string): void {
  if (email.length > emailCharsMax || !/^[^\s@]+@[^\s@]+$/.test(email))
    throw usage(`email: expected an address such as ada@example.com, found ${email}`);
}

/** Who is made, held to what the Management API takes. @throws CommandFailure */
export async function personOf(email: string, said: Json, roles: readonly string[]): Promise<Omit<NewUser, 'id'>> {
  const { listsOf, personProperties, profileOf } = await import('../../administration/people/user-fields.ts');
  const { closed } = await import('../../administration/schema-pieces.ts');
  const person = { ...said, emails: [{ value: email }] };
  await requireFit(closed(personProperties), 'user', person);
  const fault = userNameFault(String(said['user_name']));
  if (fault !== undefined) throw usage(`user.user_name: expected a name that follows RFC 8265, found one that ${fault}`);
  return { state: 'active', origin: 'console', roles, profile: profileOf(person), lists: listsOf(person) };
}

async function create(email: string, options: Options): Promise<void> {
  requireEmail(email);
  const { userName: name = email, displayName } = options;
  const said = { user_name: name, ...(displayName === undefined ? {} : { display_name: displayName }) };
  const person = await personOf(email, said, options['admin'] === true ? [adminRole] : []);
  await administer(options, async (administrator) => {
    const tenant = await loadTenant(administrator, options);
    const created = await createUser(administrator, tenant.id, person, by);
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
        users.map(({ row, lists }) => [row.id, row.state, row.role, row.user_name ?? '', lists.emails[0]?.value ?? '']),
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
export async function loadUser({ database }: Administrator, tenant: TenantId, who: string): Promise<UserRow> {
  const user = await database.read(
    tenant,
    async (queries) => (await findLiveUser(queries, tenant, who)) ?? (await findUserByIdentifier(queries, tenant, who)),
  );
  if (user === undefined)
    throw new CommandFailure(`expected a user's id, email or user name, found none of ${who}. See: gatehouse user list`);
  return user;
}

function userJson({ row, lists }: StoredUser): Readonly<Record<string, unknown>> {
  return { id: row.id, user_name: row.user_name, emails: lists.emails.map((email) => email.value), state: row.state, role: row.role };
}
