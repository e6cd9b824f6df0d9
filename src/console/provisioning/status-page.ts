// Where a connector or a directory stands, as a page: what it waits for, its figures, its links counted, and the buttons that go with it. What
// ends accounts or people is asked first.
import type { FastifyReply } from 'fastify';
import type { Typed } from '../../first-party/app-form.ts';
import type { Notice } from '../../first-party/app-page.ts';
import { type Html, html } from '../../platform/html.ts';
import { text } from '../cells.ts';
import { askPage, isSure, untypedMax } from '../confirm-page.ts';
import { postButton } from '../console-page.ts';
import { consoleResource } from '../console-resources.ts';
import { finish, frameOf, goTo, manage, refusalText, showMissing, showPage, type Visit } from '../console-visit.ts';
import { mayChange } from '../frame/allowed.ts';
import { consolePath } from '../frame/navigation.ts';
import { pathOf, tabBar } from '../resource-pages.ts';

type Json = Readonly<Record<string, unknown>>;
type Params = Readonly<Record<string, string>>;
/** What people read of states; the API's own words before them. */
export type StateWords = Readonly<Record<string, readonly [label: string, kind: 'good' | 'bad' | 'plain']>>;

export interface Act {
  readonly label: string;
  readonly done: string;
  /** A call below the thing, or a change of it. */
  readonly call: { readonly path: string; readonly body?: Json } | { readonly change: Json };
  /** What ends by it. */
  readonly confirm?: (thing: Json) => string;
  /** True: what is to be done next. */
  readonly isMain?: true;
}

export interface StatusPage {
  /** Of the things, in the API and below /console. */
  readonly path: string;
  readonly acts: Readonly<Record<string, Act>>;
  /** Those that go with where it stands. */
  readonly actsOf: (status: Json, thing: Json, visit: Visit) => readonly string[];
  readonly progress: (status: Json, thing: Json) => Html;
  readonly links: { readonly title: string; readonly words: StateWords };
}

/** The page, as things are now. */
export async function statusPage(visit: Visit, page: StatusPage, params: Params, notice?: Notice): Promise<FastifyReply> {
  const resource = consoleResource(page.path);
  const own = pathOf(resource, params['id'] ?? '');
  const thing = await manage(visit, 'GET', own);
  if (thing.status !== 200) return showMissing(visit, resource.singular, thing);
  const answer = await manage(visit, 'GET', `${own}/status`);
  if (answer.status !== 200) return showMissing(visit, resource.titleOf(thing.body), answer);
  const status = answer.body;
  const { title, words } = page.links;
  const counts = status['links'] as Readonly<Record<string, number>>; // the API's shape
  return showPage(
    visit,
    resource.titleOf(thing.body),
    html`${tabBar(visit, resource, params['id'] ?? '', '/status')}
<section class="panel" aria-label="Progress">${page.progress(status, thing.body)}</section>
${mayChange(visit, page.path) && html`<div class="bar">${page.actsOf(status, thing.body, visit).map((name) => button(visit, page, own, name))}</div>`}
<section class="panel" aria-label="${title}"><h2>${title}</h2><dl>${Object.entries(words).map(
      ([state, [label]]) =>
        html`<dt><a href="${consolePath(visit.request.tenant, `${own}/links`)}?state=${state}">${label}</a></dt><dd>${text(counts[state])}</dd>`,
    )}</dl></section>`,
    notice,
  );
}

function button(visit: Visit, { acts }: StatusPage, own: string, name: string): Html {
  const { label, confirm, isMain } = acts[name]!;
  const shown = { path: `${own}/status/${name}`, label: confirm === undefined ? label : `${label}…`, id: `act-${name}` };
  return postButton(frameOf(visit), isMain === true ? shown : { ...shown, style: 'quiet' });
}

/** What must be typed before many accounts or people end. */
async function wordFor(visit: Visit, own: string): Promise<string | undefined> {
  const { body } = await manage(visit, 'GET', `${own}/status`);
  const users = Number(body['waiting_for_approval'] ?? 0);
  return users > untypedMax ? `end ${users}` : undefined;
}

/** Does what a button of the page says. */
export async function actOn(visit: Visit, page: StatusPage, typed: Typed, params: Params): Promise<FastifyReply> {
  const resource = consoleResource(page.path);
  const own = pathOf(resource, params['id'] ?? '');
  const back = `${own}/status`;
  const name = params['act'] ?? '';
  const act = Object.hasOwn(page.acts, name) ? page.acts[name] : undefined;
  if (act === undefined) return goTo(visit, back);
  const { label, call, confirm, done } = act;
  if (confirm !== undefined) {
    const thing = await manage(visit, 'GET', own);
    if (thing.status !== 200) return showMissing(visit, resource.singular, thing);
    const typeThis = await wordFor(visit, own);
    if (!isSure(typed, typeThis))
      return askPage(visit, { title: `${label}?`, text: confirm(thing.body), label, path: `${back}/${name}`, back, typeThis }, typed);
  }
  const answer = await ('change' in call
    ? manage(visit, 'PATCH', own, call.change)
    : manage(visit, 'POST', `${own}${call.path}`, call.body));
  if (answer.status !== 200) return statusPage(visit, page, params, { kind: 'bad', text: refusalText(answer) });
  return finish(visit, back, done);
}
