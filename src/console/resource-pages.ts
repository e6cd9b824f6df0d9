// The pages of one resource: list with search, new, detail with its form, actions and deletion. Made from console-resources.ts;
// every change is a call on the Management API, and a refusal keeps the form as it was typed.
import type { FastifyReply } from 'fastify';
import type { ApiAnswer } from '../first-party/app-api.ts';
import type { Typed } from '../first-party/app-form.ts';
import { csrfField, table } from '../first-party/app-page.ts';
import { type FormField, readFields, renderFields, valueAt } from '../first-party/form-field.ts';
import { type Html, html } from '../platform/html.ts';
import { text, worded } from './cells.ts';
import { askPage, isSure, type Question, untypedMax } from './confirm-page.ts';
import { emptyState, postButton, postForm } from './console-page.ts';
import {
  finish,
  frameOf,
  goTo,
  itemsOf,
  manage,
  type Refused,
  refusalText,
  refusedBy,
  refusedField,
  showMissing,
  showPage,
  type Visit,
} from './console-visit.ts';
import { mayChange, maySee } from './frame/allowed.ts';
import { exportScript } from './frame/export-script.ts';
import { type Secret, secretOf, secretPanel } from './frame/flash.ts';
import { filtersOf, headsOf, isFiltered, searchBar } from './frame/list-filters.ts';
import { consolePath } from './frame/navigation.ts';
import { calledInWords } from './frame/plain-words.ts';
import { type ConsoleResource, formTab, type ResourceAction } from './frame/resource.ts';
import { type Listing, loadListing, pagesOf, totalText } from './list-controls.ts';

import { bulkBar, tickBox } from './people/bulk-pages.ts';

type Json = Readonly<Record<string, unknown>>;

/** Within a sentence; abbreviations stay. */
const within = (name: string): string => name.replace(/^[A-Z](?=[a-z])/, (letter) => letter.toLowerCase());
const nameOf = (resource: ConsoleResource): string => within(resource.singular);
/** Path of one thing in the API and below /console. */
export const pathOf = (resource: ConsoleResource, id: string): string => `${resource.path}/${encodeURIComponent(id)}`;
const hrefOf = (visit: Visit, resource: ConsoleResource, id?: string): string =>
  consolePath(visit.request.tenant, id === undefined ? resource.path : pathOf(resource, id));

export async function listPage(visit: Visit, resource: ConsoleResource): Promise<FastifyReply> {
  const listing = await loadListing(visit, resource);
  const { answer } = listing;
  const rowAction = mayChange(visit, resource.path) ? resource.rowAction : undefined;
  const rows = listing.items.map((json) => [
    html`${resource.isNamed === true && tickBox(String(json['id']), resource.titleOf(json))}<a class="strong" href="${hrefOf(visit, resource, String(json[resource.idField]))}">${resource.titleOf(json)}</a>`,
    ...resource.columns.map(([, cell]) => cell(json)),
    ...(rowAction === undefined ? [] : [rowAction[1](visit, json)]),
  ]);
  const heads = [...headsOf(visit, resource), ...(rowAction === undefined ? [] : [rowAction[0]])];
  const primary = primaryLink(visit, resource);
  const fresh =
    mayChange(visit, resource.path) &&
    html`<a class="button${primary !== undefined && ' quiet'}" id="new" href="${hrefOf(visit, resource)}/new">New ${nameOf(resource)}</a>`;
  return showPage(
    visit,
    resource.plural,
    html`<div class="bar spread">${await searchBar(visit, resource)}<div class="bar">${(resource.links ?? []).map(
      ([path, label]) => html`<a class="button quiet" href="${consolePath(visit.request.tenant, path)}">${label}</a>`,
    )}${rows.length > 0 && csvLink(visit, resource, listing)}${fresh}${primary}</div></div>
${rows.length === 0 ? nothingIn(visit, resource) : html`<p class="muted" id="total">${totalText(listing, resource)}</p>${table(resource.plural, heads, rows)}`}
${pagesOf(visit, resource.path, listing)}${resource.isNamed === true && rows.length > 0 && mayChange(visit, resource.path) && (await bulkBar(visit, listing))}`,
    answer.status === 200 ? undefined : { kind: 'bad', text: refusalText(answer) },
    { script: rows.length > 0 ? exportScript : undefined },
  );
}

function csvLink(visit: Visit, resource: ConsoleResource, { total, isMore }: Listing): Html {
  const query = filtersOf(visit.query).toString();
  return html`<a class="button quiet" id="csv" href="${hrefOf(visit, resource)}/export${query !== '' && `?${query}`}">CSV of ${isMore ? 'all' : total.toLocaleString('en')}</a>`;
}

