// Agents by host: the programs nobody registered, by what is known of them as a fact; trust a host, block it, or neither, and the way to its
// programs, where one is disabled.
import type { FastifyReply } from 'fastify';
import { type Standing, standingOf } from '../../domain/client/stranger.ts';
import type { Typed } from '../../first-party/app-form.ts';
import { type Notice, table } from '../../first-party/app-page.ts';
import { type Html, html } from '../../platform/html.ts';
import { code, lastSignIn, text } from '../cells.ts';
import { badge, emptyState, postButton } from '../console-page.ts';
import { finish, frameOf, itemsOf, manage, refusalText, showPage, type Visit } from '../console-visit.ts';
import { consolePath } from '../frame/navigation.ts';
import { cursorPages, cursorQuery } from '../list-controls.ts';

type Json = Readonly<Record<string, unknown>>;
type Lists = Readonly<Record<Exclude<Standing, 'unchecked'>, readonly string[]>>;

const here = '/client-hosts';
const title = 'Agents by host';
const docs = '/docs/how-to/agents';

/** What a host becomes, and what is said then. */
const acts: Readonly<Record<string, { readonly label: string; readonly becomes: Standing; readonly done: string }>> = {
  trust: { label: 'Trust', becomes: 'trusted', done: 'is trusted: people are no longer told that nobody here has checked it.' },
  block: {
    label: 'Block',
    becomes: 'blocked',
    done: 'is blocked: no program of it is let in, and those that were lose their next refresh.',
  },
  neither: { label: 'Take back', becomes: 'unchecked', done: 'is neither trusted nor blocked.' },
};
const offered: Readonly<Record<string, readonly string[]>> = {
  trusted: ['neither', 'block'],
  blocked: ['neither'],
  unchecked: ['trust', 'block'],
};

export async function clientHostsPage(visit: Visit, notice?: Notice): Promise<FastifyReply> {
  const answer = await manage(visit, 'GET', `${here}?${cursorQuery(visit)}`);
  if (answer.status !== 200) return showPage(visit, title, html``, { kind: 'bad', text: refusalText(answer) });
  const hosts = itemsOf(answer);
  const mayWrite = visit.allowed.has('sign-in:write');
  const columns = ['Host', 'Programs', 'People', lastSignIn[0], 'State', ...(mayWrite ? ['Change'] : [])];
  const rows = hosts.map((one) => [
    hostOf(one),
    programsOf(visit, one),
    `${one['has_more_people'] === true ? 'at least ' : ''}${text(one['people'])}`,
    lastSignIn[1](one),
    stateOf(one),
    ...(mayWrite ? [buttons(visit, one)] : []),
  ]);
  return showPage(
    visit,
    title,
    html`<p class="muted">Programs nobody registered here, such as agents, that people let act for them. A host is a fact: that of a program’s document, or where its answers go. <a href="${docs}">How they are let in</a></p>
${hosts.length === 0 ? emptyState('No such program has come', 'They are let in by an API that is open to programs nobody registered.', html`<p><a class="button quiet" id="how" href="${docs}">Agents and other programs</a></p>`) : html`${table(title, columns, rows)}${cursorPages(visit, here, answer)}`}`,
    notice,
  );
}

const nameOf = ({ host }: Json): string => (host === null ? 'A program on somebody’s computer' : text(host));

const hostOf = (one: Json): Html =>
  html`${one['host'] === null ? nameOf(one) : code(one['host'])}${one['origin'] === 'open' && html` <span class="muted">registered itself</span>`}`;

/** The list of applications finds them by their host. */
function programsOf(visit: Visit, { host, clients }: Json): Html | string {
  if (host === null) return text(clients);
  const href = `${consolePath(visit.request.tenant, '/clients')}?${new URLSearchParams({ search: text(host) })}`;
  return html`<a href="${href}">${text(clients)}<span class="hidden"> of ${text(host)}</span></a>`;
}

function stateOf({ standing }: Json): Html {
  if (standing === 'trusted') return badge('trusted', 'good');
  return standing === 'blocked' ? badge('blocked', 'bad') : badge('not checked', 'plain');
}

/** One that registered itself can say nothing that is checked: it is blocked or not. */
function buttons(visit: Visit, { host, origin, standing }: Json): Html | string {
  if (host === null) return '';
  const names = offered[text(standing)]!.filter((act) => act !== 'trust' || origin === 'document');
  const button = (act: string): Html =>
    postButton(frameOf(visit), {
      path: here,
      label: acts[act]!.label,
      of: text(host),
      style: act === 'block' ? 'danger' : 'quiet',
      fields: { host: text(host), act },
    });
  return html`<div class="bar">${names.map(button)}</div>`;
}

/** Puts a host into a list of the settings, or out of both. */
export async function judgeHost(visit: Visit, typed: Typed): Promise<FastifyReply> {
  const host = typed.get('host') ?? '';
  const name = typed.get('act') ?? '';
  const act = Object.hasOwn(acts, name) ? acts[name] : undefined;
  if (act === undefined) return clientHostsPage(visit);
  const settings = await manage(visit, 'GET', '/settings');
  if (settings.status !== 200) return clientHostsPage(visit, { kind: 'bad', text: refusalText(settings) });
  const before = settings.body['client_hosts'] as Lists; // the API's shape
  const standings = ['trusted', 'blocked'] as const;
  const listed = (standing: keyof Lists): readonly string[] => [
    ...before[standing].filter((one) => one !== host),
    ...(act.becomes === standing ? [host] : []),
  ];
  if (standingOf({ host, origin: 'document' }, { trusted: listed('trusted'), blocked: listed('blocked') }) !== act.becomes)
    return clientHostsPage(visit, {
      kind: 'bad',
      text: `An entry for several hosts has ${host}: change it under Security & limits, Tokens.`,
    });
  const named = (which: readonly (keyof Lists)[]) => ({ client_hosts: Object.fromEntries(which.map((one) => [one, [host]])) });
  // Word by word: what others put into the lists meanwhile stays.
  const answer = await manage(visit, 'POST', '/settings/lists', {
    remove: named(standings.filter((one) => one !== act.becomes)),
    add: named(standings.filter((one) => one === act.becomes)),
  });
  return answer.status === 200
    ? finish(visit, here, `${host} ${act.done}`)
    : clientHostsPage(visit, { kind: 'bad', text: refusalText(answer) });
}
