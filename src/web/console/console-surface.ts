// {base_url}/console: the tenant's administrators at work (design 04, Console). Server-rendered pages; every post carries the
// session's token against forgery and an Origin of ours. All data goes through the Management API (console-api.ts).
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { reject } from '../../contract/contract-error.ts';
import { consoleBodyBytesMax } from '../../contract/limits.ts';
import { equalText } from '../../crypto/secret-hash.ts';
import { presentErrorPage } from '../../http/pages/status-page.ts';
import type { Services } from '../../http/services.ts';
import { type Handler, registerSurface } from '../../http/surface.ts';
import { html } from '../../platform/html.ts';
import { consolePage, consolePath } from './console-page.ts';
import { consoleResources } from './console-resources.ts';
import { clearCookie } from './console-session.ts';
import { currentSession, endSignIn, redirect, signOut, startSignIn } from './console-sign-in.ts';
import { SessionEnded, type Visit } from './console-visit.ts';
import { eventsPage, explainPage } from './event-pages.ts';
import type { Typed } from './form-field.ts';
import { act, change, create, detailPage, listPage, newPage } from './resource-pages.ts';
import { changeSettings, keysPage, overviewPage, rotateKey, settingsPage } from './tenant-pages.ts';

type Params = Readonly<Record<string, string>>;
type ShowPage = (visit: Visit, params: Params) => Promise<FastifyReply> | FastifyReply;
type TakeForm = (visit: Visit, typed: Typed, params: Params) => Promise<FastifyReply> | FastifyReply;

export function registerConsole(app: FastifyInstance, services: Services): void {
  registerSurface(
    app,
    services,
    {
      name: 'console',
      envelope: 'management',
      prefix: '/console',
      bodies: { 'application/x-www-form-urlencoded': 'form' },
      bodyBytesMax: consoleBodyBytesMax,
      ofTenant: true,
      present: presentErrorPage,
    },
    (route) => {
      const page = (show: ShowPage): Handler => visitor(app, services, (visit) => show(visit, visit.request.params as Params)); // string parameters of the path
      const form = (take: TakeForm): Handler =>
        visitor(app, services, (visit) => take(visit, typedOf(visit), visit.request.params as Params));
      route('', { GET: page(overviewPage) });
      route('/callback', { GET: (request, reply) => callback(app, services, request, reply) });
      route('/sign-out', { POST: form(leave) });
      route('/signing-keys', { GET: page((visit) => keysPage(visit)), POST: form(rotateKey) });
      route('/settings', { GET: page((visit) => settingsPage(visit)), POST: form(changeSettings) });
      route('/events', { GET: page(eventsPage) });
      route('/explain', { GET: page(explainPage) });
      for (const resource of consoleResources) {
        const id = (params: Params): string => params['id'] ?? '';
        route(resource.path, {
          GET: page((visit) => listPage(visit, resource)),
          POST: form((visit, typed) => create(visit, resource, typed)),
        });
        route(`${resource.path}/new`, { GET: page((visit) => newPage(visit, resource)) });
        route(`${resource.path}/:id`, {
          GET: page((visit, params) => detailPage(visit, resource, id(params))),
          POST: form((visit, typed, params) => change(visit, resource, id(params), typed)),
        });
        route(`${resource.path}/:id/:action`, {
          POST: form((visit, typed, params) => act(visit, resource, id(params), params['action'] ?? '', typed)),
        });
      }
    },
  );
}

/** Runs a page for whoever is signed in; sends others to sign in and back. */
function visitor(app: FastifyInstance, services: Services, work: (visit: Visit) => Promise<FastifyReply> | FastifyReply): Handler {
  return async (request, reply) => {
    const { tenant } = request;
    const url = new URL(request.url, tenant.baseUrl);
    const at = url.pathname.replace(/^\/console/, '');
    const session = await currentSession(app, services, request, reply);
    if (session === undefined) return startSignIn(services, request, reply, request.method === 'GET' ? `${at}${url.search}` : '');
    try {
      return await work({ app, services, request, reply, session, at, query: url.searchParams });
    } catch (error) {
      if (!(error instanceof SessionEnded)) throw error;
      return showRefused(request, reply);
    }
  };
}

/** A token the API refuses: signed out elsewhere, or a person who is no administrator. */
function showRefused(request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const { tenant } = request;
  const page = consolePage(
    { tenant, person: undefined, csrf: '', at: '' },
    'This console is for administrators',
    html`<p>You are signed in, but not as an administrator of ${tenant.name}, or your session was ended.</p><p><a class="button" id="sign-in" href="${consolePath(tenant, '')}">Sign in as somebody else</a></p>`,
  );
  return reply.code(403).headers(page.headers).header('set-cookie', clearCookie(tenant, 'session')).send(page.markup);
}

async function callback(app: FastifyInstance, services: Services, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const { tenant } = request;
  const end = await endSignIn(app, services, request);
  if (end.ok) return redirect(reply.header('set-cookie', [...end.cookies]), consolePath(tenant, end.returnTo));
  const page = consolePage(
    { tenant, person: undefined, csrf: '', at: '' },
    'Not signed in',
    html`<p>${end.reason}</p><p><a class="button" id="sign-in" href="${consolePath(tenant, '')}">Sign in</a></p>`,
  );
  return reply.code(400).headers(page.headers).send(page.markup);
}

/** The fields of a post, after the checks against forged ones. @throws login.forbidden */
function typedOf({ request, session }: Visit): Typed {
  const { origin } = request.headers;
  if (origin !== undefined && origin !== new URL(request.tenant.baseUrl).origin)
    throw reject('login.forbidden', { reason: 'foreign_origin', received: origin });
  const typed = new URLSearchParams(typeof request.body === 'string' ? request.body : '');
  if (!equalText(typed.get('csrf') ?? '', session.csrf)) throw reject('login.forbidden', 'csrf_token');
  return typed;
}

async function leave(visit: Visit): Promise<FastifyReply> {
  const { app, request, reply, session } = visit;
  await signOut(app, request, reply, session);
  const page = consolePage(
    { tenant: request.tenant, person: undefined, csrf: '', at: '' },
    'Signed out',
    html`<p><a class="button" id="sign-in" href="${consolePath(request.tenant, '')}">Sign in again</a></p>`,
  );
  return reply.headers(page.headers).send(page.markup);
}
