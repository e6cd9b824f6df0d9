// The settings in the console: what each page has and what of it is changed, and the pages, section by section. A section is a form of
// its own, so that saving one leaves the others alone. All of it is the Management API's `/settings`.
import type { FastifyReply } from 'fastify';
import { reject } from '../../contract/contract-error.ts';
import { areWebPhonesAllowed } from '../../domain/device/web-phones.ts';
import { type Json, leavesOf } from '../../domain/field.ts';
import { merge, type Settings, settingFields } from '../../domain/tenant/settings.ts';
import type { Typed } from '../../first-party/app-form.ts';
import { csrfField } from '../../first-party/app-page.ts';
import { type FormField, readFields, renderField } from '../../first-party/form-field.ts';
import { type Html, html } from '../../platform/html.ts';
import { readStyleFile } from '../../platform/style-file.ts';
import { isSure } from '../confirm-page.ts';
import {
  finish,
  frameOf,
  itemsOf,
  manage,
  type Refused,
  refusalText,
  refusedBy,
  refusedField,
  showMissing,
  showPage,
  type Visit,
} from '../console-visit.ts';
import { maySee } from '../frame/allowed.ts';
import { consolePath, isOperatorTenant } from '../frame/navigation.ts';
import { defaultChange, defaultLine, isDefault, resetFormId } from './setting-defaults.ts';
import { fieldsOfSection, type SettingSection, type SettingsPage, settingsPages } from './setting-sections.ts';

const capabilities: ReadonlyMap<string, string | undefined> = new Map(
  leavesOf(settingFields).map(([path, { about }]) => [path, about.capability]),
);

/** Whether the person may write a setting; the others are only shown. */
const isTheirs = (visit: Visit, { path }: FormField): boolean => visit.allowed.has(capabilities.get(path) ?? '');

const hrefOf = (visit: Visit, page?: SettingsPage): string =>
  consolePath(visit.request.tenant, page === undefined ? '/settings' : `/settings/${page.path}`);

/** What of these is not at its default. */
const changedOf = (fields: readonly FormField[], settings: Json): readonly FormField[] =>
  fields.filter((field) => isDefault(field, settings) === false);

/** The pages, each with what it decides and what of it is changed here. */
export async function settingsOverview(visit: Visit): Promise<FastifyReply> {
  const answer = await manage(visit, 'GET', '/settings');
  if (answer.status !== 200) return showMissing(visit, title, answer);
  const cards = settingsPages.map((page) => {
    const changed = changedOf(page.sections.flatMap(fieldsOfSection), answer.body);
    const names = changed.map(({ label }) => label).join('; ');
    return html`<li class="card"><h2><a href="${hrefOf(visit, page)}">${page.name}</a></h2><p class="muted">${page.about}</p><p class="hint">${changed.length === 0 ? 'Nothing is changed.' : `Changed: ${names}`}</p></li>`;
  });
  return showPage(visit, title, html`${tabs(visit)}<ul class="cards">${cards}</ul>`);
}

const title = 'Security & limits';
/** Of pages with fields side by side. */
export const settingsStyle = readStyleFile(new URL('./settings-style.css', import.meta.url));

/** What was sent of one section and came back. */
interface Sent {
  readonly section: string;
  readonly typed: Typed;
  readonly refused: Refused;
  /** True: sent once more, it is meant. */
  readonly isQuestion?: true;
}

/** @throws management.not_found */
function pageOf({ page: path }: Params): SettingsPage {
  const page = settingsPages.find((one) => one.path === path);
  if (page === undefined) throw reject('management.not_found', 'no_such_path');
  return page;
}

type Params = Readonly<Record<string, string>>;

export const settingsPage = (visit: Visit, params: Params): Promise<FastifyReply> => showSettings(visit, pageOf(params));

async function showSettings(visit: Visit, page: SettingsPage, sent?: Sent, notice?: Refused['notice']): Promise<FastifyReply> {
  const answer = await manage(visit, 'GET', '/settings');
  if (answer.status !== 200) return showMissing(visit, title, answer);
  const { body } = answer;
  const choices = await choicesOf(visit, page, body);
  const isAny = page.sections.flatMap(fieldsOfSection).some((field) => isTheirs(visit, field));
  return showPage(
    visit,
    page.name,
    html`${tabs(visit, page.path)}<p class="muted">${page.about}</p>${page.sections.map((section) => sectionOf(visit, { page, section, settings: body, choices, sent: sent?.section === section.id ? sent : undefined }))}${
      isAny && html`<form id="${resetFormId}" method="post" action="${hrefOf(visit, page)}">${csrfField(frameOf(visit))}</form>`
    }`,
    notice ?? sent?.refused.notice,
    { style: settingsStyle },
  );
}

/** Fields as they can be chosen in this tenant now, by their path. */
type Choices = Readonly<Record<string, Partial<FormField>>>;

/** Providers to tick instead of typing their names, for whoever may see them. */
async function choicesOf(visit: Visit, page: SettingsPage, settings: Json): Promise<Choices> {
  const path = 'administrator_providers';
  if (!page.sections.some(({ paths }) => paths.includes(path)) || !maySee(visit, '/identity-providers')) return {};
  const known = itemsOf(await manage(visit, 'GET', '/identity-providers?limit=200'));
  const named = (settings[path] ?? []) as readonly string[]; // the API's shape
  const options = [...new Set([...known.map(({ alias }) => String(alias)), ...named])];
  const hint = `Administrators who have a passkey or phone open the console by it alone, or by one of these. Only owners choose them${options.length === 0 ? '; there is no other provider yet.' : '.'}`;
  const optionLabels = Object.fromEntries(known.map(({ alias, name }) => [String(alias), { label: String(name) }]));
  return { [path]: { kind: 'ticks', options, optionLabels, hint } };
}