/** What an empty list says, with the next step. */
function nothingIn(visit: Visit, resource: ConsoleResource): Html {
  if (isFiltered(visit))
    return emptyState(
      'Nothing found',
      `No ${nameOf(resource)} matches. ${resource.searchHint}.`,
      html`<a class="button quiet" href="${hrefOf(visit, resource)}">Show all</a>`,
    );
  return emptyState(
    `No ${within(resource.plural)} yet`,
    resource.about,
    mayChange(visit, resource.path)
      ? (primaryLink(visit, resource) ?? html`<a class="button" href="${hrefOf(visit, resource)}/new">New ${nameOf(resource)}</a>`)
      : undefined,
  );
}

/** What people come to the list for, where that is not a new one by hand. */
function primaryLink(visit: Visit, { path, primary }: ConsoleResource): Html | undefined {
  const [at = '', name] = primary ?? [];
  return name !== undefined && mayChange(visit, path) && mayChange(visit, '/invitations')
    ? html`<a class="button" id="primary" href="${consolePath(visit.request.tenant, at)}">${name}</a>`
    : undefined;
}

export async function newPage(visit: Visit, resource: ConsoleResource, typed?: Typed, refused?: Refused): Promise<FastifyReply> {
  const preset = resource.presets?.find(({ name }) => name === visit.query.get('preset'));
  const initial = { ...resource.initial, ...preset?.initial };
  const start = resource.toForm?.(initial) ?? initial;
  const fields = await fieldsNow(visit, resource);
  const [at = '', name, about] = resource.guided ?? [];
  const guided =
    name !== undefined &&
    html`<p class="muted"><a class="button quiet" id="guided" href="${consolePath(visit.request.tenant, at)}">${name}</a> ${about}</p>`;
  const form = html`${guided}<form class="card" method="post" action="${hrefOf(visit, resource)}">${csrfField(frameOf(visit))}
${renderFields(fields, start, typed, refused?.fault)}<div class="bar end"><button id="save">Create</button> <a class="button quiet" href="${hrefOf(visit, resource)}">Cancel</a></div></form>`;
  return showPage(visit, `New ${nameOf(resource)}`, form, refused?.notice);
}

export async function create(visit: Visit, resource: ConsoleResource, typed: Typed): Promise<FastifyReply> {
  const read = readFields(resource.fields, typed);
  if (!read.ok) return newPage(visit, resource, typed, refusedField(read.fault));
  const answer = await manage(visit, 'POST', resource.path, withoutNulls(resource.toApi?.(read.json) ?? read.json));
  if (answer.status !== 201) return newPage(visit, resource, typed, refusedBy(answer, resource.fields, typed));
  const path = `${pathOf(resource, text(answer.body[resource.idField]))}${resource.madeAt ?? ''}`;
  const name = resource.titleOf(answer.body);
  return finish(visit, path, `The ${nameOf(resource)} ${name} was created.`, secretIn(resource, answer.body));
}

const fieldsNow = async (visit: Visit, { fields, withChoices }: ConsoleResource): Promise<readonly FormField[]> =>
  (await withChoices?.(visit, fields)) ?? fields;

/** One thing, and the page of its form that is meant. */
interface OnTab {
  readonly id: string;
  /** Path below the thing; empty: the first. */
  readonly tab: string;
}

export async function detailPage(visit: Visit, resource: ConsoleResource, { id, tab }: OnTab): Promise<FastifyReply> {
  const answer = await manage(visit, 'GET', pathOf(resource, id));
  if (answer.status !== 200) return showMissing(visit, resource.singular, answer);
  return showDetail(visit, resource, tab, answer.body);
}

/** Saves what one page of the form asks for; everything else stays as it is. */
export async function change(visit: Visit, resource: ConsoleResource, { id, tab }: OnTab, typed: Typed): Promise<FastifyReply> {
  const before = await manage(visit, 'GET', pathOf(resource, id));
  if (before.status !== 200) return showMissing(visit, resource.singular, before);
  const read = readFields(
    fieldsOn(resource, tab).filter((field) => field.onlyNew !== true),
    typed,
  );
  if (!read.ok) return showDetail(visit, resource, tab, before.body, { typed, refused: refusedField(read.fault) });
  const answer = await manage(visit, 'PATCH', pathOf(resource, id), resource.toApi?.(read.json) ?? read.json);
  const after = resource.hasCard === true ? '' : tab;
  if (answer.status === 200) return finish(visit, `${pathOf(resource, id)}${after}`, `${resource.titleOf(answer.body)} is saved.`);
  return showDetail(visit, resource, tab, before.body, { typed, refused: refusedOn(resource, tab, answer, typed) });
}

