// The post-back: hands the answer of a ready session to its provider, once (design 06, "Session"). The order of the
// checks is the documented one; delivery is decided by one statement after the answer is made, so a failing signer burns nothing.
import type { FastifyReply, FastifyRequest } from 'fastify';
import { reject } from '../contract/contract-error.ts';
import { verifySecret } from '../crypto/secret-hash.ts';
import type { HeldOrganization } from '../domain/organizations/tenant-organizations.ts';
import { fromCustomCell, keyOf, nameIdAttribute } from '../domain/people/custom-attributes.ts';
import { statedClass } from '../domain/saml/authn-context-class.ts';
import type { Tenant } from '../domain/tenant/tenant.ts';
import type { Parts } from '../http/services.ts';
import { prefersJson } from '../platform/accept.ts';
import { takeRandom } from '../platform/random.ts';
import type { Database } from '../storage/engine/database.ts';
import { findHeldOrganization } from '../storage/people/organization-members.ts';
import { listUserEmails } from '../storage/people/user-lists.ts';
import { findUser, isCustomOfAnotherUser, isOfAnotherUser } from '../storage/people/users.ts';
import { insertAuditEvent } from '../storage/records/audit-events.ts';
import { isAssigned } from '../storage/registry/clients/access-assignments.ts';
import { deliverSamlSession, findSamlSession, type SamlSession } from '../storage/saml/saml-sessions.ts';
import { noteOnTry } from '../storage/sign-in/sign-in-tries.ts';
import { signerFor } from '../tokens/own-saml-keys.ts';
import { pairwiseSecretOf } from '../tokens/pairwise-secret.ts';
import { type AssertionSubject, attributesFor } from './attributes.ts';
import { autoSubmitHeaders, renderAutoSubmitPage } from './auto-submit-page.ts';
import { idpEntityId } from './idp.ts';
import { makeNameId, type NameId, type NameIdPlan, planNameId } from './name-id.ts';
import { findEnabledProviderById, type OpenProvider } from './providers.ts';
import { rejectNameIdPolicy } from './request-checks.ts';
import { buildResponse } from './response.ts';
import { readSessionId } from './sso-parameters.ts';

type PostbackDeps = Parts<'cache' | 'clock' | 'database' | 'encryption'>;

export async function answerPostback(services: PostbackDeps, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const { tenant } = request;
  const sessionId = readSessionId(request);
  const session = await requireReadySession(services, tenant, sessionId, request.headers.cookie);
  const subject = await requireSubject(services, tenant, session);
  request.auditActor = `user:${subject.user.id}`;
  const { open, organization } = await requireDelivery(services, request, session, subject);
  const nameId = await requireNameId(services, tenant, session, open, subject);
  const authnContextClass = requireAuthnContext(session);
  const xml = await makeResponse(services, tenant, {
    session,
    open,
    organization,
    subject,
    nameId,
    authnContextClass,
    requestId: request.id,
  });
  const isFirst = await services.database.write(tenant.id, async (queries) => {
    if (!(await deliverSamlSession(queries, tenant.id, sessionId!))) return false;
    await insertAuditEvent(queries, tenant.id, services.clock.nowMs(), {
      type: 'saml.delivered',
      requestId: request.id,
      actor: request.auditActor,
      target: `service_provider:${open.provider.id}`,
      data: { acs: session.acsUrl, name_id_format: session.nameIdFormat, idp_initiated: session.idpInitiated },
    });
    return true;
  });
  if (!isFirst) throw reject('saml.session_not_found', 'already_delivered');
  return send(request, reply, session, Buffer.from(xml).toString('base64'));
}

async function requireReadySession(
  services: Parts<'database'>,
  tenant: Tenant,
  sessionId: string | undefined,
  cookies: string | undefined,
): Promise<SamlSession> {
  if (sessionId === undefined) throw reject('saml.session_not_found', 'session_malformed');
  const session = await services.database.read(tenant.id, (queries) => findSamlSession(queries, tenant.id, sessionId));
  if (session === undefined) throw reject('saml.session_not_found', 'session_unknown_or_expired');
  if (boundTransaction(cookies, session.bindingHash) === undefined) throw reject('saml.session_not_found', 'transaction_cookie');
  if (session.state !== 'ready')
    throw reject('saml.session_not_found', { reason: 'session_state', received: session.state, expected: 'ready' });
  return session;
}

