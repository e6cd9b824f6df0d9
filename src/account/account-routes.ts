// The routes of the account page. Server-rendered, works without scripts; a post carries the session's token against forgery
// and no foreign Origin. Decides nothing: each page has its file. Loaded by account-surface.ts at the first request.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Language } from '../domain/language.ts';
import type { Outcome } from '../domain/outcome.ts';
import { accountApp } from '../first-party/account-client.ts';
import { readForm, type Typed } from '../first-party/app-form.ts';
import { appPage } from '../first-party/app-page.ts';
import { endSignIn, redirect, type SignInEnd, signOut } from '../first-party/app-sign-in.ts';
import { appPath } from '../first-party/first-party-app.ts';
import type { DefineRoutes } from '../http/lazy-surface.ts';
import type { Services } from '../http/services.ts';
import type { Handler } from '../http/surface.ts';
import type { TrialSteps } from '../organization-setup/setup.ts';
import { type Html, html } from '../platform/html.ts';
import { type AccountTexts, accountTextsOf } from '../texts/account/account-texts.ts';
import type { LinkFor } from '../tokens/provider-secret.ts';
import { type AccountVisit, frameBefore, languageOf, openVisit, signInFirst } from './account-visit.ts';
import { activityPage } from './activity-page.ts';
import { changeDetails, detailsPage } from './details-page.ts';
import { addDevice, devicesPage, enrollmentPage, removeDevicePage, removeQuestion, renameDevicePage } from './device-pages.ts';
import { deviceCodePage, showDevice, takeDecision } from './device-sign-in-page.ts';
import { changeLanguage, languagePage } from './language-page.ts';
import { addLink, type LinkStart, removeLink, returnWithLink, signInForLinks } from './link-pages.ts';
import { organizationRoutes } from './organizations/organization-routes.ts';
import { overviewPage } from './overview-page.ts';
import {
  newPasskeyPage,
  passkeyPage,
  passkeysPage,
  signInForPasskey,
  takeNewPasskey,
  takeRename,
  takeRevocation,
} from './passkey-pages.ts';
import { makeCodes, recoveryPage, signInForCodes, signInToProve } from './recovery-pages.ts';
import { endAll, endAllQuestion, endBrowser, endOne, letIn, sessionsPage } from './session-pages.ts';

type Params = Readonly<Record<string, string>>;
export type ShowPage = (visit: AccountVisit, params: Params) => Promise<FastifyReply> | FastifyReply;
export type TakeForm = (visit: AccountVisit, typed: Typed, params: Params) => Promise<FastifyReply> | FastifyReply;

/** How signing in links an account elsewhere; handed over where a server is composed. */
export interface LinkSteps {
  /** Where to send the browser and whose place that is. */
  readonly startLink: (services: Services, request: FastifyRequest, alias: string, link: LinkFor) => Promise<Outcome<LinkStart, string>>;
  /** Links whoever came back. */
  readonly finishLink: (services: Services, request: FastifyRequest, link: LinkFor) => Promise<Outcome<object, string>>;
}

