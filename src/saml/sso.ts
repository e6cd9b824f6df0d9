// The SSO endpoint: a valid request, or an allowed IdP-initiated start, becomes a session and a sign-in (design 06).
// Checks live in request-checks.ts; the sign-in itself is the shared one.
import type { FastifyReply, FastifyRequest } from 'fastify';
import { sealSamlSession } from '../approvals/saml-sign-in.ts';
import { ssoBrowserHash } from '../approvals/session/sso-cookie.ts';
import { considerSessions } from '../approvals/session/sso-session.ts';
import { columnsOf, type SamlLoginRequest, startLogin } from '../approvals/start-login.ts';
import { reject } from '../contract/contract-error.ts';
import type { SignInRule } from '../domain/organizations/sign-in-rule.ts';
import { enforceRateLimit } from '../http/budgets/rate-limits.ts';
import { addressBlock } from '../http/client-address.ts';
import type { Parts } from '../http/services.ts';
import { prefersJson } from '../platform/accept.ts';
import { randomSecret } from '../platform/random.ts';
import { insertSamlSession } from '../storage/saml/saml-sessions.ts';
import { checkIdpInitiated, checkSpInitiated } from './request-checks.ts';
import { readSsoParameters } from './sso-parameters.ts';

export async function answerSso(
  services: Parts<'cache' | 'clock' | 'database' | 'encryption' | 'rateLimiter'>,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { tenant } = request;
  await enforceRateLimit(services.rateLimiter, tenant, 'oauth', 'login_starts_per_ip', addressBlock(request.clientAddress));
  const parameters = readSsoParameters(request);
  const order =
    parameters.kind === 'sp_initiated'
      ? await checkSpInitiated(services, tenant, parameters)
      : await checkIdpInitiated(services, tenant, parameters.sp, parameters.relayState);
  const { provider } = order.open;
  const { organization } = order;
  const sessionId = randomSecret();
  const asked: SamlLoginRequest = {
    kind: 'saml',
    serviceProviderId: provider.id,
    displayName: provider.name,
    authnContextClasses: order.authnContextClasses,
    prompt: order.prompt,
    organizationId: organization?.id,
    sealedSession: sealSamlSession(services.encryption, tenant, sessionId),
  };
  await refuseVainPassive(services, request, asked, organization);
  const login = await startLogin(
    services,
    tenant,
    asked,
    { ip: request.clientAddress, userAgent: request.headers['user-agent'] },
    async (queries, { bindingHash, expiresInSeconds }) => {
      const of = { serviceProviderId: provider.id, organizationId: organization?.id };
      await insertSamlSession(queries, tenant.id, { ...order, ...of, sessionId, bindingHash, lifetimeSeconds: expiresInSeconds });
    },
  );
  reply.headers({ 'set-cookie': login.setCookie, 'cache-control': 'no-store' });
  if (!prefersJson(request.headers.accept)) return reply.code(303).header('location', login.location).send();
  const body = { session_id: sessionId, login_url: login.location, expires_in: login.expiresInSeconds };
  return reply.header('content-type', 'application/json; charset=utf-8').send(JSON.stringify(body));
}

/**
 * A passive request that this browser's sessions do not answer is refused here. A post from another site carries no Lax cookie:
 * then the sign-in page, which the browser opens next, sees the sessions, and the post-back refuses.
 */
async function refuseVainPassive(
  services: Parts<'clock' | 'database'>,
  request: FastifyRequest,
  asked: SamlLoginRequest,
  organization: SignInRule | undefined,
): Promise<void> {
  const { cookie } = request.headers;
  if (
    asked.prompt?.split(' ').includes('none') !== true ||
    (request.method === 'POST' && ssoBrowserHash(cookie, request.tenant) === undefined)
  )
    return;
  const considered = await considerSessions(services, request.tenant, cookie, columnsOf(asked), organization);
  if (considered?.decision.kind !== 'continue') throw reject('saml.invalid_request', 'is_passive');
}
