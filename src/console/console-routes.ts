// The routes of the console. Server-rendered pages; every post carries the session's token against forgery and an Origin of
// ours. All data goes through the Management API (console-api.ts). Loaded by console-surface.ts at the first request.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { reject } from '../contract/contract-error.ts';
import { hashSecret } from '../crypto/secret-hash.ts';
import { checkForm, formIdOf, readForm, type Typed } from '../first-party/app-form.ts';
import { clearCookie } from '../first-party/app-session.ts';
import { currentSession, endSignIn, redirect, type SignInEnd, signOut, startSignIn } from '../first-party/app-sign-in.ts';
import { consoleApp } from '../first-party/console-client.ts';
import { appPathOf } from '../first-party/first-party-app.ts';
import type { DefineRoutes } from '../http/lazy-surface.ts';
import type { Services } from '../http/services.ts';
import type { Handler, Route } from '../http/surface.ts';
import { html } from '../platform/html.ts';
import { activities, activityPage } from './activity/activity-tab.ts';
import { eventsPage, exportEvents } from './activity/events-page.ts';
import { explainPage } from './activity/explain-page.ts';
import { actOnStream, securityEventsPage } from './activity/security-events-page.ts';
import { signInsPage } from './activity/sign-ins-page.ts';
import { createMcpServer, mcpServerPage } from './apis/mcp-server-form.ts';
import { protectPage, setNeeded } from './apis/mcp-server-page.ts';
import { routeAppearance } from './appearance/appearance-routes.ts';
import { clientHostsPage, judgeHost } from './applications/client-hosts-page.ts';
import { handoverPage, sendCertificate } from './applications/handover-page.ts';
import { createMachine, machinePage, machinePath } from './applications/machine-wizard.ts';
import { replayMany, replayOne, webhookDeliveriesPage } from './applications/webhook-deliveries.ts';
import { createGuided, setOnStart, startPage, wizardPage } from './applications/wizard.ts';
import { routeConnectors } from './connectors/connector-routes.ts';
import { consolePage } from './console-page.ts';
import { consoleResources } from './console-resources.ts';
import { isTooWeak, strongAcr } from './console-strength.ts';
import { allowedTo, goOn, SentBefore, SessionEnded, showPage, type Visit } from './console-visit.ts';
import { routeDirectories } from './directories/directory-routes.ts';
import { activateDomain, askForDomain, checkDomain, domainPage, withdrawDomain } from './domain-page.ts';
import { mayPost } from './frame/allowed.ts';
import { exportList } from './frame/csv-export.ts';
import { clearNotes } from './frame/flash.ts';
import { consolePath, isOperatorTenant } from './frame/navigation.ts';
import type { Form, Page, Params, ShowPage, TakeForm } from './frame/page-routes.ts';
import { type ConsoleResource, formTab } from './frame/resource.ts';
import { importMetadata, importPage } from './import-page.ts';
import { keysPage, rotateKey } from './keys-page.ts';
import { addRule, mappingsPage, removeRule } from './mappings/mapping-pages.ts';
import { enter, leave as leaveTenant, openHandedOver, operatorSession, showEnded, tenantChoices } from './operators/operator-visit.ts';
import { routeOrganizations, type Viewing } from './organizations/organization-routes.ts';
import { overviewPage } from './overview/overview-page.ts';
import { searchPage } from './overview/search-page.ts';
import { addAdministrator, administratorsPage, newAdministratorPage } from './people/administrator-pages.ts';
import { routeMembers, routeUsers } from './people/people-routes.ts';
import { personPage } from './people/person-card.ts';
import { approveHost, chooseKey, metadataPage, refreshNow, rotateOwn } from './provider-pages.ts';
import { routeIdentityProviders, type Trying } from './providers/provider-routes.ts';
import { pushPage } from './push-page.ts';
import { act, change, create, detailPage, listPage, newPage } from './resource-pages.ts';
import { routeScim } from './scim/scim-routes.ts';
import { serverPage } from './settings/server-page.ts';
import { changeSettings, settingsOverview, settingsPage } from './settings/settings-pages.ts';
import { readSpreadsheet, spreadsheetPage } from './tasks/spreadsheet-page.ts';
import { parseUpload, type UploadForm } from './uploaded-file.ts';

