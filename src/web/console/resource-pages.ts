// The pages of one resource: list with search, new, detail with its form, actions and deletion. Made from console-resources.ts;
// every change is a call on the Management API, and a refusal keeps the form as it was typed.
import type { FastifyReply } from 'fastify';
import { type Html, html } from '../../platform/html.ts';
import type { ApiAnswer } from '../own-app/app-api.ts';
import type { Typed } from '../own-app/app-form.ts';
import { csrfField, type Notice, table } from '../own-app/app-page.ts';
import { askPage, isSure, type Question } from './confirm-page.ts';
import { consolePath, emptyState, postButton } from './console-page.ts';
import type { ConsoleResource, ResourceAction } from './console-resources.ts';
import { frameOf, goBack, goTo, itemsOf, manage, noticeOf, refusalText, showMissing, showPage, type Visit } from './console-visit.ts';
import { readFields, renderField } from './form-field.ts';
import { pageLinks, searchBar, searchOf } from './list-controls.ts';

type Json = Readonly<Record<string, unknown>>;

const nameOf = (resource: ConsoleResource): string => resource.singular.toLowerCase();
/** Path of one thing in the API and below /console. */
export const pathOf = (resource: ConsoleResource, id: string): string => `${resource.path}/${encodeURIComponent(id)}`;
const hrefOf = (visit: Visit, resource: ConsoleResource, id?: string): string =>
  consolePath(visit.request.tenant, id === undefined ? resource.path : pathOf(resource, id));

export async function listPage(visit: Visit, resource: ConsoleResource): Promise<FastifyReply> {
  const { query, search } = searchOf(visit);
  const answer = await manage(visit, 'GET', `${resource.path}?${query}`);
  const items = itemsOf(answer);
  const rows = items.map((json) => [
    html`<a class="strong" href="${hrefOf(visit, resource, String(json[resource.idField]))}">${resource.titleOf(json)}</a>`,
    ...resource.columns.map(([, cell]) => cell(json)),
  ]);
  const fresh = html`<a class="button" id="new" href="${hrefOf(visit, resource)}/new">New ${nameOf(resource)}</a>`;
  const isPlain = search === '' && visit.query.get('cursor') === null;
  const nothing = isPlain
    ? emptyState(`No ${nameOf(resource)}s yet`, resource.about)
    : emptyState('Nothing found', `No ${nameOf(resource)} matches. ${resource.searchHint}.`);
  return showPage(
    visit,
    `${resource.singular}s`,
    html`<div class="bar spread">${searchBar(visit, resource.path, resource.searchHint)}<div class="bar">${(resource.links ?? []).map(
      ([path, label]) => html`<a class="button quiet" href="${consolePath(visit.request.tenant, path)}">${label}</a>`,
    )}${fresh}</div></div>
${rows.length === 0 ? nothing : table(`${resource.singular}s`, ['Name', ...resource.columns.map(([head]) => head)], rows)}
${pageLinks(visit, resource.path, answer)}`,
    answer.status === 200
      ? noticeOf(visit, { deleted: `The ${nameOf(resource)} was deleted.` })
      : { kind: 'bad', text: refusalText(answer) },
  );
}

export function newPage(visit: Visit, resource: ConsoleResource, typed?: Typed, notice?: Notice): FastifyReply {
  const start = resource.toForm?.(resource.initial) ?? resource.initial;
  const form = html`<form class="card" method="post" action="${hrefOf(visit, resource)}">${csrfField(frameOf(visit))}
${resource.fields.map((field) => renderField(field, start, typed))}<div class="bar end"><button id="save">Create</button> <a class="button quiet" href="${hrefOf(visit, resource)}">Cancel</a></div></form>`;
  return showPage(visit, `New ${nameOf(resource)}`, form, notice);
}

export async function create(visit: Visit, resource: ConsoleResource, typed: Typed): Promise<FastifyReply> {
  const read = readFields(resource.fields, typed);
  if (!read.ok) return newPage(visit, resource, typed, { kind: 'bad', text: read.text });
  const answer = await manage(visit, 'POST', resource.path, withoutNulls(resource.toApi?.(read.json) ?? read.json));
  if (answer.status !== 201) return newPage(visit, resource, typed, { kind: 'bad', text: refusalText(answer) });
  return showDetail(visit, resource, answer.body, undefined, {
    kind: 'good',
    text: onceText(resource, answer.body) ?? `The ${nameOf(resource)} was created.`,
  });
}

export async function detailPage(visit: Visit, resource: ConsoleResource, id: string): Promise<FastifyReply> {
  const answer = await manage(visit, 'GET', pathOf(resource, id));
  if (answer.status !== 200) return showMissing(visit, resource.singular, answer);
  return showDetail(visit, resource, answer.body, undefined, noticeOf(visit, { saved: 'Saved.', imported: 'The metadata was imported.' }));
}

export async function change(visit: Visit, resource: ConsoleResource, id: string, typed: Typed): Promise<FastifyReply> {
  const before = await manage(visit, 'GET', pathOf(resource, id));
  if (before.status !== 200) return showMissing(visit, resource.singular, before);
  const read = readFields(
    resource.fields.filter((field) => field.onlyNew !== true),
    typed,
  );
  if (!read.ok) return showDetail(visit, resource, before.body, typed, { kind: 'bad', text: read.text });
  const answer = await manage(visit, 'PATCH', pathOf(resource, id), resource.toApi?.(read.json) ?? read.json);
  if (answer.status === 200) return goBack(visit, pathOf(resource, id), 'saved');
  return showDetail(visit, resource, before.body, typed, { kind: 'bad', text: refusalText(answer) });
}