/** The routes of the account page below its prefix. */
export function accountRoutes(app: FastifyInstance, services: Services, steps: LinkSteps & TrialSteps): DefineRoutes {
  const { startLink, finishLink } = steps;
  return (route) => {
    const visitor =
      (work: (visit: AccountVisit) => Promise<FastifyReply> | FastifyReply): Handler =>
      async (request, reply) => {
        const visit = await openVisit(app, services, request, reply);
        return visit === undefined ? signInFirst(services, request, reply) : work(visit);
      };
    const page = (show: ShowPage): Handler => visitor((visit) => show(visit, visit.request.params as Params)); // string parameters of the path
    const form = (take: TakeForm): Handler =>
      visitor((visit) => take(visit, readForm(visit.request, visit.session), visit.request.params as Params));
    const id = (params: Params): string => params['id'] ?? '';
    route('', { GET: page(overviewPage) });
    route('/devices', { GET: page((visit) => devicesPage(visit)) });
    route('/devices/add', { GET: page(enrollmentPage), POST: form(addDevice) });
    route('/devices/sign-in', { GET: page((visit) => signInToProve(visit, '/devices')) });
    route('/devices/:id', { POST: form((visit, typed, params) => renameDevicePage(visit, typed, id(params))) });
    route('/devices/:id/remove', {
      GET: page((visit, params) => removeQuestion(visit, id(params))),
      POST: form((visit, _typed, params) => removeDevicePage(visit, id(params))),
    });
    route('/links/return', { GET: page((visit) => returnWithLink(visit, (to) => finishLink(services, visit.request, to))) });
    route('/links/sign-in', { GET: page((visit) => signInForLinks(visit)) });
    route('/links/:id/add', {
      POST: form((visit, _typed, params) => addLink(visit, (to) => startLink(services, visit.request, id(params), to))),
    });
    route('/links/:id/remove', { POST: form((visit, _typed, params) => removeLink(visit, id(params))) });
    route('/sessions', { GET: page(sessionsPage) });
    route('/sessions/end-all', { GET: page(endAllQuestion), POST: form(leaveEverywhere) });
    route('/sessions/let-in', { POST: form(letIn) });
    route('/sessions/browsers/:id/end', { POST: form((visit, _typed, params) => endBrowser(visit, id(params))) });
    route('/sessions/:id/end', { POST: form((visit, _typed, params) => endOne(visit, id(params))) });
    organizationRoutes(route, { page, form, services, steps });
    route('/activity', { GET: page(activityPage) });
    route('/details', { GET: page((visit) => detailsPage(visit)), POST: form(changeDetails) });
    route('/language', { GET: page((visit) => languagePage(visit)), POST: form(changeLanguage) });
    route('/device', { GET: page(deviceCodePage), POST: form(showDevice) });
    route('/device/decision', { POST: form(takeDecision) });
    route('/passkeys', { GET: page(passkeysPage), POST: form(takeNewPasskey) });
    route('/passkeys/new', { GET: page((visit) => newPasskeyPage(visit)) });
    route('/passkeys/sign-in', { GET: page(signInForPasskey) });
    route('/passkeys/prove', { GET: page((visit) => signInToProve(visit, '/passkeys')) });
    route('/passkeys/:id', { GET: page(passkeyPage) });
    route('/passkeys/:id/rename', { POST: form(takeRename) });
    route('/passkeys/:id/revoke', { POST: form(takeRevocation) });
    route('/recovery-codes', { GET: page((visit) => recoveryPage(visit)), POST: form((visit) => makeCodes(visit)) });
    route('/recovery-codes/sign-in', { GET: page((visit) => signInForCodes(visit)) });
    route('/callback', { GET: (request, reply) => callback(app, services, request, reply) });
    route('/sign-out', { POST: form(leave) });
  };
}

const notSignedIn = {
  not_started: 'notStarted',
  cancelled: 'cancelled',
  not_completed: 'notCompleted',
} as const satisfies Readonly<Record<Extract<SignInEnd, { readonly ok: false }>['reason'], keyof AccountTexts>>;

async function callback(app: FastifyInstance, services: Services, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const { tenant } = request;
  const end = await endSignIn(app, services, accountApp, request);
  if (end.ok) return redirect(reply.header('set-cookie', [...end.cookies]), appPath(accountApp, tenant, end.returnTo));
  const words = accountTextsOf(languageOf(request));
  return showSignIn(request, reply.code(400), {
    title: words.notSignedInTitle,
    link: words.signIn,
    content: html`<p>${words[notSignedIn[end.reason]]}</p>`,
    language: languageOf(request),
  });
}

async function leave({ app, request, reply, session, user, words }: AccountVisit): Promise<FastifyReply> {
  await signOut(app, accountApp, request, reply, session);
  return showSignIn(request, reply, {
    title: words.signedOutTitle,
    link: words.signInAgain,
    content: html``,
    language: languageOf(request, user),
  });
}

async function leaveEverywhere(visit: AccountVisit): Promise<FastifyReply> {
  await endAll(visit);
  return leave(visit);
}

interface SignInPage {
  readonly title: string;
  readonly link: string;
  readonly content: Html;
  readonly language: Language;
}

/** A page before the sign-in, with a link to it. */
function showSignIn(request: FastifyRequest, reply: FastifyReply, { title, link, content, language }: SignInPage): FastifyReply {
  const page = appPage(
    frameBefore(request, language),
    title,
    html`${content}<p><a class="button" id="sign-in" href="${appPath(accountApp, request.tenant, '')}">${link}</a></p>`,
  );
  return reply.headers(page.headers).send(page.markup);
}