type TakeUpload = (visit: Visit, upload: UploadForm) => Promise<FastifyReply> | FastifyReply;

/** The routes of the console below its prefix. */
export function consoleRoutes(app: FastifyInstance, services: Services, trying: Trying, viewing: Viewing): DefineRoutes {
  return (route) => {
    const page = (show: ShowPage): Handler => visitor(app, services, (visit) => show(visit, visit.request.params as Params)); // string parameters of the path
    const form = (take: TakeForm): Handler =>
      visitor(app, services, (visit) => {
        const typed = readForm(visit.request, visit.session);
        return onceOf(visit, typed, (own) => take(own, typed, visit.request.params as Params));
      });
    const upload = (take: TakeUpload): Handler =>
      visitor(app, services, async (visit) => {
        const sent = await readUpload(visit);
        return onceOf(visit, sent.fields, (own) => take(own, sent));
      });
    route('', { GET: page((visit) => overviewPage(visit, services)) });
    route('/search', { GET: page((visit) => searchPage(visit)) });
    route('/callback', { GET: (request, reply) => callback(app, services, request, reply) });
    route('/sign-in', {
      GET: (request, reply) => startSignIn(services, consoleApp, request, reply, { returnTo: '', acrValues: strongAcr }),
    });
    route('/sign-out', { POST: form((visit) => (visit.isOperator ? leaveTenant(visit, services) : leave(visit))) });
    route('/enter', { POST: (request, reply) => openHandedOver(services, request, reply) });
    route('/tenants/:id/enter', { POST: form((visit, _typed, params) => enter(visit, services, params['id'] ?? '')) });
    route('/push', { GET: page((visit) => pushPage(visit)) });
    route('/signing-keys', { GET: page((visit) => keysPage(visit)), POST: form(rotateKey) });
    routeSettings(route, page, form, services);
    routeActivity(route, page, form);
    route('/mappings', { GET: page((visit) => mappingsPage(visit)), POST: form(addRule) });
    route('/mappings/remove', { POST: form(removeRule) });
    routeScim(route, page, form);
    route('/users/spreadsheet', { GET: page((visit) => spreadsheetPage(visit)), POST: upload(readSpreadsheet) });
    route('/administrators', { GET: page(administratorsPage), POST: form(addAdministrator) });
    route('/administrators/new', { GET: page((visit) => newAdministratorPage(visit)) });
    routeAppearance(route, { page, form, upload }, services);
    route('/domain', { GET: page((visit) => domainPage(visit)), POST: form(askForDomain) });
    route('/domain/check', { POST: form((visit) => checkDomain(visit)) });
    route('/domain/activate', { POST: form(activateDomain) });
    route('/domain/withdraw', { POST: form(withdrawDomain) });
    routeUsers(route, page, form);
    routeMembers(route, page, form);
    routeOrganizations(route, { page, form }, services, viewing);
    routeClients(route, page, form);
    routeApis(route, page, form);
    routeProviders(route, page, form, upload);
    routeIdentityProviders(route, { page, form }, services, trying);
    for (const path of Object.keys(activities))
      route(`${path}/:id/activity`, { GET: page((visit, params) => activityPage(visit, path, params['id'] ?? '')) });
    routeWebhooks(route, page, form);
    routeConnectors(route, { page, form });
    routeDirectories(route, { page, form });
    for (const resource of consoleResources) {
      const id = (params: Params): string => params['id'] ?? '';
      route(resource.path, {
        GET: page(guard(resource, listPage)),
        POST: form(guard(resource, create)),
      });
      route(`${resource.path}/export`, { GET: page(guard(resource, exportList)) });
      if (!guidedPaths.has(resource.path))
        route(`${resource.path}/new`, { GET: page(guard(resource, (visit, own) => newPage(visit, own))) });
      if (resource.hasCard === true) route(`${resource.path}/:id`, { GET: page(guard(resource, personPage)) });
      for (const tab of [resource.hasCard === true ? formTab : '', ...(resource.formTabs ?? []).map(([path]) => path)])
        route(`${resource.path}/:id${tab}`, {
          GET: page(guard(resource, (visit, own, params) => detailPage(visit, own, { id: id(params), tab }))),
          POST: form(guard(resource, (visit, own, typed, params) => change(visit, own, { id: id(params), tab }, typed))),
        });
      route(`${resource.path}/:id/:action`, {
        POST: form(guard(resource, (visit, own, typed, params) => act(visit, own, id(params), params['action'] ?? '', typed))),
      });
    }
  };
}

