// Invitations of users (design 13, section 1): a link by mail or to hand over, by which a person adds a passkey or phone. Made, listed,
// revoked; a new one takes the place of those before, which is how one is sent again.
import Type from 'typebox';
import { linkState } from '../../administration/organizations/link-state.ts';
import { invite, revokeLinks } from '../../approvals/invitations.ts';
import type { TenantId, UserId } from '../../domain/ids.ts';
import type { Queries } from '../../storage/engine/database.ts';
import type { UserRow } from '../../storage/people/user-rows.ts';
import { findLiveUser, listShownNames } from '../../storage/people/users.ts';
import { type Invitation, listInvitations, listInvitationsOfTenant } from '../../storage/sign-in/invitations.ts';
import { audit, conflict, type Endpoint, endpoint, invalidField, isoTime, type Json, notFound } from '../endpoint.ts';
import { requireOverHeld } from '../over-people.ts';
import { listOf, pageOf } from '../paging.ts';
import { closed, dateTime, listAnswer, nullable, oneOf, pageQuery } from '../schemas.ts';
import { inviteMany } from './invite-many.ts';

const invitationAnswer = Type.Object({
  id: Type.String(),
  user_id: Type.String(),
  state: Type.String({ description: 'open, used, revoked or expired' }),
  mailed_to: nullable(Type.String()),
  created_at: dateTime,
  expires_at: dateTime,
  used_at: nullable(dateTime),
});

const states = ['open', 'expired', 'used', 'revoked'] as const;

export const invitationEndpoints: readonly Endpoint[] = [
  inviteMany,
  endpoint({
    method: 'GET',
    path: '/invitations',
    capability: 'invitations:read',
    summary: 'List the invitations of all users, newest first; callers with `users:read` get `display_name` too',
    query: closed({ ...pageQuery.properties, state: Type.Optional(oneOf(states)) }),
    answer: listAnswer(Type.Object({ ...invitationAnswer.properties, display_name: Type.Optional(nullable(Type.String())) })),
    status: 200,
    handle: async ({ services, tenant, query, scopes }) => {
      const page = pageOf(query);
      const { database, clock } = services;
      return database.read(tenant.id, async (queries) => {
        const wanted = { state: query.state, after: page.after, limit: page.limit + 1 };
        const rows = await listInvitationsOfTenant(queries, tenant.id, wanted);
        const ids = rows.map(({ user_id }) => user_id);
        const names = scopes.includes('users:read') ? await listShownNames(queries, database.dialect, tenant.id, ids) : undefined;
        return listOf(
          page,
          rows,
          ({ id }) => id,
          (row) => ({ ...describe(row, clock.nowMs()), ...(names && { display_name: names.get(row.user_id) ?? null }) }),
        );
      });
    },
  }),
  endpoint({
    method: 'POST',
    path: '/users/:id/invitations',
    capability: 'invitations:write',
    summary: 'Invite a user; the link is shown once, earlier ones are revoked. Without `mail` it is mailed if the server can send mail',
    body: Type.Union([closed({ mail: Type.Optional(Type.Boolean()) }), Type.Undefined()]),
    answer: Type.Object({ id: Type.String(), invitation_url: Type.String(), mailed_to: nullable(Type.String()), expires_at: dateTime }),
    status: 201,
    handle: async (call) => {
      const { services, tenant, params, body, actor, requestId } = call;
      const mayInvite = (queries: Queries, user: UserRow): Promise<void> => requireOverHeld(queries, call, user.id);
      const made = await invite(services, tenant, { userId: params['id']!, byMail: body?.mail, mayInvite }, { actor, requestId });
      if (made.ok)
        return { id: made.id, invitation_url: made.url, mailed_to: made.mailedTo ?? null, expires_at: isoTime(made.expiresAtMs) };
      if (made.reason === 'unknown') throw notFound('unknown_user');
      if (made.reason === 'inactive') throw conflict('state', 'The user is suspended.');
      throw invalidField('mail', 'must be absent or false: the user has no email, or this server cannot send mail');
    },
  }),
  endpoint({
    method: 'GET',
    path: '/users/:id/invitations',
    capability: 'invitations:read',
    summary: 'List the invitations of a user, newest first',
    answer: listAnswer(invitationAnswer),
    status: 200,
    handle: async ({ services, tenant, params }) =>
      services.database.read(tenant.id, async (queries) => {
        const userId = await loadUserId(queries, tenant.id, params['id']!);
        const found = await listInvitations(queries, tenant.id, userId, 'invitation');
        return { items: found.map((invitation) => describe(invitation, services.clock.nowMs())) };
      }),
  }),
  endpoint({
    method: 'DELETE',
    path: '/users/:id/invitations/:invitation_id',
    capability: 'invitations:write',
    summary: 'Revoke an invitation, and what its link has begun',
    answer: undefined,
    status: 204,
    handle: async (call) => {
      const { services, tenant, params } = call;
      await services.database.write(tenant.id, async (queries) => {
        const userId = await loadUserId(queries, tenant.id, params['id']!);
        const id = params['invitation_id']!;
        if ((await revokeLinks(queries, tenant.id, userId, { id, kind: 'invitation' })) === 0) throw notFound('unknown_invitation');
        await audit(call, queries, { type: 'invitation.revoked', target: `user:${userId}`, data: { invitation: id } });
      });
    },
  }),
];

async function loadUserId(queries: Queries, tenant: TenantId, id: string): Promise<UserId> {
  const user = await findLiveUser(queries, tenant, id);
  if (user === undefined) throw notFound('unknown_user');
  return user.id;
}

function describe(invitation: Invitation, nowMs: number): Json {
  const { id, user_id, mailed_to, created_at, expires_at, used_at } = invitation;
  return {
    id,
    user_id,
    state: linkState(invitation, nowMs),
    mailed_to,
    created_at: isoTime(created_at),
    expires_at: isoTime(expires_at),
    used_at: used_at === null ? null : isoTime(used_at),
  };
}
