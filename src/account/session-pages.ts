// Account pages about what the person is signed in to: one entry for each authorization of an application, and ways to end one or
// all. Ending one revokes its refresh tokens and access tokens and tells the application by back-channel logout.
import type { FastifyReply } from 'fastify';
import { endBrowserSessions } from '../administration/people/browser-sessions.ts';
import { endSession, endSessions } from '../administration/people/users.ts';
import { letInSomewhereNew } from '../approvals/attack.ts';
import { reject } from '../contract/contract-error.ts';
import { accountListRows } from '../contract/limits.ts';
import { hostOfStranger, type Origin } from '../domain/client/stranger.ts';
import { csrfField } from '../first-party/app-page.ts';
import { type Html, html, withoutDirectionControls } from '../platform/html.ts';
import { listOwnSessions, type OwnSession } from '../storage/people/own-account.ts';
import { listSsoSessionsOfUser, type SsoSession } from '../storage/sign-in/sso-sessions.ts';
import { timeOf } from './account-time.ts';
import { type AccountVisit, byOf, goTo, pathTo, showPage } from './account-visit.ts';
import { methodText } from './method-text.ts';

export async function sessionsPage(visit: AccountVisit): Promise<FastifyReply> {
  const { services, request, user, words, query } = visit;
  const { tenant } = request;
  const rows = await services.database.read(tenant.id, (queries) =>
    listOwnSessions(queries, tenant.id, user.id, {
      before: query.get('before') ?? '',
      limit: accountListRows + 1,
      accessLifetimeMs: tenant.settings.access_token_lifetime_seconds * 1000,
    }),
  );
  const browsers = await services.database.read(tenant.id, (queries) => listSsoSessionsOfUser(queries, tenant.id, user.id));
  const sessions = rows.slice(0, accountListRows);
  const last = sessions.at(-1);
  return showPage(
    visit,
    words.sessions,
    html`<p class="muted">${words.sessionsLead}</p>
<ul class="cards">${sessions.map((session) => sessionCard(visit, session))}</ul>
${rows.length > accountListRows && html`<p><a class="button quiet" id="next" href="${pathTo(visit, '/sessions')}?before=${last?.id ?? ''}">${words.older}</a></p>`}
${browsers.length > 0 && html`<h2>${words.browsers}</h2><p class="muted">${words.browsersLead}</p><ul class="cards">${browsers.map((browser) => browserCard(visit, browser))}</ul>`}
<p><a class="button danger" id="end-all" href="${pathTo(visit, '/sessions/end-all')}">${words.endAll}</a></p>
<h2 id="somewhere-new">${words.letIn}</h2><p class="muted">${words.letInLead}</p>
<form method="post" action="${pathTo(visit, '/sessions/let-in')}">${csrfField(visit.session)}<button class="quiet" id="let-in">${words.letIn}</button></form>`,
  );
}

/** Opens what strangers spent, for the person who is one of them elsewhere. */
export async function letIn(visit: AccountVisit): Promise<FastifyReply> {
  const { services, request, user } = visit;
  const { actor = '', requestId = '' } = byOf(visit);
  await services.database.write(request.tenant.id, (queries) =>
    letInSomewhereNew(queries, services, request.tenant, user.id, { actor, requestId }),
  );
  return goTo(visit, '/sessions', 'doneLetIn');
}

/** A browser that answers applications without a sign-in (design 14, 1). */
function browserCard(visit: AccountVisit, browser: SsoSession): Html {
  const { words, session } = visit;
  const name = browser.userAgent ?? browser.ip ?? '';
  return html`<li class="card"><h3>${name}</h3>
<dl><dt>${words.since}</dt><dd>${timeOf(visit, browser.authTimeMs)}</dd><dt>${words.lastUsed}</dt><dd>${timeOf(visit, browser.usedAtMs)}</dd><dt>${words.signedInBy}</dt><dd>${methodText(words, browser.amr, browser.acr)}</dd></dl>
<form method="post" action="${pathTo(visit, `/sessions/browsers/${browser.id}/end`)}">${csrfField(session)}<button class="quiet" aria-label="${words.signOutOf(name)}">${words.signOutBrowser}</button></form></li>`;
}

export async function endBrowser(visit: AccountVisit, id: string): Promise<FastifyReply> {
  const { services, request, user } = visit;
  const ended = await endBrowserSessions(services, request.tenant.id, { userId: user.id, session: id }, byOf(visit), 'logout');
  if (ended === 0) throw reject('login.not_found', 'unknown_session');
  return goTo(visit, '/sessions', 'doneEnded');
}

function sessionCard(visit: AccountVisit, row: OwnSession): Html {
  const { words, session } = visit;
  const isThis = row.id === session.grantId;
  const name = sessionName(row);
  return html`<li class="card"><h2>${name}</h2>${row.origin !== null && html`<p class="muted">${row.resource ?? ''}</p>`}${isThis && html`<p class="muted">${words.thisSession}</p>`}
<dl><dt>${words.since}</dt><dd>${timeOf(visit, row.created_at)}</dd><dt>${words.lastUsed}</dt><dd>${timeOf(visit, row.used_at)}</dd><dt>${words.signedInBy}</dt><dd>${methodText(words, JSON.parse(row.amr), row.acr ?? undefined)}</dd></dl>
<form method="post" action="${pathTo(visit, `/sessions/${row.id}/end`)}">${csrfField(session)}<button class="quiet" aria-label="${words.endNamed(name)}">${words.end}</button></form></li>`;
}

/** Of a program that nobody registered, the host it is of; it can call itself what it likes. */
const sessionName = ({ client_id: clientId, client_name: name, origin, redirect_uris: uris }: OwnSession): string =>
  origin === null
    ? name
    : hostOfStranger({ clientId, origin: origin as Origin, redirectUris: JSON.parse(uris) }) || withoutDirectionControls(name);

export async function endOne(visit: AccountVisit, id: string): Promise<FastifyReply> {
  const { services, request, user } = visit;
  const isEnded = await endSession(services, request.tenant.id, { user: user.id, session: id }, byOf(visit), 'logout');
  if (!isEnded) throw reject('login.not_found', 'unknown_session');
  return goTo(visit, '/sessions', 'doneEnded');
}

export function endAllQuestion(visit: AccountVisit): FastifyReply {
  const { words, session } = visit;
  return showPage(
    visit,
    words.endAllQuestion,
    html`<p>${words.endAllConsequence}</p>
<form class="bar" method="post" action="${pathTo(visit, '/sessions/end-all')}">${csrfField(session)}<button class="danger" id="end-all">${words.endAll}</button><a class="button quiet" href="${pathTo(visit, '/sessions')}">${words.keep}</a></form>`,
  );
}

/** Ends every session of the person, this one too. */
export async function endAll(visit: AccountVisit): Promise<void> {
  const { services, request, user } = visit;
  await endSessions(services, request.tenant.id, user.id, byOf(visit), 'logout');
}
