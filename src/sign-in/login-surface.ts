// {base_url}/login/{tx}: the sign-in pages and their JSON (design 04). Every step is a post that answers 303 to the next page,
// or JSON when asked for. Nothing here decides: the steps do, and approvals/ resolve and finish.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { abandonLogin, finishLogin } from '../approvals/finish-login.ts';
import { makeKnownCookie } from '../approvals/session/known-browser.ts';
import { ContractError, reject } from '../contract/contract-error.ts';
import { loginBodyBytesMax } from '../contract/limits.ts';
import type { UserId } from '../domain/ids.ts';
import { negotiateLanguage } from '../domain/language.ts';
import type { Destination } from '../domain/oidc/authorization-response.ts';
import { asksForOrganization } from '../domain/organizations/tenant-organizations.ts';
import { mailboxOf } from '../http/development.ts';
import { hookFailed } from '../http/hook-failed.ts';
import { wantsJson } from '../http/page-request.ts';
import type { Services } from '../http/services.ts';
import { type Handler, registerSurface, type SurfaceDefinition } from '../http/surface.ts';
import { formPostPage, isFormPost } from '../pages/form-post-page.ts';
import { presentErrorPage } from '../pages/status-page.ts';
import { findUserByIdentifier } from '../storage/people/users.ts';
import { chooseAccount, finishRequestOf, resumeLogin } from './account-step.ts';
import { fetchKeptAnswer } from './external/external-return.ts';
import { startExternal } from './external/external-steps.ts';
import { loginCodeJson, makeLoginCode } from './login-code.ts';
import { createLoginEvents } from './login-events.ts';
import { loginErrorPage, loginPage } from './login-page.ts';
import { openedLogin, openLogin } from './login-request.ts';
import type { StepAnswer } from './login-step.ts';
import { chooseMethod, identify, resendPin, restart, verifyPin } from './login-steps.ts';
import { type LoginNow, loginJson } from './login-view.ts';
import { chooseOrganization } from './organization-step.ts';
import { verifyPasskey } from './passkey-steps.ts';
import { takeRecoveryCode } from './recovery/recovery-step.ts';

type Step = (services: Services, request: FastifyRequest, login: LoginNow) => Promise<StepAnswer>;

export function registerLogin(app: FastifyInstance, services: Services): void {
  const events = createLoginEvents(app, services);
  registerSurface(
    app,
    services,
    {
      name: 'login',
      envelope: 'management',
      prefix: '/login',
      bodies: { 'application/x-www-form-urlencoded': 'form', 'application/json': 'raw' },
      bodyBytesMax: loginBodyBytesMax,
      ofTenant: true,
      isPages: true,
      present: presentLogin(services),
    },
    (route) => {
      const step = (work: Step): { POST: Handler } => ({ POST: (request, reply) => answerStep(services, request, reply, work) });
      route('/:transaction', { GET: (request, reply) => show(services, request, reply) });
      route('/:transaction/account', step(chooseAccount));
      route('/:transaction/organization', step(chooseOrganization));
      route('/:transaction/identify', step(identify));
      route('/:transaction/method', step(chooseMethod));
      route('/:transaction/pin', step(verifyPin));
      route('/:transaction/pin/resend', step(resendPin));
      route('/:transaction/passkey', step(verifyPasskey));
      route('/:transaction/recovery', step(takeRecoveryCode));
      route('/:transaction/external', { POST: (request, reply) => goOut(services, request, reply) });
      route('/:transaction/status', {
        GET: async (request, reply) => sendJson(reply, { state: (await openLogin(services, request)).state }),
      });
      route('/:transaction/qr', {
        GET: async (request, reply) => sendJson(reply, await loginCodeJson(services, await openLogin(services, request))),
      });
      route('/:transaction/events', {
        GET: async (request, reply) => events.stream(request, reply, await openLogin(services, request)),
      });
      route('/:transaction/finish', { POST: (request, reply) => end(services, request, reply, 'finish') });
      route('/:transaction/cancel', { POST: (request, reply) => end(services, request, reply, 'cancel') });
      route('/:transaction/restart', { POST: (request, reply) => startOver(services, request, reply) });
    },
  );
}

/** A refusal as the page of the sign-in it happened in, where there is one. */
export const presentLogin =
  (services: Services): NonNullable<SurfaceDefinition['present']> =>
  (answer, request) => {
    const login = openedLogin(request);
    const page = presentErrorPage(answer, request);
    return page === undefined || login === undefined ? page : loginErrorPage(answer, request, login, mailboxOf(services, request));
  };

export const pageOf = (login: LoginNow): string => `${login.tenant.baseUrl}/login/${login.row.id}`;

export const sendJson = (reply: FastifyReply, body: Readonly<Record<string, unknown>>): FastifyReply =>
  reply.header('cache-control', 'no-store').type('application/json; charset=utf-8').send(JSON.stringify(body));

