// Inviting many people at once: whoever is not here is made, put into groups and given roles, and gets a link. Each is judged by itself
// and told by itself, and what one call did another goes on with: who is here already is invited again. A rehearsal does nothing.
import Type from 'typebox';
import { personProperties } from '../../administration/people/user-fields.ts';
import { createUser, rehearseUser } from '../../administration/people/users.ts';
import { invite } from '../../approvals/invitations.ts';
import { ContractError } from '../../contract/contract-error.ts';
import { render } from '../../contract/envelopes.ts';
import { invitedAtOnceMax, nameCharsMax } from '../../contract/limits.ts';
import { foldKey } from '../../domain/fold.ts';
import type { GroupId, UserId } from '../../domain/ids.ts';
import type { Queries } from '../../storage/engine/database.ts';
import { findDirectoriesOf } from '../../storage/people/directories/ldap-people.ts';
import { insertGroupMember } from '../../storage/people/group-writer.ts';
import { listGroupsByIdOrName } from '../../storage/people/groups.ts';
import { findUserOfEmail, holdUser } from '../../storage/people/users.ts';
import { audit, type Call, conflict, endpoint, invalidField, type Json, requireCapabilities } from '../endpoint.ts';
import { requireOverHeld, requireOverThese } from '../over-people.ts';
import { refusedWrite } from '../refused-write.ts';
import { closed, nullable, oneOf } from '../schemas.ts';
import { checkBody } from '../validation.ts';
import { grants, requireMayGrant, roleNames } from './granting.ts';
import { newUserOf, taken } from './users.ts';

const groupsPerPersonMax = 20;
const person = closed({
  ...personProperties,
  groups: Type.Optional(Type.Array(Type.String({ minLength: 1, maxLength: nameCharsMax }), { maxItems: groupsPerPersonMax })),
  admin_roles: Type.Optional(roleNames),
});
const body = closed({
  people: Type.Array(Type.Record(Type.String(), Type.Unknown()), {
    minItems: 1,
    maxItems: invitedAtOnceMax,
    description: 'Each as a user is made, beside `groups` (by name) and `admin_roles`; without `user_name` it is the first email',
  }),
  invite: Type.Optional(oneOf(['mail', 'link', 'none'])),
  dry_run: Type.Optional(Type.Boolean({ description: 'true: says what would come of each, and does nothing' })),
});
const outcome = Type.Object({
  state: Type.String({ description: 'invited, added (without an invitation), ready (of a dry run) or refused' }),
  is_new: Type.Boolean({ description: 'false: somebody has the address, who is invited again and keeps what they have' }),
  user_id: nullable(Type.String()),
  invitation_url: nullable(Type.String({ description: 'where it is not mailed' })),
  fault: nullable(Type.Object({ kind: nullable(Type.String()), message: Type.String() })),
});

type Wanted = Call<undefined, { readonly people: readonly Json[]; readonly invite?: string; readonly dry_run?: boolean }>;
type Outcome = Json;

export const inviteMany = endpoint({
  method: 'POST',
  path: '/invitations',
  capability: 'invitations:write',
  summary:
    'Invite many people: who is not here is made, put into groups and given roles; each is answered in its place. Without `invite` by mail if the server can send mail, else by links; `none` makes them alone. Needs `users:read` and `users:write` too, for groups `groups:write`, for roles what giving them takes',
  body,
  isLong: true,
  answer: Type.Object({ items: Type.Array(outcome) }),
  status: 200,
  handle: async (call) => {
    const { people } = call.body;
    const has = (name: string): boolean => people.some((one) => Array.isArray(one[name]) && (one[name] as readonly unknown[]).length > 0);
    requireCapabilities(
      ['users:read', 'users:write', ...(has('groups') ? ['groups:write'] : []), ...(has('admin_roles') ? [grants] : [])],
      call.scopes,
    );
    const { canMail } = call.tenant;
    if (call.body.invite === 'mail' && !canMail) throw invalidField('invite', 'This server cannot send mail.');
    const items: Outcome[] = [];
    for (const one of people) {
      await call.pace();
      if (call.isGone()) break; // nobody hears of it: another call goes on
      items.push(await outcomeOf(call as Wanted, one)); // the same shape, for both compilers of schemas
    }
    return { items };
  },
});

async function outcomeOf(call: Wanted, one: Json): Promise<Outcome> {
  const nobody = { is_new: false, user_id: null, invitation_url: null, fault: null };
  try {
    return { ...nobody, ...(await inviteOne(call, one)) };
  } catch (thrown) {
    const error = refusedWrite(thrown);
    if (!(error instanceof ContractError)) throw error;
    const { message, kind } = render(error).body;
    return { ...nobody, state: 'refused', fault: { kind: kind ?? null, message } };
  }
}

