// Console pages about the tenant itself: signing keys and settings.
import type { FastifyReply } from 'fastify';
import { areWebPhonesAllowed } from '../domain/device/web-phones.ts';
import { type Json, leavesOf } from '../domain/field.ts';
import { merge, type Settings, settingFields, settingGroups } from '../domain/tenant/settings.ts';
import type { Typed } from '../first-party/app-form.ts';
import { csrfField, type Notice, table } from '../first-party/app-page.ts';
import { type FormField, formOf, readFields, renderField } from '../first-party/form-field.ts';
import { type Html, html } from '../platform/html.ts';
import { askPage, isSure } from './confirm-page.ts';
import { badge, postButton, shownTime } from './console-page.ts';
import {
  finish,
  frameOf,
  itemsOf,
  manage,
  type Refused,
  refusalText,
  refusedBy,
  refusedField,
  showPage,
  type Visit,
} from './console-visit.ts';
import { consolePath } from './frame/navigation.ts';
import { defaultChange, defaultLine, resetFormId } from './frame/setting-defaults.ts';

const stateKinds: Readonly<Record<string, 'good' | 'bad' | 'plain'>> = { active: 'good', retired: 'bad' };

export async function keysPage(visit: Visit, notice?: Notice): Promise<FastifyReply> {
  const answer = await manage(visit, 'GET', '/signing-keys');
  const rows = itemsOf(answer).map((key) => [
    html`<code>${String(key['kid'])}</code>`,
    String(key['use']),
    String(key['alg']),
    badge(String(key['state']), stateKinds[String(key['state'])] ?? 'plain'),
    shownTime(key['created_at']),
    key['rotatable_at'] === null ? '' : shownTime(key['rotatable_at']),
    waitingFor(key['stale'] as readonly Json[]), // the API's own answer
  ]);
  const rotate = (use: string, alg: string): Html =>
    postButton(frameOf(visit), {
      path: '/signing-keys',
      label: `Rotate ${use} ${alg}…`,
      style: 'quiet',
      id: `rotate-${use}-${alg}`,
      fields: { use, alg },
    });
  return showPage(
    visit,
    'Signing keys',
    html`<p class="muted">The next key is published before it signs, and a retired one stays published until nothing signed by it is alive.</p>
${table('Signing keys', ['Key', 'Use', 'Algorithm', 'State', 'Made', 'May sign from', 'Not yet read by'], rows)}
<div class="bar">${rotate('oidc', 'ES256')}${rotate('oidc', 'RS256')}${rotate('saml', 'RS256')}</div>`,
    notice,
  );
}

// Names of a few, then how many more.
function waitingFor(stale: readonly Json[]): string {
  const names = stale.slice(0, 5).map((provider) => String(provider['name']));
  return stale.length > names.length ? `${names.join(', ')} and ${stale.length - names.length} more` : names.join(', ');
}

export async function rotateKey(visit: Visit, typed: Typed): Promise<FastifyReply> {
  const fields = { use: typed.get('use') ?? '', alg: typed.get('alg') ?? '' };
  const path = '/signing-keys';
  if (!isSure(typed)) {
    const title = `Rotate the ${fields.use} ${fields.alg} key?`;
    const page = { title, text: textOfRotation(fields.use), label: 'Rotate', path, back: path, fields };
    const youngUntil = fields.use === 'saml' ? await nextSamlKeyYoungUntil(visit) : undefined;
    if (youngUntil === undefined) return askPage(visit, page);
    const text = `The next certificate may sign from ${youngUntil}: before that, service providers that read metadata rarely may not know it and refuse sign-ins.`;
    return askPage(visit, { ...page, text, label: 'Rotate all the same', fields: { ...fields, force: 'yes' } });
  }
  const force = typed.get('force') === 'yes' ? { force: true } : {};
  const answer = await manage(visit, 'POST', path, { ...fields, ...force });
  return answer.status < 300
    ? finish(visit, path, `The next ${fields.use} ${fields.alg} key signs from now on.`)
    : keysPage(visit, { kind: 'bad', text: refusalText(answer) });
}

function textOfRotation(use: string): string {
  return use === 'saml'
    ? 'The next certificate signs from now on. Service providers that took the old one by hand, or have not read the new one, must be given it.'
    : 'The next key, published already, signs from now on. Clients that read the published keys notice nothing.';
}