/** A new one of these is made step by step. */
const guidedPaths: ReadonlySet<string> = new Set(['/clients', '/identity-providers']);

function routeSettings(route: Route, page: Page, form: Form, services: Services): void {
  route('/settings', { GET: page((visit) => settingsOverview(visit)) });
  route('/settings/server', { GET: page((visit) => serverPage(visit, services)) });
  route('/settings/:page', { GET: page(settingsPage), POST: form(changeSettings) });
}

function routeActivity(route: Route, page: Page, form: Form): void {
  route('/sign-ins', { GET: page((visit) => signInsPage(visit)) });
  route('/events', { GET: page((visit) => eventsPage(visit)) });
  route('/events/export', { GET: page((visit) => exportEvents(visit)) });
  route('/explain', { GET: page((visit) => explainPage(visit)) });
  route('/security-events', { GET: page((visit) => securityEventsPage(visit)) });
  route('/security-events/:id/:act', { POST: form(actOnStream) });
}

function routeProviders(route: Route, page: Page, form: Form, upload: (take: TakeUpload) => Handler): void {
  route('/service-providers/import', { GET: page((visit) => importPage(visit)), POST: upload(importMetadata) });
  route('/service-providers/:id/handover', { GET: page(handoverPage) });
  route('/service-providers/:id/handover/certificate', { GET: page(sendCertificate) });
  const path = '/service-providers/:id/metadata';
  route(path, { GET: page((visit, params) => metadataPage(visit, params)) });
  route(`${path}/key`, { POST: form(chooseKey) });
  route(`${path}/rotate`, { POST: form(rotateOwn) });
  route(`${path}/refresh`, { POST: form((visit, _typed, params) => refreshNow(visit, params)) });
  route(`${path}/approve`, { POST: form(approveHost) });
}

function routeClients(route: Route, page: Page, form: Form): void {
  route('/clients/new', { GET: page((visit) => wizardPage(visit)), POST: form(createGuided) });
  route('/client-hosts', { GET: page((visit) => clientHostsPage(visit)), POST: form(judgeHost) });
  route(machinePath, { GET: page(machinePage), POST: form(createMachine) });
  route('/clients/:id/start', {
    GET: page((visit, params) => startPage(visit, params['id'] ?? '')),
    POST: form((visit, typed, params) => setOnStart(visit, params['id'] ?? '', typed)),
  });
}

function routeApis(route: Route, page: Page, form: Form): void {
  route('/resources/mcp-server', { GET: page((visit) => mcpServerPage(visit)), POST: form(createMcpServer) });
  route('/resources/:id/start', {
    GET: page((visit, params) => protectPage(visit, params['id'] ?? '')),
    POST: form((visit, typed, params) => setNeeded(visit, params['id'] ?? '', typed)),
  });
}

function routeWebhooks(route: Route, page: Page, form: Form): void {
  const path = '/webhooks/:id/deliveries';
  route(path, { GET: page((visit, params) => webhookDeliveriesPage(visit, params)) });
  route(`${path}/replay`, { POST: form(replayMany) });
  route(`${path}/:delivery/replay`, { POST: form((visit, _typed, params) => replayOne(visit, params)) });
}

/** Pages work on the resource as the tenant has it; those of the deployment are in the root console alone: elsewhere there is no such page. @throws management.not_found */
function guard<Rest extends readonly unknown[], Result>(
  resource: ConsoleResource,
  work: (visit: Visit, own: ConsoleResource, ...rest: Rest) => Result,
): (visit: Visit, ...rest: Rest) => Result {
  return (visit, ...rest) => {
    if (resource.ofDeployment === true && !isOperatorTenant(visit.request.tenant)) throw reject('management.not_found', 'no_such_path');
    return work(visit, resource.ofTenant?.(visit.request.tenant) ?? resource, ...rest);
  };
}

/** A form with a file, after the checks against forged ones. @throws login.forbidden, management.malformed */
async function readUpload({ request, session }: Visit): Promise<UploadForm> {
  const form = Buffer.isBuffer(request.body) ? await parseUpload(request.headers['content-type'] ?? '', request.body) : undefined;
  if (form === undefined) throw reject('management.malformed', 'not_an_upload');
  checkForm(request, session, form.fields);
  return form;
}

