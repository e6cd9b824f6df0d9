// Finds users or groups to add to something: a search form, and what was found with a button each. Plain forms and links.

import { table } from '../../first-party/app-page.ts';
import { type Html, html } from '../../platform/html.ts';
import { groupOrigin } from '../cells.ts';
import { postButton } from '../console-page.ts';
import { consoleResource } from '../console-resources.ts';
import { frameOf, itemsOf, manage, type Visit } from '../console-visit.ts';
import { mayPost } from '../frame/allowed.ts';
import { consolePath } from '../frame/navigation.ts';

type Json = Readonly<Record<string, unknown>>;
export type PickedKind = 'user' | 'group' | 'organization';
const pickedKinds: readonly PickedKind[] = ['user', 'group', 'organization'];

const found = 10;
const resources = {
  user: consoleResource('/users'),
  group: consoleResource('/groups'),
  organization: consoleResource('/organizations'),
} as const;

interface Picker {
  /** Page the picker is on, below /console; the search comes back to it and the choice is posted to it. */
  readonly path: string;
  readonly label: Html | string;
  readonly kinds: readonly PickedKind[];
  /** What the address of the page has besides, and a search keeps. */
  readonly kept?: Readonly<Record<string, string>>;
  /** What is looked for while nothing is typed. */
  readonly search?: string;
  /** What is done with who is found, where they are not added to the page: where it is posted, and what with. */
  readonly choice?: { readonly path: string; readonly label: string; readonly fields: Readonly<Record<string, string>> };
}

/** The panel with the form; what `find` and `kind` of the address ask for is listed. */
export async function pickerPanel(visit: Visit, picker: Picker): Promise<Html | undefined> {
  const { path, label, kinds, kept = {} } = picker;
  if (!mayPost(visit, path)) return undefined;
  const search = (visit.query.get('find') ?? picker.search ?? '').trim();
  const kind = pickedKind(visit.query.get('kind'), kinds);
  const choice =
    kinds.length > 1 &&
    html`<label class="hidden" for="kind">What to look for</label><select id="kind" name="kind">${kinds.map(
      (option) => html`<option value="${option}"${option === kind && html` selected`}>${resources[option].plural}</option>`,
    )}</select>`;
  return html`<section class="panel"><h2>${label}</h2><form class="search" method="get" action="${consolePath(visit.request.tenant, path)}" role="search">${Object.entries(kept).map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)}${choice}<label class="hidden" for="find">Any part of a name</label><input type="search" id="find" name="find" value="${search}" placeholder="Any part of a name${kinds.includes('user') ? ' or email' : ''}" maxlength="200"><button class="quiet" id="find-people">Search</button></form>${search !== '' && (await results(visit, picker, kind, search))}</section>`;
}

/** The kind that is asked for, among those there are. */
export const pickedKind = (asked: string | null | undefined, kinds: readonly PickedKind[]): PickedKind =>
  pickedKinds.find((kind) => kind === asked && kinds.includes(kind)) ?? kinds[0] ?? 'user';

async function results(visit: Visit, { path, choice }: Picker, kind: PickedKind, search: string): Promise<Html> {
  const resource = resources[kind];
  const { label, fields, ...chosen } = choice ?? { path, label: 'Add', fields: { find: search, kind } };
  const asked = kind === 'user' ? { sort: 'name', contains: search } : { search };
  const answer = await manage(visit, 'GET', `${resource.path}?${new URLSearchParams({ limit: String(found), ...asked })}`);
  const items = itemsOf(answer);
  if (items.length === 0)
    return html`<p class="muted" id="none-found">No ${kind === 'organization' ? 'organisation' : kind} has that in its name.</p>`;
  const rows = items.map((json) => [
    html`<span class="strong">${resource.titleOf(json)}</span>`,
    kind === 'organization' ? String(json['name']) : secondLine(json),
    postButton(frameOf(visit), {
      path: chosen.path,
      label,
      style: 'small',
      of: resource.titleOf(json),
      fields: { [`${kind}_id`]: String(json['id']), ...fields },
    }),
  ]);
  return html`${table(`${resource.plural} found`, ['Name', { user: 'User name', group: 'From', organization: 'Name in requests' }[kind], choice === undefined ? 'Add' : 'Choose'], rows)}${answer.body['next_cursor'] !== undefined && html`<p class="muted">There are more: type more of the name.</p>`}`;
}

const secondLine = (json: Json): string => String(json['user_name'] ?? groupOrigin(json));

/** Name and link of a user or group by id, for lists that carry ids; a deleted one is shown by its id. */
export async function linkTo(visit: Visit, kind: PickedKind, id: string): Promise<Html> {
  const resource = resources[kind];
  const { status, body } = await manage(visit, 'GET', `${resource.path}/${encodeURIComponent(id)}`);
  const name = status === 200 ? resource.titleOf(body) : id;
  return html`<a class="strong" href="${consolePath(visit.request.tenant, `${resource.path}/${encodeURIComponent(id)}`)}">${name}</a>`;
}
