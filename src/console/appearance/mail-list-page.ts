// The console's page Mail: every kind of mail, and the server they go by, with a test that says what it answered.
import type { FastifyReply } from 'fastify';
import { mailSecurities } from '../../domain/appearance/mail-server.ts';
import type { Json } from '../../domain/field.ts';
import { type Language, languages } from '../../domain/language.ts';
import type { Typed } from '../../first-party/app-form.ts';
import { csrfField, table } from '../../first-party/app-page.ts';
import { type FormField, readFields, renderFields } from '../../first-party/form-field.ts';
import { type Html, html } from '../../platform/html.ts';
import { postButton } from '../console-page.ts';
import {
  finish,
  frameOf,
  itemsOf,
  manage,
  type Refused,
  refusedBy,
  refusedField,
  showMissing,
  showPage,
  type Visit,
} from '../console-visit.ts';
import { mayChange } from '../frame/allowed.ts';
import { consolePath } from '../frame/navigation.ts';
import { mailPath, testFields } from './mail-pages.ts';
import { languageNames } from './texts-pages.ts';

const path = '/mail';
const api = '/mail-server';
const serverFields: readonly FormField[] = [
  { path: 'host', label: 'Host', kind: 'text', required: true, hint: 'Such as smtp.acme.example.' },
  { path: 'port', label: 'Port', kind: 'number', required: true, bounds: { minimum: 1, maximum: 65_535 } },
  { path: 'security', label: 'Encryption', kind: 'select', options: Object.keys(mailSecurities), optionLabels: mailSecurities },
  { path: 'username', label: 'User name', kind: 'text', hint: 'Empty: nobody signs in there.' },
  { path: 'password', label: 'Password', kind: 'password', hint: 'Kept encrypted and never shown. Leave it empty to keep it.' },
  { path: 'from', label: 'From', kind: 'text', required: true, hint: 'mail@acme.example, or Acme <mail@acme.example>.' },
];
const suggested = { port: 587, security: 'starttls' } as const;

/** What is shown again of a form that was refused. */
interface Sent {
  readonly form: 'server' | 'test';
  readonly typed: Typed;
  readonly refused: Refused;
}

export async function mailsPage(visit: Visit, sent?: Sent): Promise<FastifyReply> {
  const answer = await manage(visit, 'GET', '/mails');
  if (answer.status !== 200) return showMissing(visit, 'Mail', answer);
  const { body } = await manage(visit, 'GET', api);
  const rows = itemsOf(answer).map(({ kind, label, published, drafts }) => [
    html`<a class="strong" href="${consolePath(visit.request.tenant, mailPath({ kind: String(kind), language: 'en' }))}">${String(label)}</a>`,
    named(published),
    named(drafts),
  ]);
  return showPage(
    visit,
    'Mail',
    html`<p class="muted">Every mail that people get. What you have not worded is built in, in ${languages.length} languages.</p>${table('Mails', ['Mail', 'In your words', 'Drafts'], rows)}
${serverCards(visit, body['server'] as Json | null, sent)}`,
    sent?.refused.notice,
  );
}

/** The names of languages. */
const named = (of: unknown): string => (of as readonly Language[]).map((language) => languageNames[language]).join(', '); // of the API

function serverCards(visit: Visit, server: Json | null, sent: Sent | undefined): Html {
  const { tenant } = visit.request;
  const of = (form: Sent['form']): Sent | undefined => (sent?.form === form ? sent : undefined);
  const form = (action: string, fields: readonly FormField[], json: Json, shown: Sent | undefined): Html =>
    html`<form class="card" method="post" action="${consolePath(tenant, `${path}/${action}`)}">${csrfField(frameOf(visit))}${action === 'server' ? html`<h2>Your mail server</h2><p class="muted">${server === null ? 'You have none: mails go by the server of the deployment.' : 'Mails go by this server.'}</p>` : html`<h2>Test the server</h2><p class="muted">One mail goes out at once, and you see what the server answers.</p>`}
${renderFields(fields, json, shown?.typed, shown?.refused.fault)}<div class="bar end"><button id="${action === 'server' ? 'save-server' : 'test-server'}">${action === 'server' ? 'Save server' : 'Send test'}</button></div></form>`;
  const maySet = mayChange(visit, api);
  return html`${maySet && form('server', serverFields, server ?? suggested, of('server'))}${server !== null && mayChange(visit, path) && form('server-test', testFields, {}, of('test'))}${
    server !== null &&
    maySet &&
    html`<div class="bar">${postButton(frameOf(visit), { path: `${path}/server-remove`, label: 'Use the deployment’s server', id: 'remove-server', style: 'quiet' })}</div>`
  }`;
}

export async function saveServer(visit: Visit, typed: Typed): Promise<FastifyReply> {
  const read = readFields(serverFields, typed);
  if (!read.ok) return mailsPage(visit, { form: 'server', typed, refused: refusedField(read.fault) });
  const answer = await manage(visit, 'PUT', api, read.json);
  return answer.status === 200
    ? finish(visit, path, 'The server is saved. Send a test by it.')
    : mailsPage(visit, { form: 'server', typed, refused: refusedBy(answer, serverFields, typed) });
}

export async function tryServer(visit: Visit, typed: Typed): Promise<FastifyReply> {
  const to = (typed.get('to') ?? '').trim();
  const answer = await manage(visit, 'POST', `${api}/test`, { to });
  if (answer.status !== 200) return mailsPage(visit, { form: 'test', typed, refused: refusedBy(answer, testFields, typed) });
  const { taken, answer: said } = answer.body;
  return taken === true
    ? finish(visit, path, `The server took the mail to ${to}. It answered: ${String(said)}`)
    : mailsPage(visit, { form: 'test', typed, refused: { notice: { kind: 'bad', text: `The mail was not taken: ${String(said)}` } } });
}

export async function removeServer(visit: Visit): Promise<FastifyReply> {
  const answer = await manage(visit, 'DELETE', api);
  return answer.status === 204
    ? finish(visit, path, 'Mails go by the server of the deployment again.')
    : showMissing(visit, 'Not done', answer);
}