// The sign-in gave this browser a cookie per transaction; one of those it sends must be the session's. Gives how its transaction's id begins.
function boundTransaction(cookies: string | undefined, bindingHash: string): string | undefined {
  for (const cookie of (cookies ?? '').split(';')) {
    const at = cookie.indexOf('=');
    const transaction = at < 0 ? undefined : /^(?:__Host-)?gh-tx-(.+)$/.exec(cookie.slice(0, at).trim())?.[1];
    if (transaction !== undefined && verifySecret(cookie.slice(at + 1).trim(), bindingHash)) return transaction;
  }
  return undefined;
}

async function requireSubject(services: Parts<'database'>, tenant: Tenant, session: SamlSession): Promise<AssertionSubject> {
  const { userId } = session;
  if (userId === undefined) throw reject('saml.invalid_grant', 'sign_in_refused');
  const found = await services.database.read(tenant.id, async (queries) => {
    const user = await findUser(queries, tenant.id, userId);
    if (user === undefined || user.state !== 'active') return { state: user?.state ?? 'unknown' };
    const emails = await listUserEmails(queries, tenant.id, userId);
    const custom = fromCustomCell(tenant.customAttributes, user.custom);
    return { user, emails, custom };
  });
  if ('state' in found) throw reject('saml.invalid_grant', { reason: 'user_not_active', received: found.state, expected: 'active' });
  return found;
}

/** What an answer goes by, as it is now. */
interface Gate {
  readonly open: OpenProvider;
  /** With the roles held there now. */
  readonly organization: HeldOrganization | undefined;
}

async function requireDelivery(
  services: Parts<'cache' | 'database'>,
  request: FastifyRequest,
  session: SamlSession,
  { user }: AssertionSubject,
): Promise<Gate> {
  const { tenant } = request;
  const open = await findEnabledProviderById(services.cache, tenant.id, session.serviceProviderId);
  if (typeof open === 'string')
    throw reject('saml.unauthorized', { reason: `service_provider_${open}`, received: session.serviceProviderId });
  const { provider } = open;
  if (session.idpInitiated && !provider.idpInitiatedAllowed) throw reject('saml.unauthorized', 'idp_initiated_not_allowed');
  if (!provider.acs.some((acs) => acs.url === session.acsUrl))
    throw reject('saml.unauthorized', { reason: 'acs_unregistered', received: session.acsUrl });
  const { organizationId } = session;
  // Judged by the rules of one organisation, or by none, it is no sign-in for another.
  if (provider.organization !== organizationId)
    throw reject('saml.unauthorized', { reason: 'organization_changed', received: organizationId, expected: provider.organization });
  const organization =
    organizationId === undefined
      ? undefined
      : await services.database.read(tenant.id, (queries) => findHeldOrganization(queries, tenant.id, organizationId, user.id));
  if (organizationId !== undefined && organization === undefined) {
    await noteRefused(services, request, session, 'not_a_member');
    throw reject('saml.invalid_grant', { reason: 'not_a_member', received: user.id });
  }
  if (provider.accessPolicy === 'assigned') {
    const target = { kind: 'service_provider', id: provider.id } as const;
    const passes = await services.database.read(tenant.id, (queries) => isAssigned(queries, tenant.id, target, user.id, organizationId));
    if (!passes) {
      await noteRefused(services, request, session, 'not_assigned');
      throw reject('saml.unauthorized', { reason: 'not_assigned', received: user.id });
    }
  }
  return { open, organization };
}

/** Writes why the person gets no answer where their try is told. */
async function noteRefused(
  services: Parts<'database'>,
  { tenant, id, headers }: FastifyRequest,
  { bindingHash }: SamlSession,
  check: 'not_assigned' | 'not_a_member',
): Promise<void> {
  const transaction = boundTransaction(headers.cookie, bindingHash)!; // or the session would not have been opened
  const refused = { type: 'login.refused', check, requestId: id } as const;
  await services.database.write(tenant.id, (queries) => noteOnTry(queries, tenant.id, transaction, refused));
}

