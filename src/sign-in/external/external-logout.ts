// POST /login/callback/{alias}/logout: another provider tells that somebody's session there has ended (Back-Channel Logout 1.0), and
// the sessions here that came from it end. Every wrong token is one answer.
import type { FastifyRequest } from 'fastify';
import { reject } from '../../contract/contract-error.ts';
import { loginBodyBytesMax } from '../../contract/limits.ts';
import { type EndedThere, readLogoutToken } from '../../federation/logout-token.ts';
import { enforceRateLimit } from '../../http/budgets/rate-limits.ts';
import { addressBlock } from '../../http/client-address.ts';
import { readField } from '../../http/page-request.ts';
import type { Parts } from '../../http/services.ts';
import type { Queries } from '../../storage/engine/database.ts';
import { endSsoSessions } from '../../storage/oidc/grants.ts';
import { insertAuditEvent } from '../../storage/records/audit-events.ts';
import { listExternalSsoSessions } from '../../storage/sign-in/sso-sessions.ts';
import { findProvider, upstreamOf } from './external-steps.ts';

type LogoutDeps = Parts<'cache' | 'clock' | 'database' | 'encryption' | 'outbound'> & Parts<'rateLimiter'>;

/** Ends the sessions a logout token names. @throws login.logout_refused, login.external_unavailable */
export async function takeExternalLogout(services: LogoutDeps, request: FastifyRequest): Promise<void> {
  const { tenant } = request;
  const { alias } = request.params as { alias: string }; // the route's own parameter
  const provider = await findProvider(services, tenant, alias);
  if (provider === undefined) throw reject('login.not_found', 'unknown_provider');
  await enforceRateLimit(
    services.rateLimiter,
    tenant,
    'management',
    'login_starts_per_ip',
    `logout:${addressBlock(request.clientAddress)}`,
  );
  const read = await readLogoutToken(
    services,
    upstreamOf(services, tenant, provider),
    readField(request, 'logout_token', loginBodyBytesMax),
  );
  if (!read.ok)
    throw reject(read.reason === 'refused' ? 'login.logout_refused' : 'login.external_unavailable', {
      reason: read.detail,
      expected: provider.alias,
    });
  const end = async (queries: Queries, ended: EndedThere): Promise<void> => {
    for (const { id, userId } of await listExternalSsoSessions(queries, tenant.id, { ...ended, providerId: provider.id })) {
      if ((await endSsoSessions(queries, tenant.id, { id }, 'logout')).length === 0) continue;
      await insertAuditEvent(queries, tenant.id, services.clock.nowMs(), {
        type: 'sso_session.ended',
        requestId: request.id,
        actor: `provider:${provider.id}`,
        target: `sso_session:${id}`,
        data: { user: userId, reason: 'provider_logout' },
      });
    }
  };
  await services.database.write(tenant.id, (queries) => end(queries, read.ended));
}
