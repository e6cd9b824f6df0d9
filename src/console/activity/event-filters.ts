// What the Events page is asked for: its form, the query of the API it becomes, and the person of whom a part of a name was typed.
import { type Html, html } from '../../platform/html.ts';
import { text } from '../cells.ts';
import { itemsOf, manage, type Visit } from '../console-visit.ts';
import { maySee } from '../frame/allowed.ts';
import { consolePath } from '../frame/navigation.ts';
import { eventWords, families, kindName } from './event-words.ts';
import { dayOf } from './reader-days.ts';

export interface Chosen {
  readonly query: URLSearchParams;
  /** Of whom; undefined without one. */
  readonly person?: Person | undefined;
  /** Of several people who were meant. */
  readonly choices?: readonly Person[];
  /** What was wrong with what was asked. */
  readonly wrong?: string;
}

interface Person {
  readonly id: string;
  readonly name: string;
}

/** Parameters that are the same in the address and in the API. */
const passed = ['actor', 'target', 'row', 'request_id'] as const;
/** All that choose what is listed, as the address carries them. */
export const filterNames = [...passed, 'type', 'which', 'user', 'person', 'from', 'to', 'zone'] as const;
const choicesShown = 8;

const asked = ({ query }: Visit, name: string): string => (query.get(name) ?? '').trim();

/**
 * The type of what is listed, or all of a kind. The form asks for the kind first and then which of it: the words of two hundred types on
 * every page were a third of it. What stands there of another kind is left from before.
 */
function typeOf(visit: Visit): string {
  const [type, which] = [asked(visit, 'type'), asked(visit, 'which')];
  return type.endsWith('.*') && which.startsWith(type.slice(0, -1)) ? which : type;
}

/** True when something chooses what is listed. */
export const isChosen = (visit: Visit): boolean => filterNames.some((name) => name !== 'zone' && asked(visit, name) !== '');

/** What the address asks for. */
export async function chosenOf(visit: Visit): Promise<Chosen> {
  const query = new URLSearchParams({ names: 'shown' });
  if (typeOf(visit) !== '') query.set('type', typeOf(visit));
  for (const name of passed) if (asked(visit, name) !== '') query.set(name, asked(visit, name));
  const zone = asked(visit, 'zone') || 'UTC';
  for (const [name, edge] of [
    ['from', 'fromMs'],
    ['to', 'toMs'],
  ] as const) {
    if (asked(visit, name) === '') continue;
    const day = dayOf(asked(visit, name), zone);
    if (day === undefined) return { query, wrong: `${asked(visit, name)} is no date. Type it as 2026-01-31.` };
    query.set(name, new Date(day[edge]).toISOString());
  }
  const { person, choices, wrong } = await personOf(visit);
  if (person !== undefined) query.set('user', person.id);
  return { query, person, ...(choices !== undefined && { choices }), ...(wrong !== undefined && { wrong }) };
}

async function personOf(visit: Visit): Promise<Omit<Chosen, 'query'>> {
  const id = asked(visit, 'user');
  const part = asked(visit, 'person');
  if (id !== '') {
    const { status, body } = await manage(visit, 'GET', `/users/${encodeURIComponent(id)}`);
    return { person: { id, name: status === 200 ? nameOf(body) : id } };
  }
  if (part === '') return {};
  const found = await manage(
    visit,
    'GET',
    `/users?${new URLSearchParams({ sort: 'name', contains: part.slice(0, 200), limit: String(choicesShown) })}`,
  );
  const people = itemsOf(found).map((user) => ({ id: text(user['id']), name: nameOf(user) }));
  if (people.length === 1) return { person: people[0] };
  return people.length === 0 ? { wrong: `Nobody has “${part}” in a name or email.` } : { choices: people };
}

const nameOf = (user: Readonly<Record<string, unknown>>): string => text(user['display_name'] ?? user['user_name'] ?? user['id']);

/** The address of the page with these parameters changed; empty ones are left out, and the place in the list is forgotten. */
export function withFilters(visit: Visit, path: string, changes: Readonly<Record<string, string>>): string {
  const query = new URLSearchParams();
  for (const name of filterNames) {
    const value = changes[name] ?? asked(visit, name);
    if (value !== '') query.set(name, value);
  }
  const shown = query.toString();
  return `${consolePath(visit.request.tenant, path)}${shown === '' ? '' : `?${shown}`}`;
}

/** The form above the list, and whom to choose of several. */
export function filterForm(visit: Visit, { person, choices }: Chosen): Html {
  const here = consolePath(visit.request.tenant, '/events');
  const dates = (['from', 'to'] as const).map(
    (name) =>
      html`<div><label for="${name}">${name === 'from' ? 'From' : 'To'}</label><input type="date" id="${name}" name="${name}" value="${asked(visit, name)}"></div>`,
  );
  const kept = (['actor', 'target', 'row'] as const).filter((name) => asked(visit, name) !== '');
  return html`<form class="bar filters" method="get" action="${here}">${typeFields(typeOf(visit))}
${maySee(visit, '/users') && html`<div><label for="person">Person</label>${personField(visit, person)}</div>`}${dates}
<div><label for="request-id">Request id</label><input id="request-id" name="request_id" value="${asked(visit, 'request_id')}" autocomplete="off"></div>
${kept.map((name) => html`<input type="hidden" name="${name}" value="${asked(visit, name)}">`)}<input type="hidden" name="zone" value="${asked(visit, 'zone')}"><button id="filter">Filter</button>${isChosen(visit) && html`<a class="button link" id="all" href="${here}">Show all</a>`}</form>
<p class="hint">Days are those of <span class="zone">${asked(visit, 'zone') || 'UTC'}</span>.</p>
${choices !== undefined && html`<section class="panel" id="choices"><h2>Who is meant?</h2><ul>${choices.map(({ id, name }) => html`<li><a href="${withFilters(visit, '/events', { user: id, person: '' })}">${name}</a></li>`)}</ul>${choices.length === choicesShown && html`<p class="muted">There may be more: type more of the name.</p>`}</section>`}`;
}

/** Who was chosen, and a way to nobody; else a part of a name. */
function personField(visit: Visit, person: Person | undefined): Html {
  if (person === undefined)
    return html`<input type="search" id="person" name="person" value="${asked(visit, 'person')}" placeholder="Any part of a name" maxlength="200">`;
  return html`<input type="hidden" name="user" value="${person.id}"><input id="person" value="${person.name}" readonly> <a class="small" id="anybody" href="${withFilters(visit, '/events', { user: '', person: '' })}">Anybody</a>`;
}

/** About what, and once that is chosen, what happened to it. */
function typeFields(chosen: string): Html {
  const [kind, own = []] = families.find(([family, types]) => chosen === `${family}.*` || types.includes(chosen)) ?? [];
  const option = (value: string, label: string, at: string): Html =>
    html`<option value="${value}"${value === at && html` selected`}>${label}</option>`;
  const allOf = (family: string, types: readonly string[]): string => (types.length === 1 ? types[0]! : `${family}.*`);
  const about = kind === undefined ? chosen : allOf(kind, own);
  return html`<div><label for="type">About</label><select id="type" name="type">${option('', 'Anything', about)}${kind === undefined && chosen !== '' && option(chosen, chosen, about)}${families.map(
    ([family, types]) => option(allOf(family, types), kindName(family), about),
  )}</select></div>${own.length > 1 && html`<div><label for="which">What</label><select id="which" name="which">${option('', 'Anything', chosen)}${own.map((type) => option(type, eventWords(type), chosen))}</select></div>`}`;
}
