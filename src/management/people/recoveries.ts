// Recoveries of users who lost their phone (design 14, 3): a link for a day, made with a reason by whoever has `users:recover`, listed
// and revoked. Nobody recovers a person who holds a capability they lack, or themselves.
import Type from 'typebox';
import { linkState } from '../../administration/organizations/link-state.ts';
import { revokeLinks } from '../../approvals/invitations.ts';
import { recover } from '../../approvals/recovery/recoveries.ts';
import { recoveryReasonCharsMax } from '../../contract/limits.ts';
import type { Queries } from '../../storage/engine/database.ts';
import type { UserRow } from '../../storage/people/user-rows.ts';
import { type Invitation, listInvitations } from '../../storage/sign-in/invitations.ts';
import { audit, type Call, conflict, type Endpoint, endpoint, invalidField, isoTime, type Json, notFound } from '../endpoint.ts';
import { requireOverHeld } from '../over-people.ts';
import { closed, dateTime, listAnswer, nullable } from '../schemas.ts';
import { loadUser, unknownUser } from './user-of-path.ts';

const recoveryAnswer = Type.Object({
  id: Type.String(),
  user_id: Type.String(),
  state: Type.String({ description: 'open, used, revoked, stopped by the person, or expired' }),
  reason: Type.String(),
  mailed_to: nullable(Type.String()),
  created_at: dateTime,
  expires_at: dateTime,
  used_at: nullable(dateTime),
  stopped_at: nullable(dateTime),
});

export const recoveryEndpoints: readonly Endpoint[] = [
  endpoint({
    method: 'POST',
    path: '/users/:id/recoveries',
    capability: 'users:recover',
    summary:
      'Let a user in again who lost the phone: a link for 24 hours, whose use revokes the old phones. Mailed if the server can send mail, else or with `mail: false` shown once; every address gets a notice',
    body: closed({
      reason: Type.String({ minLength: 1, maxLength: recoveryReasonCharsMax, pattern: '\\S' }),
      mail: Type.Optional(Type.Boolean()),
    }),
    answer: Type.Object({
      id: Type.String(),
      recovery_url: nullable(Type.String({ description: 'null: it was mailed' })),
      mailed_to: nullable(Type.String()),
      expires_at: dateTime,
    }),
    status: 201,
    handle: async (call) => {
      const { services, tenant, params, body, actor, requestId } = call;
      const mayRecover = async (queries: Queries, user: UserRow): Promise<void> => {
        requireOthers(call, user);
        await requireOverHeld(queries, call, user.id);
      };
      const wanted = { userId: params['id']!, reason: body.reason.trim(), byMail: body.mail, mayRecover };
      const made = await recover(services, tenant, wanted, { actor, requestId });
      if (!made.ok && made.reason === 'unknown') throw unknownUser();
      if (!made.ok && made.reason === 'inactive') throw conflict('state', 'The user is suspended.');
      if (!made.ok) throw invalidField('mail', 'must be absent or false: the user has no email, or this server cannot send mail');
      const { id, url, mailedTo, expiresAtMs } = made;
      return { id, recovery_url: mailedTo === undefined ? url : null, mailed_to: mailedTo ?? null, expires_at: isoTime(expiresAtMs) };
    },
  }),
  endpoint({
    method: 'GET',
    path: '/users/:id/recoveries',
    capability: 'devices:read',
    summary: 'List the recoveries of a user, newest first',
    answer: listAnswer(recoveryAnswer),
    status: 200,
    handle: async ({ services, tenant, params }) =>
      services.database.read(tenant.id, async (queries) => {
        const { id } = await loadUser(queries, tenant.id, params['id']!);
        const found = await listInvitations(queries, tenant.id, id, 'recovery');
        return { items: found.map((recovery) => describe(recovery, services.clock.nowMs())) };
      }),
  }),
  endpoint({
    method: 'DELETE',
    path: '/users/:id/recoveries/:recovery_id',
    capability: 'users:recover',
    summary: 'Revoke a recovery, and what its link has begun',
    answer: undefined,
    status: 204,
    handle: async (call) => {
      const { services, tenant, params } = call;
      await services.database.write(tenant.id, async (queries) => {
        const { id: userId } = await loadUser(queries, tenant.id, params['id']!);
        const id = params['recovery_id']!;
        if ((await revokeLinks(queries, tenant.id, userId, { id, kind: 'recovery' })) === 0) throw notFound('unknown_recovery');
        await audit(call, queries, { type: 'recovery.revoked', target: `user:${userId}`, data: { recovery: id } });
      });
    },
  }),
];

/** @throws management.conflict */
function requireOthers(call: Pick<Call<unknown, unknown>, 'actor'>, user: UserRow): void {
  // A stolen session must not come to a factor of its own; people use a recovery code, or another administrator.
  if (call.actor === `user:${user.id}`)
    throw conflict('id', 'Nobody recovers themselves: use a recovery code, or ask another administrator.');
}

function describe(recovery: Invitation, nowMs: number): Json {
  const { id, user_id, mailed_to, created_at, expires_at, used_at, stopped_at, recovery_reason: reason } = recovery;
  return {
    id,
    user_id,
    state: stopped_at === null ? linkState(recovery, nowMs) : 'stopped',
    reason,
    mailed_to,
    created_at: isoTime(created_at),
    expires_at: isoTime(expires_at),
    used_at: used_at === null ? null : isoTime(used_at),
    stopped_at: stopped_at === null ? null : isoTime(stopped_at),
  };
}
