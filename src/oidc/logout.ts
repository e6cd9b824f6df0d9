// GET and POST /logout (OpenID Connect RP-Initiated Logout 1.0, contract 7.8). What ends is the grant behind the hint's `sid`, its
// refresh family and access tokens with it, the session it was made from, and the person's session in the browser that asks. The hint is
// the proof that this may be asked.
import type { FastifyReply, FastifyRequest } from 'fastify';
import { dropSsoCookie, ssoBrowserHash } from '../approvals/session/sso-cookie.ts';
import { reject } from '../contract/contract-error.ts';
import { stateCharsMax } from '../contract/limits.ts';
import type { Client } from '../domain/client/client.ts';
import type { GrantId, UserId } from '../domain/ids.ts';
import { withQuery } from '../domain/oidc/authorization-response.ts';
import type { Parts } from '../http/services.ts';
import type { Handler } from '../http/surface.ts';
import { signedOutPage } from '../pages/status-page.ts';
import { endSsoSessions, findGrant, revokeGrant } from '../storage/oidc/grants.ts';
import { insertAuditEvent } from '../storage/records/audit-events.ts';
import { findCachedClient } from '../storage/registry/clients/clients.ts';
import { type IdTokenHint, verifyIdTokenHint } from '../tokens/id-token.ts';
import { parseForm, parseQuery, type RequestParameters } from './parameters.ts';

export function logout(services: Parts<'cache' | 'clock' | 'database' | 'keyRings'>): Handler {
  return async (request, reply) => {
    const parsed = request.method === 'POST' ? parseForm(request) : parseQuery(request);
    if (!parsed.ok) throw reject('logout.invalid_request', { reason: parsed.reason, received: parsed.parameter });
    const { parameters } = parsed;
    const hint = await readHint(services, request, parameters);
    const client = await loadClient(services, request, parameters, hint);
    const target = readTarget(client, parameters);
    if (request.method === 'HEAD') return reply.code(204).send();
    await endGrant(services, request, hint);
    return answer(request, reply, target);
  };
}

async function readHint({ keyRings }: Parts<'keyRings'>, { tenant }: FastifyRequest, parameters: RequestParameters): Promise<IdTokenHint> {
  const text = parameters.get('id_token_hint');
  if (text === undefined) throw reject('logout.invalid_request', 'id_token_hint_missing');
  const verified = verifyIdTokenHint(tenant, await keyRings.of(tenant.id), text);
  if (!verified.ok) throw reject('logout.invalid_request', `id_token_hint_${verified.reason}`);
  return verified.hint;
}

async function loadClient(
  services: Parts<'cache'>,
  request: FastifyRequest,
  parameters: RequestParameters,
  hint: IdTokenHint,
): Promise<Client> {
  const clientId = parameters.get('client_id');
  if (clientId !== undefined && clientId !== hint.clientId)
    throw reject('logout.invalid_request', { reason: 'client_id_not_in_hint', received: clientId, expected: hint.clientId });
  const client = await findCachedClient(services.cache, request.tenant.id, hint.clientId);
  if (client?.enabled !== true) throw reject('logout.invalid_request', { reason: 'client_unresolvable', received: hint.clientId });
  request.auditActor = `client:${client.clientId}`;
  return client;
}

/** Where the browser goes afterwards; undefined for the signed-out page. */
function readTarget(client: Client, parameters: RequestParameters): string | undefined {
  const uri = parameters.get('post_logout_redirect_uri');
  if (uri === undefined) return undefined;
  if (!client.postLogoutRedirectUris.includes(uri))
    throw reject('logout.invalid_request', {
      reason: 'post_logout_redirect_uri_not_registered',
      received: uri,
      expected: client.postLogoutRedirectUris.join(' '),
    });
  const state = parameters.get('state');
  if (state !== undefined && state.length > stateCharsMax) throw reject('logout.invalid_request', 'state_too_long');
  return withQuery(uri, { state });
}

async function endGrant({ database, clock }: Parts<'clock' | 'database'>, request: FastifyRequest, hint: IdTokenHint): Promise<void> {
  const { tenant } = request;
  const record = { requestId: request.id, actor: `user:${hint.sub}`, reason: 'logout', data: { client_id: hint.clientId } };
  await database.write(tenant.id, async (queries) => {
    const grant = await findGrant(queries, tenant.id, hint.sid);
    const browserHash = ssoBrowserHash(request.headers.cookie, tenant);
    const meant = [
      ...(grant?.sso_session_id == null ? [] : [{ id: grant.sso_session_id }]),
      // The browser that asks: a session outlives the grants made from it, and may have come after them.
      ...(browserHash === undefined ? [] : [{ browserHash, userId: hint.sub as UserId }]), // our own signed claim
    ];
    // The sessions first: whoever is being answered from one commits before this goes on, or gets nothing.
    for (const sessions of meant)
      for (const id of await endSsoSessions(queries, tenant.id, sessions, 'logout'))
        await insertAuditEvent(queries, tenant.id, clock.nowMs(), { ...record, type: 'sso_session.ended', target: `sso_session:${id}` });
    if (await revokeGrant(queries, tenant.id, hint.sid as GrantId, 'logout'))
      // our own signed claim
      await insertAuditEvent(queries, tenant.id, clock.nowMs(), { ...record, type: 'grant.revoked', target: `grant:${hint.sid}` });
  });
}

/** POST /logout/browser: the button of a logout that brought no hint. Ends every session of the browser that asks. */
export function signOutOfBrowser({ database, clock }: Parts<'database' | 'clock'>): Handler {
  return async (request, reply) => {
    const { tenant } = request;
    const { origin, cookie } = request.headers;
    const own = new URL(tenant.baseUrl).origin;
    if (origin !== undefined && origin !== own)
      throw reject('logout.invalid_request', { reason: 'foreign_origin', received: origin, expected: own });
    const browserHash = ssoBrowserHash(cookie, tenant);
    if (browserHash !== undefined)
      await database.write(tenant.id, async (queries) => {
        for (const id of await endSsoSessions(queries, tenant.id, { browserHash }, 'logout'))
          await insertAuditEvent(queries, tenant.id, clock.nowMs(), {
            type: 'sso_session.ended',
            requestId: request.id,
            target: `sso_session:${id}`,
            reason: 'logout',
          });
      });
    reply.header('set-cookie', dropSsoCookie(tenant));
    return answer(request, reply, undefined);
  };
}

function answer(request: FastifyRequest, reply: FastifyReply, target: string | undefined): FastifyReply {
  if (target !== undefined) return reply.code(303).headers({ location: target, 'cache-control': 'no-store' }).send();
  const page = signedOutPage(request);
  return reply.headers(page.headers).send(page.markup);
}
