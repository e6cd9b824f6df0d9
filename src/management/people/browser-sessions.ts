// Where a user is signed in (design 14, 1): an administrator sees the sessions of browsers and ends them.
import Type from 'typebox';
import { endBrowserSessions } from '../../administration/people/browser-sessions.ts';
import type { UserId } from '../../domain/ids.ts';
import { listSsoSessionsOfUser, type SsoSession } from '../../storage/sign-in/sso-sessions.ts';
import { type Call, type Endpoint, endpoint, isoTime, type Json, notFound } from '../endpoint.ts';
import { dateTime, listAnswer, nullable } from '../schemas.ts';
import { loadUser } from './user-of-path.ts';

const sessionAnswer = Type.Object({
  id: Type.String(),
  user_id: Type.String(),
  acr: nullable(Type.String()),
  amr: Type.Array(Type.String()),
  ip: nullable(Type.String({ description: 'where the sign-in came from' })),
  user_agent: nullable(Type.String()),
  signed_in_at: dateTime,
  last_used_at: dateTime,
  expires_at: dateTime,
});

export const browserSessionEndpoints: readonly Endpoint[] = [
  endpoint({
    method: 'GET',
    path: '/users/:id/browser-sessions',
    capability: 'users:read',
    summary: 'List the browsers a user is signed in to, last used first',
    answer: listAnswer(sessionAnswer),
    status: 200,
    handle: async ({ services, tenant, params }) =>
      services.database.read(tenant.id, async (queries) => {
        const { id: userId } = await loadUser(queries, tenant.id, params['id']!);
        return { items: (await listSsoSessionsOfUser(queries, tenant.id, userId)).map((session) => toJson(userId, session)) };
      }),
  }),
  endpoint({
    method: 'DELETE',
    path: '/users/:id/browser-sessions',
    capability: 'users:write',
    summary: 'Sign a user out of every browser; applications get a logout notice, offline access stays',
    answer: undefined,
    status: 204,
    handle: async (call) => void (await end(call, undefined)),
  }),
  endpoint({
    method: 'DELETE',
    path: '/users/:id/browser-sessions/:session_id',
    capability: 'users:write',
    summary: 'Sign a user out of one browser',
    answer: undefined,
    status: 204,
    handle: async (call) => {
      if ((await end(call, call.params['session_id'])) === 0) throw notFound('unknown_session');
    },
  }),
];

/** Ends one session of the user of the path, or all; gives how many ended. */
async function end(
  { services, tenant, params, actor, requestId }: Pick<Call<never, never>, 'services' | 'tenant' | 'params' | 'actor' | 'requestId'>,
  session: string | undefined,
): Promise<number> {
  const { id: userId } = await services.database.read(tenant.id, (queries) => loadUser(queries, tenant.id, params['id']!));
  return endBrowserSessions(services, tenant.id, { userId, session }, { actor, requestId }, 'administrator');
}

const toJson = (userId: UserId, session: SsoSession): Json => ({
  id: session.id,
  user_id: userId,
  acr: session.acr ?? null,
  amr: session.amr,
  ip: session.ip ?? null,
  user_agent: session.userAgent ?? null,
  signed_in_at: isoTime(session.authTimeMs),
  last_used_at: isoTime(session.usedAtMs),
  expires_at: isoTime(session.expiresAtMs),
});
