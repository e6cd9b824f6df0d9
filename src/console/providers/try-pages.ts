// The tab "Try it" of another provider: whether it answers, a sign-in there by the administrator, what came back and what rules make of it;
// and the button that shows it to people. What came back is kept for ten minutes in the browser that tried, so that a reload shows it again.
import type { FastifyReply } from 'fastify';
import type { Json } from '../../domain/field.ts';
import type { Outcome } from '../../domain/outcome.ts';
import type { Typed } from '../../first-party/app-form.ts';
import { table } from '../../first-party/app-page.ts';
import { openNote, sealNoteThatFits } from '../../first-party/app-session.ts';
import { consoleApp } from '../../first-party/console-client.ts';
import { readFields, renderFields } from '../../first-party/form-field.ts';
import { type Html, html } from '../../platform/html.ts';
import { text } from '../cells.ts';
import { badge, postButton, postForm } from '../console-page.ts';
import { consoleResource } from '../console-resources.ts';
import {
  finish,
  frameOf,
  goTo,
  manage,
  type Refused,
  refusalText,
  refusedBy,
  refusedField,
  showMissing,
  showPage,
  type Visit,
} from '../console-visit.ts';
import { mayChange } from '../frame/allowed.ts';
import { consolePath } from '../frame/navigation.ts';
import { pathOf, tabBar } from '../resource-pages.ts';
import { fieldsOfIssuer } from './provider-wizard.ts';
import { failureWords, silenceWords } from './trial-words.ts';

/** What a provider said of whoever tried it, and what rules make of that. */
interface Tried {
  readonly providerId: string;
  readonly subject: string;
  readonly email: string | undefined;
  readonly emailCounts: boolean;
  readonly acr: string;
  readonly claims: Json;
  readonly create: Json;
  readonly always: Json;
}

/** Whether it answers, where the browser goes, and what came back; each with the reason where it does not. */
export type Looked = Outcome<object, string>;
export type Started = Outcome<{ readonly location: string }, string>;
export type Finished = Outcome<{ readonly tried: Tried }, string>;

const resource = consoleResource('/identity-providers');
const tab = '/try';
const keptSeconds = 600;
type Params = Readonly<Record<string, string>>;

/** What is kept of a try: the result, or why there is none. */
interface Kept {
  readonly sid: string;
  readonly id: string;
  readonly tried?: Tried | undefined;
  readonly failed?: string | undefined;
}

/** A form that was refused. */
interface Again {
  readonly typed?: Typed;
  readonly refused?: Refused;
}

export async function tryPage(
  visit: Visit,
  params: Params,
  look: (id: string) => Promise<Looked>,
  again: Again = {},
): Promise<FastifyReply> {
  const id = params['id'] ?? '';
  const answer = await manage(visit, 'GET', pathOf(resource, id));
  if (answer.status !== 200) return showMissing(visit, resource.singular, answer);
  const { body } = answer;
  const kept = keptOf(visit, id);
  const mayWrite = mayChange(visit, resource.path);
  const looked = await look(id);
  const button =
    looked.ok &&
    mayWrite &&
    postButton(frameOf(visit), { path: `${pathOf(resource, id)}${tab}`, label: `Sign in by ${text(body['name'])}`, id: 'try' });
  return showPage(
    visit,
    resource.titleOf(body),
    html`${tabBar(visit, resource, id, tab)}${stateOf(visit, body, looked.ok, kept?.tried !== undefined)}
<section class="panel"><h2>1. Its side</h2><p>Give it this address:</p><pre id="callback">${text(body['callback_uri'])}</pre>${body['sp_metadata_uri'] !== null && html`<p>Or our metadata, which says the same:</p><pre id="metadata">${text(body['sp_metadata_uri'])}</pre>`}${answers(visit, body, looked, again)}</section>
<section class="panel"><h2>2. Try it</h2><p>You sign in there, and see here what it says of you. Nobody is signed in, made or linked.</p>${button}${kept?.failed !== undefined && failure(kept.failed)}${kept?.tried !== undefined && result(kept.tried)}</section>`,
    again.refused?.notice,
  );
}

/** Whether people see it, and the button that shows it to them. */
function stateOf(visit: Visit, body: Json, itAnswers: boolean, isTried: boolean): Html {
  if (body['enabled'] === true) return html`<p class="notice good" id="shown">${text(body['name'])} is on the sign-in page.</p>`;
  const name = text(body['name']);
  if (!itAnswers)
    return html`<div class="notice partly" id="hidden-yet"><p>People do not see ${name} yet, which does not answer.</p></div>`;
  const show = postButton(frameOf(visit), {
    path: `${pathOf(resource, text(body['id']))}/show`,
    label: isTried ? 'Show it to people' : 'Show it without trying',
    id: 'show',
    ...(!isTried && { style: 'quiet' as const }),
  });
  return html`<div class="notice partly" id="hidden-yet"><p>People do not see ${name} yet.${!isTried && ' Try it first.'}</p>${show}</div>`;
}

/** What can be seen of it without a person; where it does not answer, with the field to change. */
function answers(visit: Visit, body: Json, looked: Looked, { typed, refused }: Again): Html | undefined {
  if (looked.ok) return body['kind'] === 'oidc' ? html`<p>${badge('answers', 'good')} <code>${text(body['issuer'])}</code></p>` : undefined;
  const own = pathOf(resource, text(body['id']));
  const change =
    body['kind'] === 'saml'
      ? html`<p>Change <a href="${consolePath(visit.request.tenant, own)}">SAML metadata</a>, and look again.</p>`
      : undefined;
  const said = html`<div class="notice bad" id="does-not-answer" role="alert"><p title="${looked.reason}">It does not answer${body['issuer'] !== null && html` at <code>${text(body['issuer'])}</code>`}. ${silenceWords(looked.reason)}</p>${change}</div>`;
  if (change !== undefined || !mayChange(visit, resource.path)) return said;
  return html`${said}${postForm(frameOf(visit), { path: `${own}${tab}/issuer` }, html`${renderFields(fieldsOfIssuer, body, typed, refused?.fault)}`, html`<button id="look-again">Save, and look again</button>`)}`;
}

