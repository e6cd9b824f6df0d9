// Accounts elsewhere that sign the person in here (design 14, 2): shown on the first page where there are any or could be, linked after a
// sign-in of the last minutes, and removed. The last way in stays.
import type { FastifyReply } from 'fastify';
import { unlinkIdentity } from '../approvals/link-identity.ts';
import { reject } from '../contract/contract-error.ts';
import type { Outcome } from '../domain/outcome.ts';
import { accountApp } from '../first-party/account-client.ts';
import { csrfField } from '../first-party/app-page.ts';
import { startSignIn } from '../first-party/app-sign-in.ts';
import { type Html, html } from '../platform/html.ts';
import { listProvidersFor } from '../storage/registry/organization-providers.ts';
import { listExternalIdentities } from '../storage/sign-in/external-identities.ts';
import type { LinkFor } from '../tokens/provider-secret.ts';
import { timeOf } from './account-time.ts';
import { type AccountVisit, byOf, goTo, isFresh, pathTo, showPage } from './account-visit.ts';
import { isTooWeak, proofPage, proveMorePage } from './recovery-pages.ts';

/** Where to send the browser and whose place that is. */
export interface LinkStart {
  readonly location: string;
  readonly providerName: string;
}

/** The links as cards, and the providers there is no link to; nothing where there is neither. */
export async function linkCards(visit: AccountVisit): Promise<Html | undefined> {
  const { services, request, user, words, session } = visit;
  const links = await services.database.read(request.tenant.id, (queries) => listExternalIdentities(queries, request.tenant.id, user.id));
  // A customer's provider is linked by signing in for that customer: this page would list the customers.
  const providers = (await listProvidersFor(services.cache, request.tenant, undefined)).filter(
    ({ id }) => !links.some(({ provider_id: linked }) => linked === id),
  );
  if (links.length === 0 && providers.length === 0) return undefined;
  return html`<h2>${words.links}</h2><p class="muted">${words.linksLead}</p>${
    links.length > 0 &&
    html`<ul class="cards">${links.map(
      (link) => html`<li class="card"><h3>${link.provider_name}</h3>
<dl>${link.email !== null && html`<dt>${words.email}</dt><dd>${link.email}</dd>`}<dt>${words.added}</dt><dd>${timeOf(visit, link.created_at)}</dd>${link.used_at !== null && html`<dt>${words.lastUsed}</dt><dd>${timeOf(visit, link.used_at)}</dd>`}</dl>
<details><summary>${words.remove}</summary><p>${words.linkConsequence(link.provider_name)}</p>
<form method="post" action="${pathTo(visit, `/links/${link.id}/remove`)}">${csrfField(session)}<button class="danger" aria-label="${words.removeNamed(link.provider_name)}">${words.remove}</button></form></details></li>`,
    )}</ul>`
  }<div class="bar">${providers.map(
    ({ alias, name }) =>
      html`<form method="post" action="${pathTo(visit, `/links/${alias}/add`)}">${csrfField(session)}<button class="quiet" id="link-${alias}">${words.linkTo(name)}</button></form>`,
  )}</div>`;
}

const linkOf = ({ user, session }: AccountVisit): LinkFor => ({ userId: user.id, grantId: session.grantId });

/** Sends the person to the provider, if they proved lately who they are by what is strongest. */
export async function addLink(visit: AccountVisit, link: (to: LinkFor) => Promise<Outcome<LinkStart, string>>): Promise<FastifyReply> {
  if (await isTooWeak(visit)) return proveMorePage(visit, '/links/sign-in');
  if (!isFresh(visit)) return proofPage(visit, visit.words.linkFresh, '/links/sign-in');
  const started = await link(linkOf(visit));
  if (!started.ok) return failedPage(visit);
  // A page in between: forms of these pages may lead nowhere else, redirects included (form-action).
  visit.reply.header('refresh', `0; url=${started.location}`);
  const { words } = visit;
  return showPage(
    visit,
    words.links,
    html`<p><a class="button" id="go-on" href="${started.location}">${words.linkTo(started.providerName)}</a></p>`,
  );
}

/** The person comes back from the provider. */
export async function returnWithLink(visit: AccountVisit, link: (to: LinkFor) => Promise<Outcome<object, string>>): Promise<FastifyReply> {
  const finished = await link(linkOf(visit));
  return finished.ok ? goTo(visit, '', 'doneLinked') : failedPage(visit);
}

const failedPage = async (visit: AccountVisit): Promise<FastifyReply> =>
  showPage(visit, visit.words.links, html`${await linkCards(visit)}`, { notice: { kind: 'bad', text: visit.words.linkFailed } });

/** To the sign-in by anything, and back. */
export const signInForLinks = ({ services, request, reply }: AccountVisit): Promise<FastifyReply> =>
  startSignIn(services, accountApp, request, reply, { returnTo: '', again: true });

export async function removeLink(visit: AccountVisit, id: string): Promise<FastifyReply> {
  const { services, request, user } = visit;
  const { tenant } = request;
  const actor = { ...byOf(visit), asked: request.headers['accept-language'] };
  const outcome = await services.database.write(tenant.id, (queries) =>
    unlinkIdentity(queries, services, tenant, { userId: user.id, id }, actor),
  );
  if (outcome === 'unknown') throw reject('login.not_found', 'unknown_external_identity');
  if (outcome === 'removed') return goTo(visit, '', 'doneRemoved');
  return showPage(visit, visit.words.links, html`${await linkCards(visit)}`, { notice: { kind: 'bad', text: visit.words.lastWay } });
}
