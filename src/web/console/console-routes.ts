// The routes of the console. Server-rendered pages; every post carries the session's token against forgery and an Origin of
// ours. All data goes through the Management API (console-api.ts). Loaded by console-surface.ts at the first request.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { reject } from '../../contract/contract-error.ts';
import type { DefineRoutes } from '../../http/lazy-surface.ts';
import type { Services } from '../../http/services.ts';
import type { Handler, Route } from '../../http/surface.ts';
import { html } from '../../platform/html.ts';
import { checkForm, readForm, type Typed } from '../own-app/app-form.ts';
import { clearCookie } from '../own-app/app-session.ts';
import { currentSession, endSignIn, redirect, type SignInEnd, signOut, startSignIn } from '../own-app/app-sign-in.ts';
import { appPathOf } from '../own-app/own-app.ts';
import { consoleApp } from './console-client.ts';
import { consolePage, consolePath, isOperatorTenant } from './console-page.ts';
import { type ConsoleResource, consoleResources } from './console-resources.ts';
import { SessionEnded, type Visit } from './console-visit.ts';
import { eventsPage, explainPage } from './event-pages.ts';
import { importMetadata, importPage } from './import-page.ts';
import { addMember, memberships, membersPage, removeMember } from './member-pages.ts';
import { overviewPage } from './overview-page.ts';
import { act, change, create, detailPage, listPage, newPage } from './resource-pages.ts';
import { makeScimClient, scimPage, tryScim } from './scim-page.ts';
import { changeSettings, keysPage, rotateKey, settingsPage } from './tenant-pages.ts';
import { parseUpload, type UploadForm } from './uploaded-file.ts';
import { devicesPage, endSession, enroll, passkeysPage, revokeDevice, revokeKey, revokePasskey, sessionsPage } from './user-pages.ts';

type Params = Readonly<Record<string, string>>;
type ShowPage = (visit: Visit, params: Params) => Promise<FastifyReply> | FastifyReply;
type TakeUpload = (visit: Visit, upload: UploadForm) => Promise<FastifyReply> | FastifyReply;
type TakeForm = (visit: Visit, typed: Typed, params: Params) => Promise<FastifyReply> | FastifyReply;

/** The routes of the console below its prefix. */
export function consoleRoutes(app: FastifyInstance, services: Services): DefineRoutes {
  return (route) => {
    const page = (show: ShowPage): Handler => visitor(app, services, (visit) => show(visit, visit.request.params as Params)); // string parameters of the path
    const form = (take: TakeForm): Handler =>
      visitor(app, services, (visit) => take(visit, readForm(visit.request, visit.session), visit.request.params as Params));
    const upload = (take: TakeUpload): Handler => visitor(app, services, async (visit) => take(visit, await readUpload(visit)));
    route('', { GET: page(overviewPage) });
    route('/callback', { GET: (request, reply) => callback(app, services, request, reply) });
    route('/sign-out', { POST: form(leave) });
    route('/signing-keys', { GET: page((visit) => keysPage(visit)), POST: form(rotateKey) });
    route('/settings', { GET: page((visit) => settingsPage(visit)), POST: form(changeSettings) });
    route('/events', { GET: page(eventsPage) });
    route('/explain', { GET: page(explainPage) });
    route('/scim', { GET: page((visit) => scimPage(visit)), POST: form(makeScimClient) });
    route('/scim/test', { POST: form(tryScim) });
    route('/service-providers/import', { GET: page((visit) => importPage(visit)), POST: upload(importMetadata) });
    routeUsers(route, page, form);
    routeMembers(route, page, form);
    for (const resource of consoleResources) {
      const id = (params: Params): string => params['id'] ?? '';
      route(resource.path, {
        GET: page(guard(resource, (visit) => listPage(visit, resource))),
        POST: form(guard(resource, (visit, typed) => create(visit, resource, typed))),
      });
      route(`${resource.path}/new`, { GET: page(guard(resource, (visit) => newPage(visit, resource))) });
      route(`${resource.path}/:id`, {
        GET: page(guard(resource, (visit, params) => detailPage(visit, resource, id(params)))),
        POST: form(guard(resource, (visit, typed, params) => change(visit, resource, id(params), typed))),
      });
      route(`${resource.path}/:id/:action`, {
        POST: form(guard(resource, (visit, typed, params) => act(visit, resource, id(params), params['action'] ?? '', typed))),
      });
    }
  };
}

type Page = (show: ShowPage) => Handler;
type Form = (take: TakeForm) => Handler;