interface Shown {
  readonly page: SettingsPage;
  readonly section: SettingSection;
  readonly settings: Json;
  readonly choices: Choices;
  readonly sent: Sent | undefined;
}

function sectionOf(visit: Visit, { page, section, settings, choices, sent }: Shown): Html {
  const fields = fieldsOfSection(section).map((field) => ({ ...field, ...choices[field.path] }));
  const shown = fields.map((field) =>
    isTheirs(visit, field)
      ? html`<div>${renderField(field, settings, sent?.typed, sent?.refused.fault)}${defaultLine(field, settings)}</div>`
      : html`<fieldset class="shown" disabled>${renderField(field, settings, undefined)}</fieldset>`,
  );
  const grid = html`${section.about !== undefined && html`<p class="muted">${section.about}</p>`}<div class="setting-grid">${shown}</div>`;
  const inside = fields.some((field) => isTheirs(visit, field))
    ? html`<form method="post" action="${hrefOf(visit, page)}#${section.id}">${csrfField(frameOf(visit))}<input type="hidden" name="section" value="${section.id}">${sent?.isQuestion === true && html`<input type="hidden" name="sure" value="yes">`}${grid}<div class="bar end"><button id="save-${section.id}">Save<span class="hidden"> ${section.name}</span></button></div></form>`
    : grid;
  const beside = (section.beside ?? []).map(
    ([path, name, about]) => html`<p class="hint beside"><a href="${consolePath(visit.request.tenant, path)}">${name}</a>: ${about}</p>`,
  );
  if (section.isSeldom !== true)
    return html`<section class="card group" id="${section.id}"><h2>${section.name}</h2>${inside}${beside}</section>`;
  const changed = changedOf(fields, settings).length;
  const isOpen = changed > 0 || sent !== undefined;
  return html`<details class="card group" id="${section.id}"${isOpen && html` open`}><summary><h2>${section.name}</h2>${changed > 0 && html` <span class="hint">${changed} changed</span>`}</summary>${inside}${beside}</details>`;
}

/** The pages beside each other; of operators also how the deployment stands. */
export function tabs(visit: Visit, here?: string): Html {
  const all: readonly (readonly [path: string, name: string])[] = [
    ...settingsPages.map(({ path, name }) => [path, name] as const),
    ...(isOperatorTenant(visit.request.tenant) && maySee(visit, '/tenants') ? [['server', 'Server'] as const] : []),
  ];
  return html`<nav class="tabs" aria-label="${title}"><ul>${all.map(
    ([path, name]) =>
      html`<li><a href="${consolePath(visit.request.tenant, `/settings/${path}`)}"${path === here && html` aria-current="page"`}>${name}</a></li>`,
  )}</ul></nav>`;
}

/** Saves one section of a page, or puts one setting back. */
export async function changeSettings(visit: Visit, typed: Typed, params: Params): Promise<FastifyReply> {
  const page = pageOf(params);
  if (typed.has('reset')) return resetSetting(visit, page, typed);
  const section = page.sections.find(({ id }) => id === typed.get('section'));
  if (section === undefined)
    return showSettings(visit, page, undefined, {
      kind: 'bad',
      text: 'The form does not say which part of the page it is of. Nothing is saved.',
    });
  const fields = fieldsOfSection(section).filter((field) => isTheirs(visit, field));
  if (fields.length === 0) throw lacking(visit, section);
  const back = (refused: Refused, isQuestion = false): Promise<FastifyReply> =>
    showSettings(visit, page, { section: section.id, typed, refused, ...(isQuestion && { isQuestion }) });
  const read = readFields(fields, typed);
  if (!read.ok) return back(refusedField(read.fault));
  const hit = isSure(typed) ? 0 : await webPhonesHit(visit, read.json);
  if (hit > 0) {
    const phones = hit === 1 ? 'One phone in a browser' : `${hit.toLocaleString('en')} phones in browsers`;
    return back({ notice: { kind: 'bad', text: `${phones} will approve no more. Nothing is saved yet: save again to go on.` } }, true);
  }
  const answer = await manage(visit, 'PATCH', '/settings', read.json);
  if (answer.status !== 200) return back(refusedBy(answer, fields, typed));
  return finish(visit, `/settings/${page.path}`, `${section.name}: saved. Every node follows within a second.`);
}

const lacking = ({ allowed }: Visit, section: SettingSection): Error =>
  reject(
    'management.forbidden',
    {
      reason: 'missing_capability',
      expected: [...new Set(fieldsOfSection(section).map(({ path }) => capabilities.get(path)))].join(' '),
      received: [...allowed].join(' '),
    },
    { text: 'Your roles do not let you change any of this.' },
  );

/** Puts one setting back to its default. */
async function resetSetting(visit: Visit, page: SettingsPage, typed: Typed): Promise<FastifyReply> {
  const path = typed.get('reset') ?? '';
  const field = page.sections.flatMap(fieldsOfSection).find((one) => one.path === path);
  const change = field === undefined ? undefined : defaultChange(path);
  if (change === undefined) return showSettings(visit, page, undefined, { kind: 'bad', text: 'There is no such setting to reset.' });
  const answer = await manage(visit, 'PATCH', '/settings', change);
  return answer.status === 200
    ? finish(visit, `/settings/${page.path}`, `${field!.label}: back to the default.`)
    : showSettings(visit, page, undefined, { kind: 'bad', text: refusalText(answer) });
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
