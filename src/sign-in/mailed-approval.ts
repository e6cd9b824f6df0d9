// {base_url}/approve?token=…: the page a mailed CIBA request opens. It shows who asks and what for; only a post decides, so
// that a mail scanner that follows links decides nothing. The secret stays in the query, out of paths and their records.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { reportSignIn } from '../approvals/reported-sign-in.ts';
import { type Decision, resolveApproval } from '../approvals/resolve-approval.ts';
import { hookedDecision } from '../approvals/sign-in-hook.ts';
import { reject } from '../contract/contract-error.ts';
import { loginBodyBytesMax } from '../contract/limits.ts';
import { hashSecret } from '../crypto/secret-hash.ts';
import type { Client } from '../domain/client/client.ts';
import { emailPinMethod } from '../domain/sign-in/login-methods.ts';
import { hookFailed } from '../http/hook-failed.ts';
import { badField, readField, refuseForeignOrigin, wantsJson } from '../http/page-request.ts';
import type { Parts } from '../http/services.ts';
import { registerSurface, type SurfaceDeps } from '../http/surface.ts';
import { approvalPagePath } from '../mails/approval-mail.ts';
import { presentErrorPage } from '../pages/status-page.ts';
import { withoutDirectionControls } from '../platform/html.ts';
import { findApprovalOfMailToken } from '../storage/oidc/ciba-requests.ts';
import type { UserRow } from '../storage/people/user-rows.ts';
import { findUser } from '../storage/people/users.ts';
import { findClient } from '../storage/registry/clients/clients.ts';
import { type ApprovalNow, type ApprovalState, approvalStateOf, findApproval } from '../storage/sign-in/approvals.ts';
import { mailedApprovalPage } from './mailed-approval-page.ts';

export interface MailedApproval {
  readonly token: string;
  readonly approval: ApprovalNow;
  readonly state: ApprovalState;
  readonly client: Client;
  /** Whom it asks; the page speaks their language. */
  readonly user: UserRow | undefined;
}

/** What the buttons post. A mail proves the mailbox, like an email PIN. */
const decisions: Readonly<Record<string, Decision>> = {
  approve: { verdict: 'approve', method: emailPinMethod },
  deny: { verdict: 'deny', reason: 'other' },
  not_me: { verdict: 'deny', reason: 'not_me' },
};

type MailedApprovalDeps = Parts<'clock' | 'database' | 'encryption' | 'hooks' | 'mail'>;

const tokenSyntax = /^[A-Za-z0-9_-]{43}$/;
const tokenCharsMax = 200;

export function registerMailedApproval(app: FastifyInstance, services: SurfaceDeps & MailedApprovalDeps): void {
  registerSurface(
    app,
    services,
    {
      name: 'mailed-approval',
      envelope: 'management',
      prefix: approvalPagePath,
      bodies: { 'application/x-www-form-urlencoded': 'form', 'application/json': 'raw' },
      bodyBytesMax: loginBodyBytesMax,
      ofTenant: true,
      isPages: true,
      present: presentErrorPage,
    },
    (route) => {
      route('/', {
        GET: (request, reply) => show(services, request, reply),
        POST: (request, reply) => decide(services, request, reply),
      });
    },
  );
}

async function show(services: Parts<'database'>, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const { token } = request.query as { token?: unknown }; // a parsed query string; checked by load
  const mailed = await load(services, request, token);
  if (wantsJson(request)) return sendJson(reply, mailedApprovalJson(mailed));
  const page = mailedApprovalPage(request, mailed);
  return reply.headers(page.headers).send(page.markup);
}

async function decide(services: MailedApprovalDeps, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const mailed = await load(services, request, readField(request, 'token', tokenCharsMax));
  refuseForeignOrigin(request);
  const name = readField(request, 'decision', tokenCharsMax);
  const wanted = Object.hasOwn(decisions, name) ? decisions[name] : undefined;
  if (wanted === undefined) throw badField('decision', 'unknown', Object.keys(decisions).join(', '));
  const { tenant } = request;
  if (mailed.approval.user_id !== null) request.auditActor = `user:${mailed.approval.user_id}`;
  const context = { nowMs: services.clock.nowMs(), requestId: request.id };
  const isPending = mailed.state === 'pending';
  const hooked =
    wanted.verdict === 'approve' && isPending
      ? await hookedDecision(services, tenant, mailed.approval, wanted, request.id)
      : { decision: wanted };
  if ('failed' in hooked) throw hookFailed(hooked.failed);
  const { decision } = hooked;
  const outcome = await services.database.write(tenant.id, async (queries) => {
    const resolved = await resolveApproval(queries, tenant, mailed.approval.id, decision, context);
    if (resolved.ok && name === 'not_me') await reportSignIn(queries, services, tenant, resolved.approval, context);
    return resolved;
  });
  // People see where the request stands; programs are told that they came too late.
  if (!wantsJson(request))
    return reply
      .code(303)
      .headers({ 'cache-control': 'no-store', location: `${tenant.baseUrl}${approvalPagePath}?token=${mailed.token}` })
      .send();
  if (!outcome.ok)
    throw outcome.reason === 'expired' ? reject('approval.expired', 'expired') : reject('approval.not_pending', outcome.reason);
  return sendJson(reply, { state: decision.verdict === 'approve' ? 'approved' : 'denied' });
}

/** The approval a secret opens. @throws login.not_found for any other text */
async function load(services: Parts<'database'>, request: FastifyRequest, token: unknown): Promise<MailedApproval> {
  if (typeof token !== 'string' || !tokenSyntax.test(token)) throw reject('login.not_found', 'malformed_token');
  const { tenant } = request;
  const mailed = await services.database.read(tenant.id, async (queries) => {
    const id = await findApprovalOfMailToken(queries, tenant.id, hashSecret(token));
    const approval = id === undefined ? undefined : await findApproval(queries, tenant.id, id);
    const client = approval?.client_id == null ? undefined : await findClient(queries, tenant.id, approval.client_id);
    if (approval === undefined || client === undefined) return undefined;
    const user = await findUser(queries, tenant.id, approval.user_id ?? '');
    return { token, approval, state: approvalStateOf(approval), client, user };
  });
  if (mailed === undefined) throw reject('login.not_found', 'unknown_token');
  return mailed;
}

const mailedApprovalJson = ({ approval, state, client }: MailedApproval): Readonly<Record<string, unknown>> => ({
  state,
  client: { name: withoutDirectionControls(client.name), ...(client.logoUri === undefined ? {} : { logo_uri: client.logoUri }) },
  ...(approval.binding_message === null ? {} : { binding_message: approval.binding_message }),
  expires_at: new Date(approval.expires_at).toISOString(),
});

const sendJson = (reply: FastifyReply, body: Readonly<Record<string, unknown>>): FastifyReply =>
  reply.header('cache-control', 'no-store').type('application/json; charset=utf-8').send(JSON.stringify(body));
