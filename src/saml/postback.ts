// The post-back: hands the answer of a ready session to its provider, once (design 06, "Session"). The order of the
// checks is the documented one; delivery is decided by one statement after the answer is made, so a failing signer burns nothing.
import type { FastifyReply, FastifyRequest } from 'fastify';
import { reject } from '../contract/contract-error.ts';
import { verifySecret } from '../crypto/secret-hash.ts';
import type { Tenant } from '../domain/tenant.ts';
import { prefersJson } from '../http/accept.ts';
import type { Services } from '../http/services.ts';
import { takeRandom } from '../platform/random.ts';
import { isAssigned } from '../storage/access-assignments.ts';
import { insertAuditEvent } from '../storage/audit-events.ts';
import { listGroupNamesOfUser } from '../storage/groups.ts';
import { deliverSamlSession, findSamlSession, type SamlSession } from '../storage/saml-sessions.ts';
import { findUser, listUserEmails } from '../storage/users.ts';
import { pairwiseSecretOf } from '../tokens/pairwise-secret.ts';
import { samlKeysOf } from '../tokens/saml-keys.ts';
import { type AttributeSubject, mapAttributes, primaryEmailOf } from './attributes.ts';
import { autoSubmitHeaders, renderAutoSubmitPage } from './auto-submit-page.ts';
import { idpEntityId } from './idp.ts';
import { makeNameId, type NameId } from './name-id.ts';
import { findEnabledProviderById, type OpenProvider } from './providers.ts';
import { rejectNameIdPolicy } from './request-checks.ts';
import { buildResponse } from './response.ts';
import { readSessionId } from './sso-parameters.ts';

export async function answerPostback(services: Services, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const { tenant } = request;
  const sessionId = readSessionId(request);
  const session = await requireReadySession(services, tenant, sessionId, request.headers.cookie);
  const subject = await requireSubject(services, tenant, session);
  request.auditActor = `user:${subject.user.id}`;
  const open = await requireDelivery(services, tenant, session, subject);
  const nameId = await requireNameId(services, tenant, session, open, subject);
  const xml = await makeResponse(services, tenant, { session, open, subject, nameId });
  const isFirst = await services.database.write(tenant.id, async (queries) => {
    if (!(await deliverSamlSession(queries, tenant.id, sessionId!))) return false;
    await insertAuditEvent(queries, tenant.id, services.clock.nowMs(), {
      type: 'saml.delivered',
      requestId: request.id,
      actor: request.auditActor,
      target: `service_provider:${open.provider.id}`,
      data: { acs: session.acsUrl, name_id_format: nameId.format, idp_initiated: session.idpInitiated },
    });
    return true;
  });
  if (!isFirst) throw reject('saml.session_not_found', 'already_delivered');
  return send(request, reply, session, Buffer.from(xml).toString('base64'));
}

async function requireReadySession(
  services: Services,
  tenant: Tenant,
  sessionId: string | undefined,
  cookies: string | undefined,
): Promise<SamlSession> {
  if (sessionId === undefined) throw reject('saml.session_not_found', 'session_malformed');
  const session = await services.database.read(tenant.id, (queries) => findSamlSession(queries, tenant.id, sessionId));
  if (session === undefined) throw reject('saml.session_not_found', 'session_unknown_or_expired');
  if (!holdsBinding(cookies, session.bindingHash)) throw reject('saml.session_not_found', 'transaction_cookie');
  if (session.state !== 'ready')
    throw reject('saml.session_not_found', { reason: 'session_state', received: session.state, expected: 'ready' });
  return session;
}

// The sign-in gave this browser a cookie per transaction; one of those it sends must be the session's.
function holdsBinding(cookies: string | undefined, bindingHash: string): boolean {
  return (cookies ?? '').split(';').some((cookie) => {
    const at = cookie.indexOf('=');
    const isTransaction = at > 0 && /^(__Host-)?gh-tx-/.test(cookie.slice(0, at).trim());
    return isTransaction && verifySecret(cookie.slice(at + 1).trim(), bindingHash);
  });
}

async function requireSubject(services: Services, tenant: Tenant, session: SamlSession): Promise<AttributeSubject> {
  const { userId } = session;
  if (userId === undefined) throw reject('saml.invalid_grant', 'sign_in_refused');
  const found = await services.database.read(tenant.id, async (queries) => {
    const user = await findUser(queries, tenant.id, userId);
    if (user === undefined || user.state !== 'active') return { state: user?.state ?? 'unknown' };
    const emails = await listUserEmails(queries, tenant.id, userId);
    return { user, emails, groups: await listGroupNamesOfUser(queries, tenant.id, userId) };
  });
  if ('state' in found) throw reject('saml.invalid_grant', { reason: 'user_not_active', received: found.state, expected: 'active' });
  return found;
}

