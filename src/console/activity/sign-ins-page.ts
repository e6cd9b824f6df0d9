// Find a sign-in: why somebody could not get in. Tries by name, application, address, id and day, each with its reason and what to do about
// it; the same on the page of a person.
import type { FastifyReply } from 'fastify';
import { table } from '../../first-party/app-page.ts';
import { browserWords } from '../../pages/browser-words.ts';
import { type Html, html } from '../../platform/html.ts';
import { text } from '../cells.ts';
import { badge, emptyState, shownTime } from '../console-page.ts';
import { consoleResource } from '../console-resources.ts';
import { itemsOf, manage, refusalText, showMissing, showPage, type Visit } from '../console-visit.ts';
import { maySee } from '../frame/allowed.ts';
import { consolePath } from '../frame/navigation.ts';
import { pagesOf } from '../list-controls.ts';
import { pathOf, tabBar } from '../resource-pages.ts';
import { explainLink, named, namesIn } from './events-page.ts';
import { dayOf } from './reader-days.ts';

type Json = Readonly<Record<string, unknown>>;
type Names = Readonly<Record<string, string>>;

/** Each shows all that happened: more would make a page that is long and heavy. */
const pageSize = 10;
/** Of applications to choose from. */
const choicesMax = 100;
const peopleMax = 8;
const filterNames = ['name', 'user', 'application', 'ip', 'id', 'from', 'to', 'zone'] as const;

const asked = ({ query }: Visit, name: (typeof filterNames)[number]): string => (query.get(name) ?? '').trim();