/** @throws ContractError that says what is wrong with this one */
async function inviteOne(call: Wanted, one: Json): Promise<Outcome> {
  const fault = await checkBody(person, one);
  if (fault !== undefined) throw fault;
  const { groups: names = [], admin_roles: roles = [], ...given } = one as Json & Lists; // checked by the schema
  const emails = ((given['emails'] ?? []) as readonly { readonly value: string }[]).map(({ value }) => value);
  if (emails[0] === undefined) throw invalidField('emails', 'This field is required.');
  const groups = await findGroups(call, names);
  const here = await findHere(call, emails);
  const isRehearsal = call.body.dry_run === true;
  const told = { state: 'ready', is_new: here === undefined, user_id: here ?? null };
  if (here === undefined) {
    await requireRoles(call, roles);
    const user = newUserOf(call.tenant, { user_name: emails[0], ...given }, roles);
    if (isRehearsal) return rehearse(call, user, told);
    const { services, tenant, actor, requestId } = call;
    const made = await createUser(services, tenant.id, user, { actor, requestId });
    if (!made.ok) throw taken(made.field);
    return welcome(call, made.user.row.id, groups, { ...told, user_id: made.user.row.id });
  }
  if (roles.length > 0) throw invalidField('admin_roles', 'Somebody has this address already: give them roles on their own page.');
  await requireOverThese(call, [here]);
  return isRehearsal ? told : welcome(call, here, groups, told);
}

async function rehearse({ services, tenant }: Wanted, user: ReturnType<typeof newUserOf>, told: Outcome): Promise<Outcome> {
  const made = await rehearseUser(services, tenant.id, user);
  if (!made.ok) throw taken(made.field);
  return told;
}

interface Lists {
  readonly groups?: readonly string[];
  readonly admin_roles?: readonly string[];
}

/** What their roles would let them do, whoever invites them holds: told at the field. */
async function requireRoles(call: Wanted, roles: readonly string[]): Promise<void> {
  try {
    await requireMayGrant(call, roles);
  } catch (error) {
    if (!(error instanceof ContractError)) throw error;
    throw invalidField('admin_roles', String(render(error).body['message']));
  }
}

/** @throws management.invalid_request for a group that is none, or not to be changed here */
async function findGroups({ services, tenant }: Wanted, names: readonly string[]): Promise<readonly GroupId[]> {
  if (names.length === 0) return [];
  const { found, directories } = await services.database.read(tenant.id, async (queries) => {
    const rows = await listGroupsByIdOrName(queries, tenant.id, { ids: [], names });
    const ids = rows.map(({ id }) => id);
    return { found: rows, directories: await findDirectoriesOf(queries, tenant.id, ids) };
  });
  return names.map((name) => {
    const group = found.find((one) => foldKey(one.display_name) === foldKey(name));
    if (group === undefined) throw invalidField('groups', `No group is called ${name}.`, name);
    if (group.identity_provider_id !== null) throw invalidField('groups', `Another provider decides who is in ${name}.`, name);
    if (directories.has(group.id)) throw invalidField('groups', `An LDAP directory decides who is in ${name}.`, name);
    return group.id;
  });
}

/** Who has one of the addresses. */
async function findHere({ services, tenant }: Wanted, emails: readonly string[]): Promise<UserId | undefined> {
  return services.database.read(tenant.id, async (queries) => {
    for (const email of emails) {
      const user = await findUserOfEmail(queries, tenant.id, foldKey(email));
      if (user === undefined) continue;
      if (user.state !== 'active') throw conflict('state', 'The user is suspended.');
      return user.id;
    }
    return undefined;
  });
}

/** Puts somebody into groups and invites them. */
async function welcome(call: Wanted, userId: UserId, groups: readonly GroupId[], told: Outcome): Promise<Outcome> {
  const { services, tenant, actor, requestId } = call;
  if (groups.length > 0) await services.database.write(tenant.id, (queries) => addToGroups(call, queries, userId, groups));
  const how = call.body.invite ?? (tenant.canMail ? 'mail' : 'link');
  if (how === 'none') return { ...told, state: 'added' };
  const mayInvite = (queries: Queries): Promise<void> => requireOverHeld(queries, call, userId);
  const made = await invite(services, tenant, { userId, byMail: how === 'mail', mayInvite, isOneOfMany: true }, { actor, requestId });
  if (!made.ok) throw conflict('state', 'The user is not here any more, or cannot be invited.');
  return { ...told, state: 'invited', invitation_url: how === 'mail' ? null : made.url };
}

async function addToGroups(call: Wanted, queries: Queries, user: UserId, groups: readonly GroupId[]): Promise<void> {
  const isHere = await holdUser(queries, call.services.database.dialect, call.tenant.id, user); // who is being deleted is waited for
  if (isHere === undefined) return;
  for (const group of new Set(groups)) {
    const added = await insertGroupMember(queries, call.tenant.id, group, user);
    if (added.ok) await audit(call, queries, { type: 'group.member_added', target: `group:${group}`, data: { user } });
  }
}