type GivenNameId = NameId & { readonly isEncrypted: boolean };

async function requireNameId(
  services: Parts<'cache' | 'encryption' | 'database'>,
  tenant: Tenant,
  session: SamlSession,
  { provider }: OpenProvider,
  subject: AssertionSubject,
): Promise<GivenNameId> {
  const format = session.nameIdFormat;
  const plan = planNameId(provider, format);
  if (plan === undefined) throw rejectNameIdPolicy({ reason: 'format_not_enabled', received: format });
  const material = {
    pairwiseSecret: await pairwiseSecretOf(services, tenant.id),
    idpEntityId: idpEntityId(tenant),
    transientValue: randomXmlId(),
  };
  if (plan.source?.kind === 'custom' && nameIdAttribute(tenant.customAttributes, plan.source.path) === undefined)
    throw rejectNameIdPolicy({ reason: 'source_names_nobody', received: plan.source.path });
  const made = makeNameId(plan, provider.entityId, subject, material);
  if (!made.ok) throw rejectNameIdPolicy({ reason: made.reason, received: format });
  await requireUnshared(services.database, tenant, plan, subject, made.nameId);
  return { ...made.nameId, isEncrypted: plan.isEncrypted };
}

// A name that somebody else has too would let one in as the other.
async function requireUnshared(
  database: Database,
  tenant: Tenant,
  { source }: NameIdPlan,
  { user, custom }: AssertionSubject,
  { value }: NameId,
): Promise<void> {
  // Email addresses and user names are unique in a tenant, and so is what is made here.
  if (source === undefined || source.kind === 'email' || (source.kind === 'column' && source.isUnique)) return;
  const isShared = await database.read(tenant.id, (queries) => {
    if (source.kind === 'column') return isOfAnotherUser(queries, tenant.id, { column: source.column, value, userId: user.id });
    const attribute = nameIdAttribute(tenant.customAttributes, source.path)!; // there, or there would be no name
    const key = keyOf(attribute, custom[attribute.name] as string); // one value
    return isCustomOfAnotherUser(queries, tenant.id, { attribute: attribute.id, key, userId: user.id });
  });
  if (isShared) throw rejectNameIdPolicy({ reason: 'name_of_another_user', received: value });
}

// The page offers only what can meet the request; a session of an earlier version has no method, and one class.
function requireAuthnContext({ authnContextClasses, method }: SamlSession): string {
  const stated = method === undefined ? authnContextClasses[0] : statedClass(authnContextClasses, method);
  if (stated !== undefined) return stated;
  throw reject('saml.invalid_request', { reason: 'authn_context', received: method, expected: authnContextClasses.join(' ') });
}

interface Delivery {
  readonly session: SamlSession;
  readonly open: OpenProvider;
  readonly organization: HeldOrganization | undefined;
  readonly subject: AssertionSubject;
  readonly nameId: GivenNameId;
  readonly authnContextClass: string;
  readonly requestId: string;
}

async function makeResponse(
  services: PostbackDeps,
  tenant: Tenant,
  { session, open, organization, subject, nameId, authnContextClass, requestId }: Delivery,
): Promise<string> {
  const { provider, encryptionKey } = open;
  const signer = await signerFor(services, tenant, provider);
  // Registration holds the two together; were they ever apart, nothing goes out in plain text.
  if ((provider.encryptAssertions || nameId.isEncrypted) && encryptionKey === undefined)
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
    authnContextClass,
    attributes: await attributesFor(services, tenant, { provider, organization, subject, authnContextClass, requestId }),
  };
  const encryption = encryptionKey === undefined ? undefined : { key: encryptionKey, how: provider.encryption, randomBytes: takeRandom };
  const { isEncrypted, ...name } = nameId;
  return buildResponse(
    { ...content, nameId: name, nameIdEncryption: isEncrypted ? encryption : undefined },
    { signer, signing: provider.signing, encryption: provider.encryptAssertions ? encryption : undefined },
  );
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
