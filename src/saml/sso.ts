// The SSO endpoint: a valid request, or an allowed IdP-initiated start, becomes a session and a sign-in (design 06).
// Checks live in request-checks.ts; the sign-in itself is the shared one.
import type { FastifyReply, FastifyRequest } from 'fastify';
import { sealSamlSession } from '../approvals/saml-sign-in.ts';
import { startLogin } from '../approvals/start-login.ts';
import { prefersJson } from '../http/accept.ts';
import { addressBlock } from '../http/client-address.ts';
import { enforceRateLimit } from '../http/rate-limits.ts';
import type { Services } from '../http/services.ts';
import { randomSecret } from '../platform/random.ts';
import { insertSamlSession } from '../storage/saml-sessions.ts';
import { checkIdpInitiated, checkSpInitiated } from './request-checks.ts';
import { readSsoParameters } from './sso-parameters.ts';

export async function answerSso(services: Services, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const { tenant } = request;
  await enforceRateLimit(services.rateLimiter, tenant, 'oauth', 'login_starts_per_ip', addressBlock(request.clientAddress));
  const parameters = readSsoParameters(request);
  const order =
    parameters.kind === 'sp_initiated'
      ? await checkSpInitiated(services, tenant, parameters)
      : await checkIdpInitiated(services, tenant, parameters.sp, parameters.relayState);
  const { provider } = order.open;
  const sessionId = randomSecret();
  const login = await startLogin(
    services,
    tenant,
    {
      kind: 'saml',
      serviceProviderId: provider.id,
      displayName: provider.name,
      sealedSession: sealSamlSession(services.encryption, tenant, sessionId),
    },
    { ip: request.clientAddress, userAgent: request.headers['user-agent'] },
    async (queries, { bindingHash, expiresInSeconds }) => {
      const session = { ...order, sessionId, bindingHash, serviceProviderId: provider.id, lifetimeSeconds: expiresInSeconds };
      await insertSamlSession(queries, tenant.id, session);
    },
  );
  reply.headers({ 'set-cookie': login.setCookie, 'cache-control': 'no-store' });
  if (!prefersJson(request.headers.accept)) return reply.code(303).header('location', login.location).send();
  const body = { session_id: sessionId, login_url: login.location, expires_in: login.expiresInSeconds };
  return reply.header('content-type', 'application/json; charset=utf-8').send(JSON.stringify(body));
}