/** Runs what a form asks for, once: sent again it leads to what it did. */
async function onceOf(visit: Visit, typed: Typed, work: (own: Visit) => Promise<FastifyReply> | FastifyReply): Promise<FastifyReply> {
  const form = { hash: hashSecret(`${visit.session.grantId}.${formIdOf(typed)}`), isTaken: false };
  try {
    return await work({ ...visit, form });
  } catch (error) {
    if (!(error instanceof SentBefore)) throw error;
    return goOn(visit, form);
  }
}

/** Runs a page for whoever is signed in; sends others to sign in and back. */
function visitor(app: FastifyInstance, services: Services, work: (visit: Visit) => Promise<FastifyReply> | FastifyReply): Handler {
  return async (request, reply) => {
    const { tenant } = request;
    const url = new URL(request.url, tenant.baseUrl);
    const at = appPathOf(consoleApp, url);
    const operator = operatorSession(services, request);
    const session = operator ?? (await currentSession(app, services, consoleApp, request, reply));
    if (session === undefined)
      return startSignIn(services, consoleApp, request, reply, { returnTo: request.method === 'GET' ? `${at}${url.search}` : '' });
    try {
      const { searchParams: query } = url;
      const visit = { app, services, request, reply, session, isOperator: operator !== undefined, at, query, allowed: new Set<string>() };
      const allowed = { ...visit, allowed: await allowedTo(visit) };
      const known = { ...allowed, choices: await tenantChoices(allowed) };
      if (request.method === 'GET' && makesOnly.test(at) && !mayPost(known, at)) return showNotTheirs(known);
      return await work(known);
    } catch (error) {
      if (!(error instanceof SessionEnded)) throw error;
      return operator === undefined ? showRefused(request, reply) : showEnded(services, request, reply);
    }
  };
}

/** Pages that make something and show nothing besides. */
const makesOnly = /^\/(?!tenants|administrators)[a-z-]+\/(?:new|by-hand|import|invite|spreadsheet|mcp-server)$/;

/** What somebody may not make has no form. */
const showNotTheirs = (visit: Visit): FastifyReply =>
  showPage(
    visit,
    'Not yours to make',
    html`<p>Your roles let you see this, but not change it. Ask an administrator of ${visit.request.tenant.name} to do it or to give you a role.</p>`,
    undefined,
    { status: 403 },
  );

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
  if (end.ok && (await isTooWeak(services, tenant, end.session.grantId))) {
    await signOut(app, consoleApp, request, reply, end.session);
    return showTooWeak(request, reply);
  }
  if (end.ok) return redirect(reply.header('set-cookie', [...end.cookies]), consolePath(tenant, end.returnTo));
  const page = consolePage(
    { tenant, person: undefined, csrf: '', at: '' },
    'Not signed in',
    html`<p>${notSignedIn[end.reason]}</p><p><a class="button" id="sign-in" href="${consolePath(tenant, '')}">Sign in</a></p>`,
  );
  return reply.code(400).headers(page.headers).send(page.markup);
}

/** Whoever has a passkey or phone opens the console with it: a mailbox alone is not enough. */
function showTooWeak(request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const { tenant } = request;
  const page = consolePage(
    { tenant, person: undefined, csrf: '', at: '' },
    'Use your passkey or phone',
    html`<p>You have a passkey or a phone. With one of them you can open the console, not with a mailed code.</p><p><a class="button" id="sign-in" href="${consolePath(tenant, '/sign-in')}">Sign in with it</a></p>`,
  );
  return reply.code(403).headers(page.headers).send(page.markup);
}

async function leave(visit: Visit): Promise<FastifyReply> {
  const { app, request, reply, session } = visit;
  await signOut(app, consoleApp, request, reply, session);
  clearNotes(visit);
  const page = consolePage(
    { tenant: request.tenant, person: undefined, csrf: '', at: '' },
    'Signed out',
    html`<p><a class="button" id="sign-in" href="${consolePath(request.tenant, '')}">Sign in again</a></p>`,
  );
  return reply.headers(page.headers).send(page.markup);
}