async function requireDelivery(
  services: Services,
  tenant: Tenant,
  session: SamlSession,
  { user }: AttributeSubject,
): Promise<OpenProvider> {
  const open = await findEnabledProviderById(services.cache, tenant.id, session.serviceProviderId);
  if (typeof open === 'string')
    throw reject('saml.unauthorized', { reason: `service_provider_${open}`, received: session.serviceProviderId });
  const { provider } = open;
  if (session.idpInitiated && !provider.idpInitiatedAllowed) throw reject('saml.unauthorized', 'idp_initiated_not_allowed');
  if (!provider.acs.some((acs) => acs.url === session.acsUrl))
    throw reject('saml.unauthorized', { reason: 'acs_unregistered', received: session.acsUrl });
  if (provider.accessPolicy === 'assigned') {
    const target = { kind: 'service_provider', id: provider.id } as const;
    const passes = await services.database.read(tenant.id, (queries) => isAssigned(queries, tenant.id, target, user.id));
    if (!passes) throw reject('saml.unauthorized', { reason: 'not_assigned', received: user.id });
  }
  return open;
}

async function requireNameId(
  services: Services,
  tenant: Tenant,
  session: SamlSession,
  { provider }: OpenProvider,
  subject: AttributeSubject,
): Promise<NameId> {
  const format = session.nameIdFormat;
  if (!provider.nameIdFormats.includes(format)) throw rejectNameIdPolicy({ reason: 'format_not_enabled', received: format });
  const material = {
    pairwiseSecret: await pairwiseSecretOf(services, tenant.id),
    idpEntityId: idpEntityId(tenant),
    transientValue: randomXmlId(),
  };
  const primaryEmail = primaryEmailOf(subject.emails);
  const nameId = makeNameId(format, provider.entityId, { userId: subject.user.id, primaryEmail }, material);
  if (nameId === undefined) throw rejectNameIdPolicy({ reason: 'user_has_no_email', received: format });
  return nameId;
}

interface Delivery {
  readonly session: SamlSession;
  readonly open: OpenProvider;
  readonly subject: AttributeSubject;
  readonly nameId: NameId;
}

async function makeResponse(services: Services, tenant: Tenant, { session, open, subject, nameId }: Delivery): Promise<string> {
  const { provider, encryptionKey } = open;
  const { current } = await samlKeysOf(services, tenant);
  // Registration holds the two together; were they ever apart, nothing goes out in plain text.
  if (provider.encryptAssertions && encryptionKey === undefined)
    throw new Error(`service provider ${provider.id} asks for encryption and has no key`);
  const nowMs = services.clock.nowMs();
  const content = {
    responseId: randomXmlId(),
    assertionId: randomXmlId(),
    sessionIndex: randomXmlId(),
    issuer: idpEntityId(tenant),
    acsUrl: session.acsUrl,
    audience: provider.entityId,
    inResponseTo: session.inResponseTo,
    nowMs,
    authnInstantMs: session.authTime === undefined ? nowMs : session.authTime * 1000,
    authnContextClass: session.authnContextClass,
    nameId,
    attributes: mapAttributes(provider.attributeMap, subject),
  };
  const encryption =
    provider.encryptAssertions && encryptionKey !== undefined ? { key: encryptionKey, how: provider.encryption } : undefined;
  return buildResponse(content, { signer: current, signing: provider.signing, encryption, randomBytes: takeRandom });
}

// xs:ID must not start with a digit; 160 random bits (SAML core 1.3.4 asks for 128 or more).
function randomXmlId(): string {
  return `_${takeRandom(20).toString('hex')}`;
}

function send(request: FastifyRequest, reply: FastifyReply, session: SamlSession, samlResponse: string): FastifyReply {
  const { acsUrl, relayState } = session;
  if (prefersJson(request.headers.accept)) {
    const body = { acs_url: acsUrl, saml_response: samlResponse, relay_state: relayState ?? null };
    return reply.headers({ 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store' }).send(JSON.stringify(body));
  }
  return reply.headers(autoSubmitHeaders).send(renderAutoSubmitPage({ acsUrl, samlResponse, relayState }));
}
