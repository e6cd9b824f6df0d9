// The console's page Domain: the tenant's own domain, the DNS records that show it is its own, what is found there, and the switch.
import type { FastifyReply } from 'fastify';
import type { Typed } from '../first-party/app-form.ts';
import { csrfField, type Notice, table } from '../first-party/app-page.ts';
import { type FormField, readFields, renderFields } from '../first-party/form-field.ts';
import { type Html, html } from '../platform/html.ts';
import { text } from './cells.ts';
import { askPage, isSure } from './confirm-page.ts';
import { badge, postButton } from './console-page.ts';
import {
  finish,
  frameOf,
  manage,
  type Refused,
  refusalText,
  refusedBy,
  refusedField,
  showMissing,
  showPage,
  type Visit,
} from './console-visit.ts';
import { mayChange } from './frame/allowed.ts';
import { consolePath, isOperatorTenant } from './frame/navigation.ts';

type Json = Readonly<Record<string, unknown>>;

const path = '/domain';
const fields: readonly FormField[] = [
  {
    path: 'domain',
    label: 'Domain',
    kind: 'text',
    required: true,
    hint: 'Such as login.acme.example. People sign in there, and it becomes the issuer.',
  },
];

/** What is shown again of a form that was refused. */
interface Sent {
  readonly typed: Typed;
  readonly refused: Refused;
}

export async function domainPage(visit: Visit, sent?: Sent, notice?: Notice): Promise<FastifyReply> {
  const answer = await manage(visit, 'GET', path);
  if (answer.status !== 200) return showMissing(visit, 'Domain', answer);
  const { domain, pending } = answer.body as { readonly domain: string | null; readonly pending: Json | null }; // the API's shape
  const { tenant } = visit.request;
  const mayWrite = mayChange(visit, path);
  return showPage(
    visit,
    'Domain',
    html`<p class="muted">${isOperatorTenant(tenant) && domain === null ? 'This tenant is at the public URL of the server.' : html`People sign in at <code>${tenant.baseUrl}</code>${domain === null ? '. A domain of your own takes its place.' : ', a domain of your own.'}`}</p>
${pending !== null && pendingCard(visit, pending, mayWrite)}
${mayWrite && pending === null && requestCard(visit, sent)}
${mayWrite && domain !== null && pending === null && html`<div class="bar">${postButton(frameOf(visit), { path: `${path}/withdraw`, label: 'Give the domain up…', id: 'withdraw', style: 'danger' })}</div>`}`,
    sent?.refused.notice ?? notice,
  );
}

const requestCard = (visit: Visit, sent: Sent | undefined): Html =>
  html`<form class="card" method="post" action="${consolePath(visit.request.tenant, path)}">${csrfField(frameOf(visit))}<h2>A domain of your own</h2>
${renderFields(fields, {}, sent?.typed, sent?.refused.fault)}<div class="bar end"><button id="request">Next</button></div></form>`;

function pendingCard(visit: Visit, pending: Json, mayWrite: boolean): Html {
  const isVerified = pending['verified_at'] !== null;
  const records = (pending['records'] as readonly Json[]).map(({ type, name, value }) => [
    text(type),
    html`<code>${text(name)}</code>`,
    html`<code>${text(value)}</code>`,
  ]);
  const button = (act: string, label: string, style?: 'quiet'): Html =>
    postButton(frameOf(visit), { path: `${path}/${act}`, label, id: act, ...(style !== undefined && { style }) });
  return html`<section class="panel" aria-label="Asked for"><h2>${text(pending['domain'])} ${isVerified ? badge('yours', 'good') : badge('not verified', 'plain')}</h2>
<ol><li>Add these records where your DNS is kept.</li><li>Check. Records may take some hours to be seen.</li><li>Activate. The server's operator lets the reverse proxy serve the name.</li></ol>
${table('DNS records', ['Type', 'Name', 'Value'], records)}
${mayWrite && html`<div class="bar">${button('check', 'Check')}${isVerified && button('activate', 'Activate…')}${button('withdraw', 'Withdraw', 'quiet')}</div>`}</section>`;
}

export async function askForDomain(visit: Visit, typed: Typed): Promise<FastifyReply> {
  const read = readFields(fields, typed);
  if (!read.ok) return domainPage(visit, { typed, refused: refusedField(read.fault) });
  const answer = await manage(visit, 'PUT', path, read.json);
  return answer.status === 200
    ? finish(visit, path, 'Add the DNS records, then check.')
    : domainPage(visit, { typed, refused: refusedBy(answer, fields, typed) });
}

const found: Readonly<Record<string, string>> = {
  found: 'The TXT record is there.',
  missing: 'The TXT record is not there yet.',
  unanswered: 'The name servers did not answer. Try again.',
};
const answered: Readonly<Record<string, string>> = {
  answers: 'This server answers there by https.',
  other: 'Something else answers there by https.',
  unresolved: 'The name has no address yet.',
};

export async function checkDomain(visit: Visit): Promise<FastifyReply> {
  const answer = await manage(visit, 'POST', `${path}/check`);
  if (answer.status !== 200) return domainPage(visit, undefined, { kind: 'bad', text: refusalText(answer) });
  const { txt, https } = answer.body;
  const said = `${found[text(txt)]} ${answered[text(https)] ?? 'Nothing answers there by https yet.'}`;
  return txt === 'found' ? finish(visit, path, said) : domainPage(visit, undefined, { kind: 'bad', text: said });
}

export async function activateDomain(visit: Visit, typed: Typed): Promise<FastifyReply> {
  const { body } = await manage(visit, 'GET', path);
  const domain = text((body['pending'] as Json | null)?.['domain']);
  if (!isSure(typed)) {
    const what = `The issuer becomes ${domain}: applications must be told, tokens issued before are refused, passkeys that were added at ${visit.request.tenant.baseUrl} stop working, and everybody signs in again, you at the new address.`;
    return askPage(visit, { title: `Activate ${domain}?`, text: what, label: 'Activate', path: `${path}/activate`, back: path }, typed);
  }
  const answer = await manage(visit, 'POST', `${path}/activate`);
  if (answer.status !== 200) return domainPage(visit, undefined, { kind: 'bad', text: refusalText(answer) });
  return movedPage(visit, domain);
}

/** The way on is another origin, to which the policy of a form's page lets no redirect. */
const movedPage = (visit: Visit, baseUrl: string): FastifyReply =>
  showPage(
    visit,
    'Domain',
    html`<p>People sign in at <code>${baseUrl}</code> from now on, and so do you.</p><p><a class="button" id="go-on" href="${baseUrl}/console">Go on there</a></p>`,
  );

/** Withdraws what is asked for; what is in force is given up after a question. */
export async function withdrawDomain(visit: Visit, typed: Typed): Promise<FastifyReply> {
  const { body } = await manage(visit, 'GET', path);
  const isInForce = body['pending'] === null;
  if (isInForce && !isSure(typed)) {
    const what = `The issuer goes back to ${text(body['default_base_url'])}: applications must be told, passkeys stop working, and everybody signs in again.`;
    return askPage(
      visit,
      { title: `Give ${text(body['domain'])} up?`, text: what, label: 'Give it up', path: `${path}/withdraw`, back: path },
      typed,
    );
  }
  const answer = await manage(visit, 'DELETE', path);
  if (answer.status !== 204) return domainPage(visit, undefined, { kind: 'bad', text: refusalText(answer) });
  if (!isInForce) return finish(visit, path, 'The domain is no longer asked for.');
  return movedPage(visit, text(body['default_base_url']));
}
