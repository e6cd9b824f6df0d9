// GET and POST /logout (OpenID Connect RP-Initiated Logout 1.0, contract 7.8). There is no session of ours to end: what ends is
// the grant behind the hint's `sid`, its refresh family and access tokens with it. The hint is the proof that this may be asked.
import type { FastifyReply, FastifyRequest } from 'fastify';
import { reject } from '../contract/contract-error.ts';
import { stateCharsMax } from '../contract/limits.ts';
import type { Client } from '../domain/client.ts';
import type { GrantId } from '../domain/ids.ts';
import { signedOutPage } from '../http/pages/status-page.ts';
import type { Services } from '../http/services.ts';
import type { Handler } from '../http/surface.ts';
import { insertAuditEvent } from '../storage/audit-events.ts';
import { findCachedClient } from '../storage/clients.ts';
import { revokeGrant } from '../storage/grants.ts';
import { type IdTokenHint, verifyIdTokenHint } from '../tokens/id-token.ts';
import { parseForm, parseQuery, type RequestParameters } from './parameters.ts';
import { redirectWith } from './redirect-uri.ts';

export function logout(services: Services): Handler {
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

async function readHint({ keyRings }: Services, { tenant }: FastifyRequest, parameters: RequestParameters): Promise<IdTokenHint> {
  const text = parameters.get('id_token_hint');
  if (text === undefined) throw reject('logout.invalid_request', 'id_token_hint_missing');
  const verified = verifyIdTokenHint(tenant, await keyRings.of(tenant.id), text);
  if (!verified.ok) throw reject('logout.invalid_request', `id_token_hint_${verified.reason}`);
  return verified.hint;
}

async function loadClient(services: Services, request: FastifyRequest, parameters: RequestParameters, hint: IdTokenHint): Promise<Client> {
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
  return redirectWith(uri, { state });
}

async function endGrant({ database, clock }: Services, request: FastifyRequest, hint: IdTokenHint): Promise<void> {
  const { tenant } = request;
  await database.write(tenant.id, async (queries) => {
    const isEnded = await revokeGrant(queries, tenant.id, hint.sid as GrantId, 'logout'); // our own signed claim
    if (!isEnded) return;
    await insertAuditEvent(queries, tenant.id, clock.nowMs(), {
      type: 'grant.revoked',
      requestId: request.id,
      actor: `user:${hint.sub}`,
      target: `grant:${hint.sid}`,
      reason: 'logout',
      data: { client_id: hint.clientId },
    });
  });
}

function answer(request: FastifyRequest, reply: FastifyReply, target: string | undefined): FastifyReply {
  if (target !== undefined) return reply.code(303).headers({ location: target, 'cache-control': 'no-store' }).send();
  const page = signedOutPage(request);
  return reply.headers(page.headers).send(page.markup);
}