/** Runs an action of the resource, or deletes it; what cannot be taken back is asked first. */
export async function act(visit: Visit, resource: ConsoleResource, id: string, name: string, typed: Typed): Promise<FastifyReply> {
  const path = pathOf(resource, id);
  const before = await manage(visit, 'GET', path);
  if (before.status !== 200) return showMissing(visit, resource.singular, before);
  const action = name === 'delete' ? undefined : resource.actions?.find((candidate) => candidate.path === `/${name}`);
  if (name !== 'delete' && action === undefined) return goTo(visit, path);
  const title = resource.titleOf(before.body);
  const question =
    action === undefined
      ? await deletionOf(visit, resource, before.body, path)
      : await questionOf(visit, action, { title, path, json: before.body });
  const tab = action?.tab ?? '';
  if (question !== undefined && !isSure(typed, question.typeThis)) return askPage(visit, question, typed);
  const answer = await run(visit, path, action);
  if (answer.status >= 300)
    return showDetail(visit, resource, resource.hasCard === true ? formTab : tab, before.body, {
      refused: { notice: { kind: 'bad', text: refusalText(answer) } },
    });
  if (action === undefined) return finish(visit, resource.path, `${title} was deleted.`);
  return finish(visit, `${path}${tab}`, action.told?.(answer.body) ?? `${title} ${action.done}.`, secretIn(resource, answer.body));
}

function run(visit: Visit, path: string, action: ResourceAction | undefined): Promise<ApiAnswer> {
  if (action === undefined) return manage(visit, 'DELETE', path);
  return action.patch === undefined ? manage(visit, 'POST', `${path}${action.path}`, {}) : manage(visit, 'PATCH', path, action.patch);
}

/** What hangs on many things is deleted for a typed word. */
async function deletionOf(visit: Visit, resource: ConsoleResource, json: Json, path: string): Promise<Question> {
  const { holds } = resource;
  const held = holds === undefined ? 0 : itemsOf(await manage(visit, 'GET', `${path}${holds}?limit=${untypedMax + 1}`)).length;
  return {
    title: `Delete ${resource.titleOf(json)}?`,
    text: resource.deletion ?? 'You can’t undo this. What was issued to it ends at once.',
    label: 'Delete',
    path: `${path}/delete`,
    back: path,
    typeThis: resource.typeToDelete?.(json) ?? (held > untypedMax ? 'delete' : undefined),
  };
}

interface Asked {
  readonly title: string;
  readonly path: string;
  readonly json: Json;
}

async function questionOf(visit: Visit, action: ResourceAction, { title, path, json }: Asked): Promise<Question | undefined> {
  const { name, ask = name, confirm: given, endsSessions, path: below, tab = '' } = action;
  if (given === undefined) return undefined;
  const confirm = typeof given === 'function' ? given(json) : given;
  const ends = endsSessions === true ? `${sessionsText(itemsOf(await manage(visit, 'GET', `${path}/sessions`)).length)} ` : '';
  return { title: `${ask} ${title}?`, text: `${ends}${confirm}`, label: name, path: `${path}${below}`, back: `${path}${tab}` };
}

const sessionsText = (sessions: number): string =>
  sessions === 0 ? 'No session is open.' : sessions === 1 ? '1 session ends.' : `${sessions} sessions end.`;

/** Secrets of a creation, which the API shows once and nobody can read again. */
function secretIn(resource: ConsoleResource, json: Json): Secret | undefined {
  const shown = resource.toOnce?.(json) ?? json;
  const items = (resource.shownOnce ?? []).filter((name) => shown[name] !== undefined).map((name) => [name, String(shown[name])] as const);
  return items.length === 0 ? undefined : { kind: resource.path, items };
}

/** The tabs of one thing; `here` is the path of the one that is open. */
export function tabBar(visit: Visit, resource: ConsoleResource, id: string, here: string): Html | undefined {
  if (resource.tabs === undefined) return undefined;
  const own = hrefOf(visit, resource, id);
  const first =
    resource.hasCard === true
      ? ([
          ['', 'Overview'],
          [formTab, mayChange(visit, resource.path) ? 'Edit' : 'Details'],
        ] as const)
      : [['', resource.firstTab ?? 'Details'] as const];
  return html`<nav class="tabs" aria-label="${resource.singular}"><ul>${[
    ...first,
    ...(resource.formTabs ?? []),
    ...resource.tabs.filter(([path]) => maySee(visit, path)),
  ].map(([path, name]) => html`<li><a href="${own}${path}"${path === here && html` aria-current="page"`}>${name}</a></li>`)}</ul></nav>`;
}

