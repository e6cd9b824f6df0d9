// The links of a connector or a directory as a page: who is who, here and there, by the state that the query names, and the forms that settle
// what needs a person.
import type { FastifyReply } from 'fastify';
import type { Typed } from '../../first-party/app-form.ts';
import { csrfField, type Notice, table } from '../../first-party/app-page.ts';
import { type Html, html } from '../../platform/html.ts';
import { text } from '../cells.ts';
import { badge, emptyState } from '../console-page.ts';
import { consoleResource } from '../console-resources.ts';
import { finish, frameOf, itemsOf, manage, refusalText, showMissing, showPage, type Visit } from '../console-visit.ts';
import { mayChange } from '../frame/allowed.ts';
import { consolePath } from '../frame/navigation.ts';
import { pagesOf } from '../list-controls.ts';
import { pathOf, tabBar } from '../resource-pages.ts';
import type { StateWords } from './status-page.ts';

type Json = Readonly<Record<string, unknown>>;
type Params = Readonly<Record<string, string>>;

const pageSize = 25;

export interface LinksPage {
  /** Of the things, in the API and below /console. */
  readonly path: string;
  readonly words: StateWords;
  /** States that a person settles. */
  readonly settled: readonly string[];
  readonly caption: string;
  readonly heads: readonly string[];
  readonly nothing: readonly [title: string, text: string];
  readonly cells: (visit: Visit, link: Json) => Promise<readonly (Html | string)[]>;
  /** What a row's form asks; its buttons say the action. */
  readonly settling: (visit: Visit, own: string, link: Json) => Html;
  /** Stands above the list for whoever may settle. */
  readonly above?: (visit: Visit, own: string, links: readonly Json[]) => Promise<Html | undefined>;
  /** What the API is told beside the action. */
  readonly toApi: (typed: Typed) => Json;
  readonly told: Readonly<Record<string, string>>;
}

/** The links of one thing, in the API and below /console. */
const linksOf = ({ path }: LinksPage, { id = '' }: Params): string => `${pathOf(consoleResource(path), id)}/links`;

/** The address of the list, with the state that the query names and further members. */
export function listedAt(visit: Visit, links: string, more: Readonly<Record<string, string>> = {}): string {
  const state = visit.query.get('state') ?? '';
  const query = new URLSearchParams({ ...(state !== '' && { state }), ...more }).toString();
  return query === '' ? links : `${links}?${query}`;
}

export async function linksPage(visit: Visit, page: LinksPage, params: Params, notice?: Notice): Promise<FastifyReply> {
  const resource = consoleResource(page.path);
  const own = linksOf(page, params);
  const thing = await manage(visit, 'GET', pathOf(resource, params['id'] ?? ''));
  if (thing.status !== 200) return showMissing(visit, resource.singular, thing);
  const query = new URLSearchParams({ limit: String(pageSize) });
  for (const name of ['state', 'cursor']) if ((visit.query.get(name) ?? '') !== '') query.set(name, visit.query.get(name)!);
  const list = await manage(visit, 'GET', `${own}?${query}`);
  if (list.status !== 200) return showMissing(visit, resource.titleOf(thing.body), list);
  const links = itemsOf(list);
  const isOpen = ({ state }: Json): boolean => page.settled.includes(text(state));
  const maySettle = mayChange(visit, page.path) && links.some(isOpen);
  const rows: (readonly (Html | string)[])[] = [];
  for (const link of links)
    rows.push([...(await page.cells(visit, link)), ...(maySettle ? [isOpen(link) ? settleForm(visit, page, own, link) : ''] : [])]);
  const next = list.body['next_cursor'];
  return showPage(
    visit,
    resource.titleOf(thing.body),
    html`${tabBar(visit, resource, params['id'] ?? '', '/links')}${maySettle && (await page.above?.(visit, own, links.filter(isOpen)))}${stateFilter(visit, page, own)}
${links.length === 0 ? emptyState(...page.nothing) : table(page.caption, [...page.heads, ...(maySettle ? ['Settle'] : [])], rows)}
${pagesOf(visit, own, { previous: visit.query.has('cursor') ? {} : undefined, next: next === undefined ? undefined : { cursor: next } }, ['state'])}`,
    notice,
  );
}

function stateFilter(visit: Visit, { words }: LinksPage, own: string): Html {
  const chosen = visit.query.get('state') ?? '';
  const options = [['', 'Any state'] as const, ...Object.entries(words).map(([state, [label]]) => [state, label] as const)];
  return html`<form class="bar" method="get" action="${consolePath(visit.request.tenant, own)}"><label for="state">State</label><select id="state" name="state">${options.map(
    ([state, label]) => html`<option value="${state}"${state === chosen && html` selected`}>${label}</option>`,
  )}</select><button class="quiet" id="filter">Show</button></form>`;
}

/** The state of a link in words, and what is said of it. */
export function stateOf(words: StateWords, link: Json, reason: Html | string): Html {
  const [label, kind] = words[text(link['state'])] ?? [text(link['state']), 'plain'];
  return html`<span>${badge(label, kind)}${link['waits_for_approval'] === true && html` ${badge('waits for approval', 'bad')}`}${reason !== '' && html`<br>${reason}`}</span>`;
}

const settleAt = (visit: Visit, own: string, { id }: Json): string => listedAt(visit, `${own}/${encodeURIComponent(text(id))}/resolve`);

function settleForm(visit: Visit, page: LinksPage, own: string, link: Json): Html {
  const action = consolePath(visit.request.tenant, settleAt(visit, own, link));
  return html`<details><summary>Settle</summary><form method="post" action="${action}">${csrfField(frameOf(visit))}${page.settling(visit, own, link)}</form></details>`;
}

/** Settles one link. */
export async function resolveLink(visit: Visit, page: LinksPage, typed: Typed, params: Params): Promise<FastifyReply> {
  const action = typed.get('action') ?? '';
  const own = linksOf(page, params);
  const answer = await manage(visit, 'POST', `${own}/${encodeURIComponent(params['link'] ?? '')}/resolve`, {
    action,
    ...page.toApi(typed),
  });
  if (answer.status !== 200) return linksPage(visit, page, params, { kind: 'bad', text: refusalText(answer) });
  return finish(visit, listedAt(visit, own), page.told[action] ?? '');
}