function routeUsers(route: Route, page: Page, form: Form): void {
  route('/users/:id/devices', { GET: page((visit, params) => devicesPage(visit, params)) });
  route('/users/:id/enrollments', { POST: form((visit, _typed, params) => enroll(visit, params)) });
  route('/users/:id/devices/:device/revoke', { POST: form(revokeDevice) });
  route('/users/:id/devices/:device/keys/:key/revoke', { POST: form(revokeKey) });
  route('/users/:id/passkeys', { GET: page((visit, params) => passkeysPage(visit, params)) });
  route('/users/:id/passkeys/:passkey/revoke', { POST: form(revokePasskey) });
  route('/users/:id/sessions', { GET: page((visit, params) => sessionsPage(visit, params)) });
  route('/users/:id/sessions/end', { POST: form(endSession) });
  route('/users/:id/sessions/:session/end', { POST: form(endSession) });
}

function routeMembers(route: Route, page: Page, form: Form): void {
  for (const membership of memberships) {
    const path = `${membership.of}/:id${membership.tab}`;
    route(path, {
      GET: page((visit, params) => membersPage(visit, membership, params)),
      POST: form((visit, typed, params) => addMember(visit, membership, typed, params)),
    });
    route(`${path}/:entry/remove`, { POST: form((visit, typed, params) => removeMember(visit, membership, typed, params)) });
  }
}

/** Pages of the deployment are in the root tenant's console alone; elsewhere there is no such page. @throws management.not_found */
function guard<Rest extends readonly unknown[], Result>(
  resource: ConsoleResource,
  work: (visit: Visit, ...rest: Rest) => Result,
): (visit: Visit, ...rest: Rest) => Result {
  return (visit, ...rest) => {
    if (resource.ofDeployment === true && !isOperatorTenant(visit.request.tenant)) throw reject('management.not_found', 'no_such_path');
    return work(visit, ...rest);
  };
}

/** A form with a file, after the checks against forged ones. @throws login.forbidden, management.malformed */
async function readUpload({ request, session }: Visit): Promise<UploadForm> {
  const form = Buffer.isBuffer(request.body) ? await parseUpload(request.headers['content-type'] ?? '', request.body) : undefined;
  if (form === undefined) throw reject('management.malformed', 'not_an_upload');
  checkForm(request, session, form.fields);
  return form;
}

/** Runs a page for whoever is signed in; sends others to sign in and back. */
function visitor(app: FastifyInstance, services: Services, work: (visit: Visit) => Promise<FastifyReply> | FastifyReply): Handler {
  return async (request, reply) => {
    const { tenant } = request;
    const url = new URL(request.url, tenant.baseUrl);
    const at = appPathOf(consoleApp, url);
    const session = await currentSession(app, services, consoleApp, request, reply);
    if (session === undefined)
      return startSignIn(services, consoleApp, request, reply, request.method === 'GET' ? `${at}${url.search}` : '');
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
  return reply
    .code(403)
    .headers(page.headers)
    .header('set-cookie', clearCookie(consoleApp, tenant, 'session'))
    .send(page.markup);
}

const notSignedIn: Readonly<Record<Extract<SignInEnd, { readonly ok: false }>['reason'], string>> = {
  not_started: 'The sign-in was not started in this browser, or took too long.',
  cancelled: 'The sign-in was cancelled.',
  not_completed: 'The sign-in could not be completed.',
};

async function callback(app: FastifyInstance, services: Services, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const { tenant } = request;
  const end = await endSignIn(app, services, consoleApp, request);
  if (end.ok) return redirect(reply.header('set-cookie', [...end.cookies]), consolePath(tenant, end.returnTo));
  const page = consolePage(
    { tenant, person: undefined, csrf: '', at: '' },
    'Not signed in',
    html`<p>${notSignedIn[end.reason]}</p><p><a class="button" id="sign-in" href="${consolePath(tenant, '')}">Sign in</a></p>`,
  );
  return reply.code(400).headers(page.headers).send(page.markup);
}

async function leave(visit: Visit): Promise<FastifyReply> {
  const { app, request, reply, session } = visit;
  await signOut(app, consoleApp, request, reply, session);
  const page = consolePage(
    { tenant: request.tenant, person: undefined, csrf: '', at: '' },
    'Signed out',
    html`<p><a class="button" id="sign-in" href="${consolePath(request.tenant, '')}">Sign in again</a></p>`,
  );
  return reply.headers(page.headers).send(page.markup);
}