// The day the next SAML certificate may sign, while that is to come.
async function nextSamlKeyYoungUntil(visit: Visit): Promise<string | undefined> {
  const keys = itemsOf(await manage(visit, 'GET', '/signing-keys'));
  const from = keys.find((key) => key['use'] === 'saml' && key['state'] === 'next')?.['rotatable_at'];
  const isYoung = typeof from === 'string' && Date.parse(from) > visit.services.clock.nowMs();
  return isYoung ? from.slice(0, 10) : undefined;
}

const form = formOf(settingFields);
const capabilities: ReadonlyMap<string, string | undefined> = new Map(
  leavesOf(settingFields).map(([path, { about }]) => [path, about.capability]),
);

/** Whether the person may write a setting; the others are only shown. */
const isTheirs = (visit: Visit, { path }: FormField): boolean => visit.allowed.has(capabilities.get(path) ?? '');

/** Settings that are objects have a part of the page of their own, with their name above. */
const groupOf = ({ path }: FormField): string => (path.includes('.') ? path.split('.').slice(0, -1).join('.') : '');

export async function settingsPage(visit: Visit, typed?: Typed, refused?: Refused, isQuestion = false): Promise<FastifyReply> {
  const { body } = await manage(visit, 'GET', '/settings');
  const groups = [...Map.groupBy(form, groupOf)];
  const isAny = form.some((field) => isTheirs(visit, field));
  const action = consolePath(visit.request.tenant, '/settings');
  const shown = groups.map(
    ([group, fields]) =>
      html`<section class="card group"><h2>${settingGroups[group]}</h2><div class="setting-grid">${fields.map((field) => (isTheirs(visit, field) ? html`<div>${renderField(field, body, typed, refused?.fault)}${defaultLine(field, body)}</div>` : html`<fieldset class="shown" disabled>${renderField(field, body, undefined)}</fieldset>`))}</div></section>`,
  );
  return showPage(
    visit,
    'Security & limits',
    isAny
      ? html`<form method="post" action="${action}">${csrfField(frameOf(visit))}${isQuestion && html`<input type="hidden" name="sure" value="yes">`}${shown}<div class="bar"><button id="save">Save</button></div></form><form id="${resetFormId}" method="post" action="${action}">${csrfField(frameOf(visit))}</form>`
      : html`${shown}`,
    refused?.notice,
  );
}

export async function changeSettings(visit: Visit, typed: Typed): Promise<FastifyReply> {
  if (typed.has('reset')) return resetSetting(visit, typed);
  const read = readFields(
    form.filter((field) => isTheirs(visit, field)),
    typed,
  );
  if (!read.ok) return settingsPage(visit, typed, refusedField(read.fault));
  const hit = isSure(typed) ? 0 : await webPhonesHit(visit, read.json);
  if (hit > 0) {
    const phones = hit === 1 ? 'One phone in a browser' : `${hit.toLocaleString('en')} phones in browsers`;
    return settingsPage(
      visit,
      typed,
      { notice: { kind: 'bad', text: `${phones} will approve no more. Nothing is saved yet: save again to go on.` } },
      true,
    );
  }
  const answer = await manage(visit, 'PATCH', '/settings', read.json);
  return answer.status === 200
    ? finish(visit, '/settings', 'The settings are saved. Every node follows within a second.')
    : settingsPage(visit, typed, refusedBy(answer, form, typed));
}

/** Puts one setting back to its default. */
async function resetSetting(visit: Visit, typed: Typed): Promise<FastifyReply> {
  const change = defaultChange(typed.get('reset') ?? '');
  if (change === undefined) return settingsPage(visit, undefined, { notice: { kind: 'bad', text: 'There is no such setting to reset.' } });
  const answer = await manage(visit, 'PATCH', '/settings', change.json);
  return answer.status === 200
    ? finish(visit, '/settings', `${change.label}: back to the default.`)
    : settingsPage(visit, undefined, refusedBy(answer, form, typed));
}

/** How many phones in browsers a change would switch off. */
async function webPhonesHit(visit: Visit, change: Json): Promise<number> {
  const { tenant } = visit.request;
  const settings = merge(tenant.settings as unknown as Json, change) as unknown as Settings; // a change of settings
  const after = { ...tenant, settings };
  if (!areWebPhonesAllowed(tenant) || areWebPhonesAllowed(after)) return 0;
  const { body } = await manage(visit, 'GET', '/statistics?days=1');
  return Number((body['directory'] as Readonly<Record<string, unknown>> | undefined)?.['web_phones'] ?? 0);
}
