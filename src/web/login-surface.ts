// {base_url}/login/{tx}: the sign-in pages and their JSON (design 04). Every step is a post that answers 303 to the next page,
// or JSON when asked for. Nothing here decides: the steps do, and approvals/ resolve and finish.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { abandonLogin, finishLogin } from '../approvals/finish-login.ts';
import { ContractError, reject } from '../contract/contract-error.ts';
import { loginBodyBytesMax } from '../contract/limits.ts';
import { presentErrorPage } from '../http/pages/status-page.ts';
import type { Services } from '../http/services.ts';
import { type Handler, registerSurface } from '../http/surface.ts';
import { loginCodeJson, makeLoginCode } from './login-code.ts';
import { createLoginEvents } from './login-events.ts';
import { loginErrorPage, loginPage } from './login-page.ts';
import { openedLogin, openLogin, wantsJson } from './login-request.ts';
import type { StepAnswer } from './login-step.ts';
import { chooseMethod, identify, resendPin, restart, verifyPin } from './login-steps.ts';
import { type LoginNow, loginJson } from './login-view.ts';
import { verifyPasskey } from './passkey-steps.ts';

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
      present: (answer, request) => {
        const login = openedLogin(request);
        const page = presentErrorPage(answer, request);
        return page === undefined || login === undefined ? page : loginErrorPage(answer, request, login);
      },
    },
    (route) => {
      const step = (work: Step): { POST: Handler } => ({ POST: (request, reply) => answerStep(services, request, reply, work) });
      route('/:transaction', { GET: (request, reply) => show(services, request, reply) });
      route('/:transaction/identify', step(identify));
      route('/:transaction/method', step(chooseMethod));
      route('/:transaction/pin', step(verifyPin));
      route('/:transaction/pin/resend', step(resendPin));
      route('/:transaction/passkey', step(verifyPasskey));
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

const pageOf = (login: LoginNow): string => `${login.tenant.baseUrl}/login/${login.row.id}`;

const sendJson = (reply: FastifyReply, body: Readonly<Record<string, unknown>>): FastifyReply =>
  reply.header('cache-control', 'no-store').type('application/json; charset=utf-8').send(JSON.stringify(body));

const redirect = (reply: FastifyReply, location: string): FastifyReply =>
  reply.code(303).header('cache-control', 'no-store').header('referrer-policy', 'no-referrer').header('location', location).send();

async function show(services: Services, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const login = await openLogin(services, request);
  if (wantsJson(request)) return sendJson(reply, loginJson(login));
  const page = await loginPage(request, login, await makeLoginCode(services, login));
  return reply.headers(page.headers).send(page.markup);
}

/** A post out of order shows people where the sign-in stands instead of an error. */
async function answerStep(services: Services, request: FastifyRequest, reply: FastifyReply, work: Step): Promise<FastifyReply> {
  const login = await openLogin(services, request);
  try {
    const answer = await work(services, request, login);
    return wantsJson(request) ? sendJson(reply, answer) : redirect(reply, pageOf(login));
  } catch (error) {
    if (error instanceof ContractError && error.row === 'login.conflict' && !wantsJson(request)) return redirect(reply, pageOf(login));
    throw error;
  }
}

async function end(services: Services, request: FastifyRequest, reply: FastifyReply, how: 'finish' | 'cancel'): Promise<FastifyReply> {
  const login = await openLogin(services, request);
  const work = how === 'finish' ? finishLogin : abandonLogin;
  const outcome = await work(services, login.tenant, login.row.id, request.id);
  if (outcome.ok && outcome.signedIn) services.activity.countSignIn(login.tenant.id);
  if (outcome.ok) return wantsJson(request) ? sendJson(reply, { redirect_to: outcome.location }) : redirect(reply, outcome.location);
  if (!wantsJson(request)) return redirect(reply, pageOf(login));
  throw reject('login.conflict', {
    reason: outcome.reason,
    received: login.state,
    expected: how === 'finish' ? 'approved' : 'not finished',
  });
}

async function startOver(services: Services, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const login = await openLogin(services, request);
  const started = await restart(services, request, login);
  reply.header('set-cookie', started.setCookie);
  return wantsJson(request) ? sendJson(reply, { location: started.location }) : redirect(reply, started.location);
}
