// Console pages of one mail in one language: its wording as a draft with its preview, a test, and the way back to the built-in.
import type { FastifyReply } from 'fastify';
import { mailKindNames, mailKindOf } from '../../domain/appearance/mail-kinds.ts';
import type { Json } from '../../domain/field.ts';
import { languages } from '../../domain/language.ts';
import type { Typed } from '../../first-party/app-form.ts';
import { csrfField } from '../../first-party/app-page.ts';
import { type FormField, readFields, renderFields } from '../../first-party/form-field.ts';
import { mailedPageHeaders } from '../../pages/page.ts';
import { type Html, html } from '../../platform/html.ts';
import { postButton } from '../console-page.ts';
import { finish, frameOf, manage, type Refused, refusedBy, refusedField, showMissing, showPage, type Visit } from '../console-visit.ts';
import { mayChange } from '../frame/allowed.ts';
import { consolePath } from '../frame/navigation.ts';
import { stateBar } from './branding-pages.ts';
import { languageNames } from './texts-pages.ts';

type Params = Readonly<Record<string, string>>;
interface Placeholder {
  readonly name: string;
  readonly required: boolean;
  readonly is_link: boolean;
}

const path = '/mail';
const wordingFields: readonly FormField[] = [
  { path: 'subject', label: 'Subject', kind: 'text', required: true },
  {
    path: 'body',
    label: 'Text',
    kind: 'paragraph',
    hint: 'Markdown: **bold**, # heading, - list, [text](https://…). HTML is shown as it is typed.',
  },
];
export const testFields: readonly FormField[] = [{ path: 'to', label: 'Send to', kind: 'email', required: true }];
/** Of one mail in one language, in the API and below /console. */
const apiPath = ({ kind = '', language = '' }: Params): string => `/mails/${encodeURIComponent(kind)}/${encodeURIComponent(language)}`;
export const mailPath = ({ kind = '', language = '' }: Params): string =>
  `${path}/${encodeURIComponent(kind)}/${encodeURIComponent(language)}`;

/** What is shown again of a form that was refused. */
interface Sent {
  readonly form: 'wording' | 'test';
  readonly typed: Typed;
  readonly refused: Refused;
}

export async function mailPage(visit: Visit, params: Params, sent?: Sent): Promise<FastifyReply> {
  const answer = await manage(visit, 'GET', apiPath(params));
  if (answer.status !== 200) return showMissing(visit, 'Mail', answer);
  const { draft, published, built_in: builtIn, placeholders } = answer.body;
  const { body: preview } = await manage(visit, 'GET', `${apiPath(params)}/preview`);
  const at = mailPath(params);
  const kind = mailKindNames.find((name) => name === params['kind']);
  const of = (form: Sent['form']): Sent | undefined => (sent?.form === form ? sent : undefined);
  const isMine = mayChange(visit, path);
  return showPage(
    visit,
    kind === undefined ? 'Mail' : mailKindOf(kind).label,
    html`${languageBar(visit, params)}${isMine && html`${stateBar(visit, at, answer.body)}`}<p><strong>Subject:</strong> <span id="shown-subject">${String(preview['subject'])}</span></p>${frames(visit, params)}
${isMine && wordingForm(visit, at, { json: (draft ?? published ?? builtIn) as Json, placeholders: placeholders as readonly Placeholder[] }, of('wording'))}
${isMine && testForm(visit, at, of('test'))}
${isMine && published !== null && html`<div class="bar">${postButton(frameOf(visit), { path: `${at}/reset`, label: 'Back to the built-in', id: 'reset', style: 'quiet' })}</div>`}`,
    sent?.refused.notice,
    { frames: true },
  );
}

/** The same mail in the other languages. */
function languageBar({ request: { tenant } }: Visit, { kind = '', language }: Params): Html {
  return html`<nav class="tabs" aria-label="Language"><ul>${languages.map(
    (one) =>
      html`<li><a href="${consolePath(tenant, mailPath({ kind, language: one }))}"${one === language && html` aria-current="page"`}>${languageNames[one]}</a></li>`,
  )}</ul></nav>`;
}