export const redirect = (reply: FastifyReply, location: string): FastifyReply =>
  reply.code(303).header('cache-control', 'no-store').header('referrer-policy', 'no-referrer').header('location', location).send();

/** Sends the browser back to who asked. */
function leave(request: FastifyRequest, reply: FastifyReply, destination: Destination): FastifyReply {
  const { location, fields } = destination;
  if (wantsJson(request)) return sendJson(reply, { redirect_to: location, ...(fields === undefined ? {} : { form: fields }) });
  if (!isFormPost(destination)) return redirect(reply, location);
  const page = formPostPage(request.tenant, negotiateLanguage(request.headers['accept-language']), destination);
  return reply.headers(page.headers).send(page.markup);
}

async function show(services: Services, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const opened = await openLogin(services, request);
  const returned = await fetchKeptAnswer(services, request, opened);
  if (returned !== undefined) return wantsJson(request) ? sendJson(reply, returned.answer) : redirect(reply, pageOf(opened));
  const resumed = await resumeLogin(services, request, opened);
  if ('location' in resumed) return leave(request, reply, resumed);
  const { login } = resumed;
  if (wantsJson(request)) return sendJson(reply, loginJson(login));
  const page = await loginPage(request, login, { code: await makeLoginCode(services, login), mailbox: mailboxOf(services, request) });
  return reply.headers(page.headers).send(page.markup);
}

/** A post out of order shows people where the sign-in stands instead of an error. */
async function answerStep(services: Services, request: FastifyRequest, reply: FastifyReply, work: Step): Promise<FastifyReply> {
  const login = await openLogin(services, request);
  try {
    const answer = await work(services, request, login);
    if (wantsJson(request)) {
      // Who has proven who they are may still have to say for which organisation.
      const asks = answer['state'] === 'approved' && asksForOrganization(login.tenant.organizations, login.row);
      return sendJson(reply, asks ? { state: (await openLogin(services, request)).state } : answer);
    }
    const { redirect_to: elsewhere } = answer;
    return redirect(reply, typeof elsewhere === 'string' ? elsewhere : pageOf(login));
  } catch (error) {
    if (error instanceof ContractError && error.row === 'login.conflict' && !wantsJson(request)) return redirect(reply, pageOf(login));
    throw error;
  }
}

/** Sends the browser to another provider. */
async function goOut(services: Services, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const login = await openLogin(services, request);
  const { location } = await startExternal(services, request, login);
  return wantsJson(request) ? sendJson(reply, { redirect_to: location }) : redirect(reply, location);
}

async function end(services: Services, request: FastifyRequest, reply: FastifyReply, how: 'finish' | 'cancel'): Promise<FastifyReply> {
  const login = await openLogin(services, request);
  const work = how === 'finish' ? finishLogin : abandonLogin;
  const outcome = await work(services, login.tenant, login.row.id, finishRequestOf(request));
  if (outcome.ok && outcome.setCookie !== undefined) reply.header('set-cookie', outcome.setCookie);
  if (outcome.ok && outcome.signedIn !== undefined) {
    await keepKnown(services, request, reply, { login, userId: outcome.signedIn.userId });
    services.activity.countSignIn(login.tenant.id, outcome.signedIn);
  }
  if (outcome.ok) return leave(request, reply, outcome);
  if (outcome.reason === 'hook_failed') throw hookFailed(outcome.refusal);
  if (!wantsJson(request)) return redirect(reply, pageOf(login));
  throw reject('login.conflict', {
    reason: outcome.reason,
    received: login.state,
    expected: how === 'finish' ? 'approved' : 'not finished',
  });
}

/** From now on wrong codes typed in this browser are counted apart from those of strangers: of whoever signed in, and of nobody else. */
async function keepKnown(
  services: Services,
  request: FastifyRequest,
  reply: FastifyReply,
  { login: { tenant, row }, userId }: { readonly login: LoginNow; readonly userId: UserId },
): Promise<void> {
  if (row.mail_key === null || row.keeps_session === 0 || !finishRequestOf(request).keepsSession) return;
  const key = row.mail_key;
  // What another provider says may be a mailbox of somebody else, of somebody to come too; and another tab may have changed who this is.
  const named = await services.database.read(tenant.id, (queries) => findUserByIdentifier(queries, tenant.id, key));
  if (named?.id !== userId) return;
  const { cookie } = request.headers;
  reply.header('set-cookie', await makeKnownCookie(services, tenant, cookie, key, services.clock.nowMs()));
}

async function startOver(services: Services, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const login = await openLogin(services, request);
  const started = await restart(services, request, login);
  reply.header('set-cookie', started.setCookie);
  return wantsJson(request) ? sendJson(reply, { location: started.location }) : redirect(reply, started.location);
}
