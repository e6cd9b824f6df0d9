// The first page of the account: who one is here and how one signed in.
import type { FastifyReply } from 'fastify';
import { html } from '../../platform/html.ts';
import { listUserEmails } from '../../storage/users.ts';
import { timeOf } from './account-time.ts';
import { type AccountSession, type AccountVisit, displayNameOf, showPage } from './account-visit.ts';
import type { AccountWords } from './words.ts';

export async function overviewPage(visit: AccountVisit): Promise<FastifyReply> {
  const { services, request, user, words, session } = visit;
  const emails = await services.database.read(request.tenant.id, (queries) => listUserEmails(queries, request.tenant.id, user.id));
  return showPage(
    visit,
    words.overview,
    html`<dl class="card"><dt>${words.name}</dt><dd id="name">${displayNameOf(user)}</dd>
${user.user_name !== null && html`<dt>${words.userName}</dt><dd id="user-name">${user.user_name}</dd>`}
${emails.map(({ value }) => html`<dt>${words.emails}</dt><dd>${value}</dd>`)}
<dt>${words.signedInSince}</dt><dd>${timeOf(visit, session.authTimeSeconds * 1000)}</dd>
<dt>${words.signedInBy}</dt><dd>${methodText(words, session)}</dd></dl>`,
  );
}

/** A phone and a passkey are both hardware-secured keys (RFC 8176) and told apart by the level they give. */
function methodText(words: AccountWords, { amr, acr }: AccountSession): string {
  if (amr.includes('otp')) return words.byEmailCode;
  return acr === 'phr' ? words.byPasskey : words.byPhone;
}
