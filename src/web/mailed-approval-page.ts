// The page of a mailed CIBA request, in the languages of the sign-in pages: who asks, its message, from where and when; refusing
// is as easy as approving (RFC 10027).
import type { FastifyRequest } from 'fastify';
import { approvalPagePath } from '../approvals/approval-mail.ts';
import { type Language, languageFor } from '../domain/language.ts';
import { icons } from '../http/pages/icons.ts';
import { type Page, renderPage } from '../http/pages/page.ts';
import { type Html, html } from '../platform/html.ts';
import type { MailedApproval } from './mailed-approval.ts';

interface Wording {
  readonly title: (name: string) => string;
  readonly lead: string;
  readonly client: string;
  readonly message: string;
  readonly from: string;
  readonly at: string;
  readonly approve: string;
  readonly deny: string;
  readonly notMe: string;
  readonly approved: string;
  readonly denied: string;
  readonly expired: string;
  readonly close: string;
}

export const approvalPageCatalogs: Readonly<Record<Language, Wording>> = {
  en: {
    title: (name) => `Approve ${name}?`,
    lead: 'Approve only what you started yourself.',
    client: 'Application',
    message: 'Message',
    from: 'Asked from',
    at: 'At',
    approve: 'Approve',
    deny: 'Refuse',
    notMe: 'I did not start this',
    approved: 'Approved',
    denied: 'Refused',
    expired: 'This request has expired',
    close: 'You can close this page.',
  },
  de: {
    title: (name) => `${name} zustimmen?`,
    lead: 'Stimmen Sie nur zu, wenn Sie dies selbst begonnen haben.',
    client: 'Anwendung',
    message: 'Nachricht',
    from: 'Angefragt von',
    at: 'Um',
    approve: 'Zustimmen',
    deny: 'Ablehnen',
    notMe: 'Das war ich nicht',
    approved: 'Zugestimmt',
    denied: 'Abgelehnt',
    expired: 'Diese Anfrage ist abgelaufen',
    close: 'Sie können diese Seite schließen.',
  },
  fr: {
    title: (name) => `Approuver ${name} ?`,
    lead: 'N’approuvez que ce que vous avez commencé vous-même.',
    client: 'Application',
    message: 'Message',
    from: 'Demandé depuis',
    at: 'À',
    approve: 'Approuver',
    deny: 'Refuser',
    notMe: 'Ce n’était pas moi',
    approved: 'Approuvé',
    denied: 'Refusé',
    expired: 'Cette demande a expiré',
    close: 'Vous pouvez fermer cette page.',
  },
  ja: {
    title: (name) => `${name} を承認しますか？`,
    lead: 'ご自身で開始した操作だけを承認してください。',
    client: 'アプリケーション',
    message: 'メッセージ',
    from: 'リクエスト元',
    at: '時刻',
    approve: '承認する',
    deny: '拒否する',
    notMe: '自分ではありません',
    approved: '承認しました',
    denied: '拒否しました',
    expired: 'このリクエストは期限切れです',
    close: 'このページを閉じてください。',
  },
};

/** The page of the state the approval is in. */
export function mailedApprovalPage(request: FastifyRequest, mailed: MailedApproval): Page {
  const language = languageFor(mailed.user, request.headers['accept-language']);
  const words = approvalPageCatalogs[language];
  const title = mailed.state === 'pending' ? words.title(mailed.client.name) : words[mailed.state];
  const body = mailed.state === 'pending' ? pendingBody(request, mailed, words, title) : decidedBody(mailed, words, title);
  return renderPage({ language, tenant: request.tenant, title, body });
}

function pendingBody({ tenant }: FastifyRequest, { token, approval, client }: MailedApproval, words: Wording, title: string): Html {
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

function decidedBody({ state }: MailedApproval, words: Wording, title: string): Html {
  const badge = state === 'approved' ? 'good' : 'bad';
  return html`<div class="center"><div class="badge ${badge}">${state === 'approved' ? icons.check : state === 'expired' ? icons.clock : icons.cross}</div>
<h1 id="${state}">${title}</h1>
<p class="lead">${words.close}</p></div>`;
}