/** The mail as it would arrive, in a wide window and on a phone. */
function frames({ request: { tenant } }: Visit, params: Params): Html {
  const address = consolePath(tenant, `${mailPath(params)}/preview`);
  const frame = (name: string, style: string): Html =>
    html`<figure class="preview${style}"><figcaption>${name} · <a href="${address}" target="_blank" aria-label="open ${name} by itself">open</a></figcaption><iframe title="Preview, ${name}" sandbox="allow-same-origin" src="${address}"></iframe></figure>`;
  return html`<section class="previews" aria-label="Preview">${frame('Wide', '')}${frame('Phone', ' phone')}</section>`;
}

interface Wording {
  readonly json: Json;
  readonly placeholders: readonly Placeholder[];
}

function wordingForm(visit: Visit, at: string, { json, placeholders }: Wording, sent: Sent | undefined): Html {
  return html`<form class="card" method="post" action="${consolePath(visit.request.tenant, at)}">${csrfField(frameOf(visit))}<h2>Your words</h2>
<p>Values stand where you name them:</p><ul>${placeholders.map(
    (one) =>
      html`<li><code>{{${one.name}}}</code>${one.required && ' must be in the text'}${one.required && one.is_link && ','}${one.is_link && html` may be the address of a link: <code>[Open]({{${one.name}}})</code>`}</li>`,
  )}</ul>
${renderFields(wordingFields, json, sent?.typed, sent?.refused.fault)}<div class="bar end"><button id="save-draft">Save draft</button></div></form>`;
}

function testForm(visit: Visit, at: string, sent: Sent | undefined): Html {
  return html`<form class="card" method="post" action="${consolePath(visit.request.tenant, `${at}/test`)}">${csrfField(frameOf(visit))}<h2>Test</h2>
<p class="muted">The draft, else what is published, with the values of the preview.</p>
${renderFields(testFields, {}, sent?.typed, sent?.refused.fault)}<div class="bar end"><button id="send-test">Send test</button></div></form>`;
}

export async function saveMail(visit: Visit, typed: Typed, params: Params): Promise<FastifyReply> {
  const read = readFields(wordingFields, typed);
  if (!read.ok) return mailPage(visit, params, { form: 'wording', typed, refused: refusedField(read.fault) });
  const { subject, body } = read.json;
  const draft = { subject: subject ?? '', body: String(body ?? '').replaceAll('\r\n', '\n') }; // a browser sends lines with CRLF
  const answer = await manage(visit, 'PUT', `${apiPath(params)}/draft`, draft);
  return answer.status === 200
    ? finish(visit, mailPath(params), 'The draft is saved. Nobody gets it before it is published.')
    : mailPage(visit, params, { form: 'wording', typed, refused: refusedBy(answer, wordingFields, typed) });
}

export async function sendTestMail(visit: Visit, typed: Typed, params: Params): Promise<FastifyReply> {
  const to = (typed.get('to') ?? '').trim();
  const answer = await manage(visit, 'POST', `${apiPath(params)}/test`, { to });
  return answer.status === 204
    ? finish(visit, mailPath(params), `A test is on its way to ${to}.`)
    : mailPage(visit, params, { form: 'test', typed, refused: refusedBy(answer, testFields, typed) });
}

export async function resetMail(visit: Visit, params: Params): Promise<FastifyReply> {
  const answer = await manage(visit, 'DELETE', apiPath(params));
  return answer.status === 204
    ? finish(visit, mailPath(params), 'The built-in mail is in force again. Undo brings yours back.')
    : showMissing(visit, 'Not done', answer);
}

/** The mail itself, as a frame shows it: it runs nothing and leads nowhere. */
export async function mailPreview(visit: Visit, params: Params): Promise<FastifyReply> {
  const answer = await manage(visit, 'GET', `${apiPath(params)}/preview`);
  if (answer.status !== 200) return showMissing(visit, 'Mail', answer);
  return visit.reply.headers(mailedPageHeaders(visit.request.tenant.baseUrl)).send(String(answer.body['html']));
}
