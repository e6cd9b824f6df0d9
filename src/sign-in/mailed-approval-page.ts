// The page of a mailed CIBA request, in the languages of the sign-in pages: who asks, its message, from where and when; refusing
// is as easy as approving (RFC 10027).
import type { FastifyRequest } from 'fastify';
import { languageFor } from '../domain/language.ts';
import { approvalPagePath } from '../mails/approval-mail.ts';
import { icons } from '../pages/icons.ts';
import { type Page, renderPage } from '../pages/page.ts';
import { type Html, html } from '../platform/html.ts';
import { type ApprovalPageTexts, approvalPageCatalogs } from '../texts/approval-page-texts.ts';
import type { MailedApproval } from './mailed-approval.ts';

/** The page of the state the approval is in. */
export function mailedApprovalPage(request: FastifyRequest, mailed: MailedApproval): Page {
  const language = languageFor(mailed.user, request.headers['accept-language']);
  const words = approvalPageCatalogs[language];
  const title = mailed.state === 'pending' ? words.title(mailed.client.name) : words[mailed.state];
  const body = mailed.state === 'pending' ? pendingBody(request, mailed, words, title) : decidedBody(mailed, words, title);
  return renderPage({ language, tenant: request.tenant, title, body });
}

function pendingBody(
  { tenant }: FastifyRequest,
  { token, approval, client }: MailedApproval,
  words: ApprovalPageTexts,
  title: string,
): Html {
  const action = `${new URL(tenant.baseUrl).pathname.replace(/\/$/, '')}${approvalPagePath}`;
  const form = (decision: string, id: string, style: string, text: string): Html =>
    html`<form method="post" action="${action}"><input type="hidden" name="token" value="${token}"><input type="hidden" name="decision" value="${decision}"><button class="${style}" id="${id}">${text}</button></form>`;
  const at = new Date(approval.created_at).toISOString().slice(11, 16);
  return html`<h1>${title}</h1>
<p class="lead">${words.lead}</p>
<dl class="facts"><div><dt>${words.client}</dt><dd>${client.name}</dd></div>
${approval.binding_message !== null && html`<div><dt>${words.message}</dt><dd id="binding-message">${approval.binding_message}</dd></div>`}
<div><dt>${words.from}</dt><dd>${approval.initiated_ip ?? ''}</dd></div>
<div><dt>${words.at}</dt><dd>${at} UTC</dd></div></dl>
<div class="stack">${form('approve', 'approve', '', words.approve)}
${form('deny', 'deny', 'plain', words.deny)}</div>
<div class="foot">${form('not_me', 'not-me', 'link', words.notMe)}</div>`;
}

function decidedBody({ state }: MailedApproval, words: ApprovalPageTexts, title: string): Html {
  const badge = state === 'approved' ? 'good' : 'bad';
  return html`<div class="center"><div class="badge ${badge}">${state === 'approved' ? icons.check : state === 'expired' ? icons.clock : icons.cross}</div>
<h1 id="${state}">${title}</h1>
<p class="lead">${words.close}</p></div>`;
}