/** Runs an action of the resource, or deletes it; what cannot be taken back is asked first. */
export async function act(visit: Visit, resource: ConsoleResource, id: string, name: string, typed: Typed): Promise<FastifyReply> {
  const path = pathOf(resource, id);
  const before = await manage(visit, 'GET', path);
  if (before.status !== 200) return showMissing(visit, resource.singular, before);
  const action = name === 'delete' ? undefined : resource.actions?.find((candidate) => candidate.path === `/${name}`);
  if (name !== 'delete' && action === undefined) return goTo(visit, path);
  const question = action === undefined ? deletionOf(resource, before.body, path) : questionOf(action, path);
  if (question !== undefined && !isSure(typed, question.typeThis)) return askPage(visit, question, typed);
  const answer = await run(visit, path, action);
  if (action === undefined && answer.status === 204) return goBack(visit, resource.path, 'deleted');
  const now = await manage(visit, 'GET', path);
  const isDone = answer.status < 300;
  const text = isDone ? (onceText(resource, answer.body) ?? `${action?.name ?? 'Delete'}: done.`) : refusalText(answer);
  return showDetail(visit, resource, now.body, undefined, { kind: isDone ? 'good' : 'bad', text });
}

function run(visit: Visit, path: string, action: ResourceAction | undefined): Promise<ApiAnswer> {
  if (action === undefined) return manage(visit, 'DELETE', path);
  return action.patch === undefined ? manage(visit, 'POST', `${path}${action.path}`, {}) : manage(visit, 'PATCH', path, action.patch);
}

function deletionOf(resource: ConsoleResource, json: Json, path: string): Question {
  return {
    title: `Delete this ${nameOf(resource)}?`,
    text: `${resource.titleOf(json)}: ${resource.deletion ?? 'This cannot be undone. What was issued to it ends at once.'}`,
    label: 'Delete',
    path: `${path}/delete`,
    back: path,
    typeThis: resource.typeToDelete?.(json),
  };
}

function questionOf({ name, confirm, path: below }: ResourceAction, path: string): Question | undefined {
  if (confirm === undefined) return undefined;
  return { title: `${name}?`, text: confirm, label: name, path: `${path}${below}`, back: path };
}

/** Secrets of a creation, which the API shows once and nobody can read again. */
function onceText(resource: ConsoleResource, json: Json): string | undefined {
  const shown = resource.toOnce?.(json) ?? json;
  const lines = (resource.shownOnce ?? []).filter((name) => shown[name] !== undefined).map((name) => `${name}: ${String(shown[name])}`);
  return lines.length === 0 ? undefined : `Shown once, copy it now.\n${lines.join('\n')}`;
}

/** The tabs of one thing; `here` is the path of the one that is open. */
export function tabBar(visit: Visit, resource: ConsoleResource, id: string, here: string): Html | undefined {
  if (resource.tabs === undefined) return undefined;
  const own = hrefOf(visit, resource, id);
  return html`<nav class="tabs" aria-label="${resource.singular}"><ul>${[['', 'Details'] as const, ...resource.tabs].map(
    ([path, name]) => html`<li><a href="${own}${path}"${path === here && html` aria-current="page"`}>${name}</a></li>`,
  )}</ul></nav>`;
}

function showDetail(
  visit: Visit,
  resource: ConsoleResource,
  json: Json,
  typed: Typed | undefined,
  notice: Notice | undefined,
): FastifyReply {
  const id = String(json[resource.idField]);
  const path = pathOf(resource, id);
  const shown = resource.toForm?.(json) ?? json;
  const actions = (resource.actions ?? []).filter((action) => action.applies?.(json) ?? true);
  const onlyNew = resource.fields.filter((field) => field.onlyNew === true);
  const canDelete = resource.canDelete?.(json) ?? true;
  return showPage(
    visit,
    resource.titleOf(json),
    html`${tabBar(visit, resource, id, '')}<dl class="card"><dt>${resource.idField}</dt><dd><code>${id}</code></dd>${onlyNew.map((field) => html`<dt>${field.label}</dt><dd>${String(json[field.path] ?? '')}</dd>`)}${(
      resource.facts ?? []
    ).map(([name, fact]) => html`<dt>${name}</dt><dd>${fact(json)}</dd>`)}</dl>
<form class="card" method="post" action="${consolePath(visit.request.tenant, path)}">${csrfField(frameOf(visit))}
${resource.fields.filter((field) => field.onlyNew !== true).map((field) => renderField(field, shown, typed))}<div class="bar end"><button id="save">Save</button></div></form>
<div class="bar">${actions.map((action) =>
      postButton(frameOf(visit), {
        path: `${path}${action.path}`,
        label: action.confirm === undefined ? action.name : `${action.name}…`,
        style: 'quiet',
        id: `act${action.path.replaceAll('/', '-')}`,
      }),
    )}${canDelete && postButton(frameOf(visit), { path: `${path}/delete`, label: 'Delete…', style: 'danger', id: 'delete' })}</div>`,
    notice,
  );
}

/** A creation leaves out what was left empty, so that the API's defaults apply. */
function withoutNulls(json: Json): Json {
  const kept = Object.entries(json).filter(([, value]) => value !== null);
  return Object.fromEntries(
    kept.map(([name, value]) => [name, typeof value === 'object' && !Array.isArray(value) ? withoutNulls(value as Json) : value]),
  );
}