/** The fields of one page of the form. */
function fieldsOn({ fields, formTabs }: ConsoleResource, tab: string): readonly FormField[] {
  const name = formTabs?.find(([path]) => path === tab)?.[1];
  return formTabs === undefined ? fields : fields.filter((field) => field.tab === name).map(({ tab: _heading, ...field }) => field);
}

/** A refusal of what a page of the form said, which may be about a field of another page. */
function refusedOn(resource: ConsoleResource, tab: string, answer: ApiAnswer, typed: Typed): Refused {
  const here = refusedBy(answer, fieldsOn(resource, tab), typed);
  const there = here.fault === undefined && resource.formTabs !== undefined ? refusedBy(answer, resource.fields, typed) : here;
  if (here.fault !== undefined || there.fault === undefined) return here;
  return { notice: { kind: 'bad', text: `${there.fault.field.tab ?? resource.firstTab}: ${there.notice.text}` } };
}

interface Shown {
  readonly typed?: Typed;
  readonly refused?: Refused;
}

async function showDetail(
  visit: Visit,
  resource: ConsoleResource,
  tab: string,
  json: Json,
  { typed, refused }: Shown = {},
): Promise<FastifyReply> {
  const id = String(json[resource.idField]);
  const path = pathOf(resource, id);
  const shown = resource.toForm?.(json) ?? json;
  const mayWrite = mayChange(visit, resource.path);
  const fields = await fieldsNow(visit, { ...resource, fields: fieldsOn(resource, tab) });
  const [onlyNew, changed] = [true, false].map((isNew) => fields.filter((field) => (field.onlyNew === true) === isNew));
  const isFirst = tab === (resource.hasCard === true ? formTab : '');
  const canDelete = isFirst && mayWrite && (resource.canDelete?.(json) ?? true);
  const canChange = resource.canChange?.(json) ?? true;
  const facts = [
    ...(isFirst ? [[calledInWords(resource.idField), html`<code>${id}</code>`] as const] : []),
    ...onlyNew!
      .filter(({ path: at }) => ![null, undefined, ''].includes(valueAt(json, at) as null))
      .map((field) => [field.label, shownValue(field, valueAt(json, field.path))] as const),
    ...(isFirst ? (resource.facts ?? []).map(([name, fact]) => [name, fact(json)] as const) : []),
  ];
  return showPage(
    visit,
    resource.titleOf(json),
    html`${tabBar(visit, resource, id, tab)}${secretPanel(secretOf(visit, resource.path))}${facts.length > 0 && html`<dl class="card">${facts.map(([name, fact]) => html`<dt>${name}</dt><dd>${fact}</dd>`)}</dl>`}
${
  canChange &&
  changed!.length > 0 &&
  postForm(
    frameOf(visit),
    { path: `${path}${tab}` },
    html`
${renderFields(changed!, shown, typed, refused?.fault)}`,
    html`<button id="save">Save</button>`,
  )
}
${await resource.besideForm?.[tab]?.(visit, json)}<div class="bar">${actionButtons(visit, resource, tab, json)}${canDelete && postButton(frameOf(visit), { path: `${path}/delete`, label: 'Delete…', style: 'danger', id: 'delete' })}</div>`,
    refused?.notice,
  );
}

/** A value that is not changed any more: what was chosen as people call it. */
function shownValue({ optionLabels }: FormField, value: unknown): Html | string {
  const values = [value ?? ''].flat();
  return optionLabels === undefined
    ? values.join(', ')
    : html`${values.map((one, at) => html`${at > 0 && ', '}${worded(one, optionLabels)}`)}`;
}

/** What can be done with one thing on one of its pages. */
export function actionButtons(visit: Visit, resource: ConsoleResource, tab: string, json: Json): readonly Html[] {
  if (!mayChange(visit, resource.path)) return [];
  const path = pathOf(resource, String(json[resource.idField]));
  const actions = (resource.actions ?? []).filter((action) => (action.tab ?? '') === tab && (action.applies?.(json) ?? true));
  return actions.map((action) =>
    postButton(frameOf(visit), {
      path: `${path}${action.path}`,
      label: action.confirm === undefined ? action.name : `${action.name}…`,
      style: 'quiet',
      id: `act${action.path.replaceAll('/', '-')}`,
    }),
  );
}

/** A creation leaves out what was left empty, so that the API's defaults apply. */
function withoutNulls(json: Json): Json {
  const kept = Object.entries(json).filter(([, value]) => value !== null);
  return Object.fromEntries(
    kept.map(([name, value]) => [name, typeof value === 'object' && !Array.isArray(value) ? withoutNulls(value as Json) : value]),
  );
}
