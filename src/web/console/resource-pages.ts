// The pages of one resource: list, new, detail with its form, actions and deletion. Made from console-resources.ts; every
// change is a call on the Management API, and a refusal keeps the form as it was typed.
import type { FastifyReply } from 'fastify';
import { type Html, html } from '../../platform/html.ts';
import type { Typed } from '../own-app/app-form.ts';
import { csrfField, type Notice, table } from '../own-app/app-page.ts';
import { consolePath } from './console-page.ts';
import type { ConsoleResource } from './console-resources.ts';
import { frameOf, goTo, itemsOf, manage, refusalText, showPage, type Visit } from './console-visit.ts';
import { readFields, renderField } from './form-field.ts';

type Json = Readonly<Record<string, unknown>>;
const pageSize = 25;

const plural = (resource: ConsoleResource): string => `${resource.singular}s`;
const pathOf = (visit: Visit, resource: ConsoleResource, id?: string): string =>
  consolePath(visit.request.tenant, id === undefined ? resource.path : `${resource.path}/${encodeURIComponent(id)}`);

export async function listPage(visit: Visit, resource: ConsoleResource): Promise<FastifyReply> {
  const cursor = visit.query.get('cursor');
  const answer = await manage(
    visit,
    'GET',
    `${resource.path}?limit=${pageSize}${cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`}`,
  );
  if (answer.status !== 200) return showPage(visit, plural(resource), html``, { kind: 'bad', text: refusalText(answer) });
  const items = itemsOf(answer);
  const rows = items.map((json) => [
    html`<a href="${pathOf(visit, resource, String(json[resource.idField]))}">${resource.titleOf(json)}</a>`,
    ...resource.columns.map(([, cell]) => cell(json)),
  ]);
  const next = answer.body['next_cursor'];
  return showPage(
    visit,
    plural(resource),
    html`<p class="bar"><a class="button" id="new" href="${pathOf(visit, resource)}/new">New ${resource.singular.toLowerCase()}</a></p>
${rows.length === 0 ? html`<p class="muted">None yet.</p>` : table(plural(resource), ['Name', ...resource.columns.map(([head]) => head)], rows)}
${next !== undefined && html`<p><a class="button quiet" id="next" href="${pathOf(visit, resource)}?cursor=${encodeURIComponent(String(next))}">Next page</a></p>`}`,
    visit.query.get('done') === 'deleted' ? { kind: 'good', text: `The ${resource.singular.toLowerCase()} was deleted.` } : undefined,
  );
}

export function newPage(visit: Visit, resource: ConsoleResource, typed?: Typed, notice?: Notice): FastifyReply {
  const start = resource.toForm?.(resource.initial) ?? resource.initial;
  const form = html`<form class="card" method="post" action="${pathOf(visit, resource)}">${csrfField(frameOf(visit))}
${resource.fields.map((field) => renderField(field, start, typed))}<button id="save">Create</button></form>`;
  return showPage(visit, `New ${resource.singular.toLowerCase()}`, form, notice);
}

export async function create(visit: Visit, resource: ConsoleResource, typed: Typed): Promise<FastifyReply> {
  const read = readFields(resource.fields, typed);
  if (!read.ok) return newPage(visit, resource, typed, { kind: 'bad', text: read.text });
  const answer = await manage(visit, 'POST', resource.path, withoutNulls(resource.toApi?.(read.json) ?? read.json));
  if (answer.status !== 201) return newPage(visit, resource, typed, { kind: 'bad', text: refusalText(answer) });
  return showDetail(visit, resource, answer.body, undefined, {
    kind: 'good',
    text: onceText(resource, answer.body) ?? `The ${resource.singular.toLowerCase()} was created.`,
  });
}

export async function detailPage(visit: Visit, resource: ConsoleResource, id: string): Promise<FastifyReply> {
  const answer = await manage(visit, 'GET', `${resource.path}/${encodeURIComponent(id)}`);
  if (answer.status !== 200) return showPage(visit, resource.singular, html``, { kind: 'bad', text: refusalText(answer) });
  const saved: Notice | undefined = visit.query.get('done') === 'saved' ? { kind: 'good', text: 'Saved.' } : undefined;
  return showDetail(visit, resource, answer.body, undefined, saved);
}

export async function change(visit: Visit, resource: ConsoleResource, id: string, typed: Typed): Promise<FastifyReply> {
  const path = `${resource.path}/${encodeURIComponent(id)}`;
  const read = readFields(
    resource.fields.filter((field) => field.onlyNew !== true),
    typed,
  );
  const answer = read.ok ? await manage(visit, 'PATCH', path, resource.toApi?.(read.json) ?? read.json) : undefined;
  if (answer?.status === 200) return goTo(visit, `${path}?done=saved`);
  const before = await manage(visit, 'GET', path);
  return showDetail(visit, resource, before.body, typed, { kind: 'bad', text: read.ok ? refusalText(answer!) : read.text });
}

/** Runs an action of the resource, or deletes it after a page that asks. */
export async function act(visit: Visit, resource: ConsoleResource, id: string, name: string, typed: Typed): Promise<FastifyReply> {
  const path = `${resource.path}/${encodeURIComponent(id)}`;
  if (name === 'delete') {
    if (typed.get('sure') !== 'yes') return askPage(visit, resource, id);
    const answer = await manage(visit, 'DELETE', path);
    if (answer.status === 204) return goTo(visit, `${resource.path}?done=deleted`);
    return showPage(visit, resource.singular, html``, { kind: 'bad', text: refusalText(answer) });
  }
  const action = resource.actions?.find((candidate) => candidate.path === `/${name}`);
  if (action === undefined) return goTo(visit, path);
  const answer = await manage(visit, 'POST', `${path}${action.path}`, {});
  const now = await manage(visit, 'GET', path);
  const isDone = answer.status < 300;
  const text = isDone ? (onceText(resource, answer.body) ?? `${action.name}: done.`) : refusalText(answer);
  return showDetail(visit, resource, now.body, undefined, { kind: isDone ? 'good' : 'bad', text });
}

function askPage(visit: Visit, resource: ConsoleResource, id: string): FastifyReply {
  return showPage(
    visit,
    `Delete this ${resource.singular.toLowerCase()}?`,
    html`<form class="card" method="post" action="${pathOf(visit, resource, id)}/delete">${csrfField(frameOf(visit))}<input type="hidden" name="sure" value="yes">
<p>This cannot be undone. What was issued to it ends at once.</p><p class="bar"><button class="danger" id="sure">Delete</button> <a class="button quiet" href="${pathOf(visit, resource, id)}">Keep it</a></p></form>`,
  );
}

/** Secrets of a creation, which the API shows once and nobody can read again. */
function onceText(resource: ConsoleResource, json: Json): string | undefined {
  const lines = (resource.shownOnce ?? []).filter((name) => json[name] !== undefined).map((name) => `${name}: ${String(json[name])}`);
  return lines.length === 0 ? undefined : `Shown once, copy it now.\n${lines.join('\n')}`;
}

function showDetail(
  visit: Visit,
  resource: ConsoleResource,
  json: Json,
  typed: Typed | undefined,
  notice: Notice | undefined,
): FastifyReply {
  const id = String(json[resource.idField]);
  const shown = resource.toForm?.(json) ?? json;
  const own = pathOf(visit, resource, id);
  const post = (path: string, label: string, style: string, elementId: string): Html =>
    html`<form method="post" action="${own}${path}">${csrfField(frameOf(visit))}<button class="${style}" id="${elementId}">${label}</button></form>`;
  const actions = (resource.actions ?? []).filter((action) => action.applies?.(json) ?? true);
  const onlyNew = resource.fields.filter((field) => field.onlyNew === true);
  return showPage(
    visit,
    resource.titleOf(json),
    html`<dl class="card"><dt>${resource.idField}</dt><dd><code>${id}</code></dd>${onlyNew.map((field) => html`<dt>${field.label}</dt><dd>${String(json[field.path] ?? '')}</dd>`)}</dl>
<form class="card" method="post" action="${own}">${csrfField(frameOf(visit))}
${resource.fields.filter((field) => field.onlyNew !== true).map((field) => renderField(field, shown, typed))}<button id="save">Save</button></form>
<div class="bar">${actions.map((action) => post(action.path, action.name, 'quiet', `act${action.path.replaceAll('/', '-')}`))}${post('/delete', `Delete…`, 'danger', 'delete')}</div>`,
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
