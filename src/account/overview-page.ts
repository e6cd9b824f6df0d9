// The first page of the account: who one is here, how one signed in, and the ways to the other pages.

import type { FastifyReply } from 'fastify';
import { displayNameOf } from '../domain/people/user.ts';
import { type Html, html } from '../platform/html.ts';
import { listUserEmails } from '../storage/people/user-lists.ts';
import { timeOf } from './account-time.ts';
import { type AccountVisit, pathTo, sectionsOf, showPage } from './account-visit.ts';
import { linkCards } from './link-pages.ts';
import { methodText } from './method-text.ts';

export async function overviewPage(visit: AccountVisit): Promise<FastifyReply> {
  const { services, request, user, words, session } = visit;
  const emails = await services.database.read(request.tenant.id, (queries) => listUserEmails(queries, request.tenant.id, user.id));
  const [, ...others] = sectionsOf(words, request.tenant);
  return showPage(
    visit,
    words.overview,
    html`<dl class="card"><dt>${words.name}</dt><dd id="name">${displayNameOf(user)}</dd>
${user.user_name !== null && html`<dt>${words.userName}</dt><dd id="user-name">${user.user_name}</dd>`}
${emails.map(({ value }) => html`<dt>${words.email}</dt><dd>${value}</dd>`)}
<dt>${words.signedInSince}</dt><dd>${timeOf(visit, session.authTimeSeconds * 1000)}</dd>
<dt>${words.signedInBy}</dt><dd>${methodText(words, session.amr, session.acr)}</dd></dl>
<ul class="tiles">${others.map(([path, name, text]): Html => html`<li><a class="tile" href="${pathTo(visit, path)}"><strong>${name}</strong><span class="muted">${text}</span></a></li>`)}</ul>
${await linkCards(visit)}`,
  );
}