/** Another issuer, from the page that says that nobody answers at this one. */
export async function changeIssuer(
  visit: Visit,
  typed: Typed,
  params: Params,
  look: (id: string) => Promise<Looked>,
): Promise<FastifyReply> {
  const fields = fieldsOfIssuer;
  const path = pathOf(resource, params['id'] ?? '');
  const read = readFields(fields, typed);
  const answer = read.ok ? await manage(visit, 'PATCH', path, read.json) : undefined;
  if (answer?.status === 200) return finish(visit, `${path}${tab}`, undefined);
  const refused = read.ok ? refusedBy(answer!, fields, typed) : refusedField(read.fault);
  return tryPage(visit, params, look, { typed, refused });
}

/** Why a try came to nothing, and what to look at. */
function failure(reason: string): Html {
  return html`<p class="notice bad" id="failed" role="alert" title="${reason}">It came to nothing. ${failureWords(reason)}</p>`;
}

const strengths: Readonly<Record<string, string>> = {
  fed: 'a sign-in elsewhere, below a code',
  otp: 'a mailed code',
  phone: 'an approval on the phone',
  phr: 'a passkey',
};

const shown = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));
const rowsOf = (json: Json): readonly (readonly [Html, string])[] =>
  Object.entries(json).map(([name, value]) => [html`<code>${name}</code>`, shown(value)]);

function result({ subject, email, emailCounts, acr, claims, create, always }: Tried): Html {
  const facts: readonly (readonly [name: string, value: Html | string])[] = [
    ['Known by', html`<code>${subject}</code>`],
    ['Email', email ?? 'none: nobody can be told by it'],
    ['Its word on the email', emailCounts ? 'counts' : 'does not count: a code is mailed there first'],
    ['Counts as strong as', html`<span title="${acr}">${strengths[acr] ?? acr}</span>`],
  ];
  return html`<div id="result"><p class="notice good">It works: this is what it says of you.</p><dl>${facts.map(([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>`)}</dl>
<h3>Claims</h3>${table('Claims', ['Claim', 'Value'], rowsOf(claims))}
<h3>What a new account begins with</h3>${mapped(create)}<h3>What every sign-in writes</h3>${mapped(always)}</div>`;
}

const mapped = (values: Json): Html =>
  Object.keys(values).length === 0
    ? html`<p class="muted">Nothing beside name and email.</p>`
    : table('Attributes', ['Attribute', 'Value'], rowsOf(values));

/** Leaves for the provider. A page in between: forms of these pages may lead nowhere else, redirects included (form-action). */
export async function leaveToTry(visit: Visit, params: Params, start: (id: string) => Promise<Started>): Promise<FastifyReply> {
  const id = params['id'] ?? '';
  const answer = await manage(visit, 'GET', pathOf(resource, id));
  if (answer.status !== 200) return showMissing(visit, resource.singular, answer);
  if (!mayChange(visit, resource.path)) return goTo(visit, `${pathOf(resource, id)}${tab}`);
  const started = await start(id);
  if (!started.ok) {
    keep(visit, { sid: visit.session.grantId, id, failed: started.reason });
    return goTo(visit, `${pathOf(resource, id)}${tab}`);
  }
  visit.reply.header('refresh', `0; url=${started.location}`);
  const name = text(answer.body['name']);
  return showPage(visit, `On to ${name}`, html`<p><a class="button" id="go-on" href="${started.location}">Go on to ${name}</a></p>`);
}

/** Back from the provider: on to the page that says what it said, at an address without the answer. */
export async function returnFromTry(visit: Visit, params: Params, take: () => Promise<Finished>): Promise<FastifyReply> {
  const id = params['id'] ?? '';
  const taken = await take();
  const own = { sid: visit.session.grantId, id };
  if (!taken.ok) keep(visit, { ...own, failed: taken.reason });
  else if (taken.tried.providerId === id && !keep(visit, { ...own, tried: taken.tried }))
    keep(visit, { ...own, tried: { ...taken.tried, claims: { more: 'There are more claims than fit here.' } } });
  return goTo(visit, `${pathOf(resource, id)}${tab}`);
}

export async function showToPeople(visit: Visit, params: Params): Promise<FastifyReply> {
  const path = pathOf(resource, params['id'] ?? '');
  const answer = await manage(visit, 'PATCH', path, { enabled: true });
  if (answer.status !== 200) return showPage(visit, resource.singular, html``, { kind: 'bad', text: refusalText(answer) });
  return finish(visit, `${path}${tab}`, `${resource.titleOf(answer.body)} is on the sign-in page.`);
}

function keep({ services, request, reply }: Visit, kept: Kept): boolean {
  const to = { encryption: services.encryption, app: consoleApp, tenant: request.tenant };
  const cookie = sealNoteThatFits(to, 'result', kept, keptSeconds);
  if (cookie !== undefined) reply.header('set-cookie', cookie);
  return cookie !== undefined;
}

function keptOf({ services, request, session }: Visit, id: string): Kept | undefined {
  const kept = openNote(services.encryption, consoleApp, request, 'result') as Kept | undefined; // sealed above
  return kept?.sid === session.grantId && kept.id === id ? kept : undefined;
}