export async function signInsPage(visit: Visit): Promise<FastifyReply> {
  const title = 'Find a sign-in';
  const { query, wrong } = wantedOf(visit);
  const form = await filterForm(visit);
  if (wrong !== undefined) return showPage(visit, title, form, { kind: 'bad', text: wrong });
  const people = await peopleNamed(visit);
  if (people.length === 1) query.set('user', text(people[0]!['id']));
  const cursor = visit.query.get('cursor');
  const answer = await manage(visit, 'GET', `/sign-ins?${query}${cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`}`);
  if (answer.status !== 200) return showPage(visit, title, form, { kind: 'bad', text: refusalText(answer) });
  const next = answer.body['next_cursor'];
  return showPage(
    visit,
    title,
    html`${form}${people.length > 1 && whoIsMeant(visit, people)}${tryTable(visit, itemsOf(answer), namesIn(answer.body))}
${pagesOf(visit, '/sign-ins', { previous: cursor === null ? undefined : {}, next: next === undefined ? undefined : { cursor: next } }, filterNames, ['Newest', 'Older'])}`,
  );
}

/** The tab of a person. */
export async function signInsOfPerson(visit: Visit, params: Readonly<Record<string, string>>): Promise<FastifyReply> {
  const resource = consoleResource('/users');
  const id = params['id'] ?? '';
  const person = await manage(visit, 'GET', pathOf(resource, id));
  if (person.status !== 200) return showMissing(visit, resource.singular, person);
  const answer = await triesOfPerson(visit, id, pageSize);
  return showPage(
    visit,
    resource.titleOf(person.body),
    html`${tabBar(visit, resource, id, '/sign-ins')}${tryTable(visit, itemsOf(answer), namesIn(answer.body))}<p><a class="button quiet" id="all-sign-ins" href="${consolePath(visit.request.tenant, '/sign-ins')}?user=${encodeURIComponent(id)}">Find among all of them</a></p>`,
    answer.status === 200 ? undefined : { kind: 'bad', text: refusalText(answer) },
  );
}

export const triesOfPerson = (visit: Visit, id: string, limit: number) =>
  manage(visit, 'GET', `/sign-ins?${new URLSearchParams({ user: id, names: 'shown', limit: String(limit) })}`);

/** What the address asks for, as the API takes it. */
function wantedOf(visit: Visit): { readonly query: URLSearchParams; readonly wrong?: string } {
  const query = new URLSearchParams({ names: 'shown', limit: String(pageSize) });
  for (const name of ['name', 'user', 'application', 'ip', 'id'] as const)
    if (asked(visit, name) !== '') query.set(name, asked(visit, name));
  for (const [name, edge] of [
    ['from', 'fromMs'],
    ['to', 'toMs'],
  ] as const) {
    if (asked(visit, name) === '') continue;
    const day = dayOf(asked(visit, name), asked(visit, 'zone') || 'UTC');
    if (day === undefined) return { query, wrong: `${asked(visit, name)} is no date. Type it as 2026-01-31.` };
    query.set(name, new Date(day[edge]).toISOString());
  }
  return { query };
}

/** People whose name or email has what was typed in it. */
async function peopleNamed(visit: Visit): Promise<readonly Json[]> {
  const part = asked(visit, 'name');
  if (part === '' || asked(visit, 'user') !== '' || !maySee(visit, '/users')) return [];
  return itemsOf(
    await manage(visit, 'GET', `/users?${new URLSearchParams({ sort: 'name', contains: part.slice(0, 200), limit: String(peopleMax) })}`),
  );
}

function whoIsMeant(visit: Visit, people: readonly Json[]): Html {
  const href = (id: string): string => `${consolePath(visit.request.tenant, '/sign-ins')}?${new URLSearchParams({ user: id })}`;
  const { titleOf } = consoleResource('/users');
  return html`<section class="panel" id="choices"><h2>Who is meant?</h2><ul>${people.map((person) => html`<li><a href="${href(text(person['id']))}">${titleOf(person)}</a></li>`)}</ul></section>`;
}

async function filterForm(visit: Visit): Promise<Html> {
  const user = asked(visit, 'user');
  const person = user === '' ? undefined : await manage(visit, 'GET', `/users/${encodeURIComponent(user)}`);
  const dates = (['from', 'to'] as const).map(
    (name) =>
      html`<div><label for="${name}">${name === 'from' ? 'From' : 'To'}</label><input type="date" id="${name}" name="${name}" value="${asked(visit, name)}"></div>`,
  );
  const more = (['application', 'ip', 'id', 'from', 'to'] as const).some((name) => asked(visit, name) !== '');
  return html`<p>Why couldn’t somebody sign in? Type their name or email, or what they may have typed.</p>
<form class="bar filters" method="get" action="${consolePath(visit.request.tenant, '/sign-ins')}"><div><label for="name">Name or email</label>${
    person === undefined
      ? html`<input type="search" id="name" name="name" value="${asked(visit, 'name')}" maxlength="200">`
      : html`<input type="hidden" name="user" value="${user}"><input id="name" value="${person.status === 200 ? consoleResource('/users').titleOf(person.body) : user}" readonly> <a class="small" id="anybody" href="${consolePath(visit.request.tenant, '/sign-ins')}">Anybody</a>`
  }</div><div><button id="find">Find</button></div>
<details class="more"${more && html` open`}><summary>More to find by</summary><div class="bar"><div><label for="application">Application</label>${await applicationSelect(visit)}</div>
<div><label for="ip">IP address</label><input id="ip" name="ip" value="${asked(visit, 'ip')}" autocomplete="off"></div>
<div><label for="id">Request id</label><input id="id" name="id" value="${asked(visit, 'id')}" autocomplete="off"></div>${dates}</div></details>
<input type="hidden" name="zone" value="${asked(visit, 'zone')}"></form>`;
}

/** Applications by name, where the person may see them; else by what the address says. */
async function applicationSelect(visit: Visit): Promise<Html> {
  const chosen = asked(visit, 'application');
  const of = async (path: string, kind: string, key: string): Promise<readonly (readonly [string, string])[]> =>
    maySee(visit, path)
      ? itemsOf(await manage(visit, 'GET', `${path}?limit=${choicesMax}`)).map(
          (one) => [`${kind}:${text(one[key])}`, text(one['name'])] as const,
        )
      : [];
  const known = [...(await of('/clients', 'client', 'client_id')), ...(await of('/service-providers', 'service_provider', 'id'))];
  const all = chosen === '' || known.some(([value]) => value === chosen) ? known : [[chosen, chosen] as const, ...known];
  return html`<select id="application" name="application"><option value="">Any application</option>${all.map(
    ([value, name]) => html`<option value="${value}"${value === chosen && html` selected`}>${name}</option>`,
  )}</select>`;
}

/** Tries as a table; an empty one says so. */
export function tryTable(visit: Visit, tries: readonly Json[], names: Names): Html {
  if (tries.length === 0)
    return emptyState('No sign-in was found', 'Tries of people are kept for 30 days, names that nobody has for 24 hours.');
  const rows = tries.map((one) => [
    shownTime(one['started_at']),
    who(visit, one, names),
    named(visit, text(one['application']), names),
    html`<div>${whatHappened(visit, one)}</div>`,
    html`<span>${text(one['ip'])}<br><span class="muted" title="${text(one['user_agent'])}">${browserWords(text(one['user_agent']))}</span></span>`,
  ]);
  return table('Sign-ins', ['When', 'Who', 'Application', 'What happened', 'From'], rows);
}

function who(visit: Visit, { user, typed }: Json, names: Names): Html | string {
  if (user !== null) return named(visit, `user:${text(user)}`, names);
  return typed === null ? html`<span class="muted">nobody named yet</span>` : html`<span>“${text(typed)}”</span>`;
}

/** The reason of a try, what to do, and each thing that happened in it. */
export function whatHappened(visit: Visit, one: Json): Html {
  const lines = (one['lines'] ?? []) as readonly Json[]; // the API's shape
  return html`<p class="tight">${stateOf(one)} ${one['type'] !== 'login.finished' && text(one['says'])}</p>${one['advice'] !== null && html`<p class="tight muted">${text(one['advice'])}</p>`}
<details><summary>All that happened</summary><ol class="lines">${lines.map(
    (line) =>
      html`<li>${shownTime(line['at'])} ${text(line['says'])}${line['detail'] !== null && html` <code>${text(line['detail'])}</code>`} ${explainLink(visit, line)}</li>`,
  )}</ol></details>`;
}

function stateOf({ type, check }: Json): Html {
  if (type === 'login.finished') return badge('signed in', 'good');
  return check === null ? badge('not finished', 'plain') : badge('not signed in', 'bad');
}
