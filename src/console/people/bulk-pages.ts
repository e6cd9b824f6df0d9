// Many people at once: those ticked in the list, or all that were found. Asks first, naming whom it touches; every one is a call on
// the Management API, so that each is checked and recorded as if it were alone.
import type { FastifyReply } from 'fastify';
import { parseJwt } from '../../crypto/signing/jwt.ts';
import type { ApiAnswer } from '../../first-party/app-api.ts';
import type { Typed } from '../../first-party/app-form.ts';
import { csrfField } from '../../first-party/app-page.ts';
import { type Html, html } from '../../platform/html.ts';
import { askPage, isSure } from '../confirm-page.ts';
import { finish, frameOf, itemsOf, manage, refusalText, showPage, type Visit } from '../console-visit.ts';
import { consolePath } from '../frame/navigation.ts';
import { countedMax, filtersOf, type Listing, readFound } from '../list-controls.ts';
import { users } from './user-resource.ts';

type Json = Readonly<Record<string, unknown>>;

interface BulkAction {
  readonly label: string;
  /** The question, where it is not the label with who it is about. */
  readonly ask?: (who: string) => string;
  /** Said of those it was done to. */
  readonly done: string;
  readonly text: string;
  /** Says before how many sessions end. */
  readonly endsSessions?: true;
  /** Whoever does it is left out. */
  readonly notOneself?: true;
  readonly needsMail?: true;
  /** The group among the fields. */
  readonly needsGroup?: true;
  readonly run: (visit: Visit, user: string, group: string) => Promise<ApiAnswer>;
}

const at = (user: string, below = ''): string => `/users/${encodeURIComponent(user)}${below}`;

const actions: Readonly<Record<string, BulkAction>> = {
  suspend: {
    label: 'Suspend',
    done: 'suspended',
    text: 'Their devices stop working until they are activated again.',
    endsSessions: true,
    notOneself: true,
    run: (visit, user) => manage(visit, 'POST', at(user, '/suspend')),
  },
  activate: {
    label: 'Activate',
    done: 'active',
    text: 'They can sign in again.',
    run: (visit, user) => manage(visit, 'POST', at(user, '/activate')),
  },
  invite: {
    label: 'Invite',
    done: 'invited',
    text: 'Each gets a mail with a link by which they add a passkey or phone. It takes the place of those before.',
    needsMail: true,
    run: (visit, user) => manage(visit, 'POST', at(user, '/invitations'), { mail: true }),
  },
  'end-sessions': {
    label: 'End sessions',
    ask: (who) => `End every session of ${who}?`,
    done: 'signed out',
    text: 'They must sign in again.',
    endsSessions: true,
    run: (visit, user) => manage(visit, 'DELETE', at(user, '/sessions')),
  },
  delete: {
    label: 'Delete',
    done: 'deleted',
    text: 'This cannot be undone. Devices, passkeys and memberships end at once; names and emails are free again.',
    endsSessions: true,
    notOneself: true,
    run: (visit, user) => manage(visit, 'DELETE', at(user)),
  },
  group: {
    label: 'Add to group',
    ask: (who) => `Add ${who} to the group?`,
    done: 'in the group',
    text: 'Whoever is in it already stays.',
    needsGroup: true,
    run: async (visit, user, group) => {
      const answer = await manage(visit, 'POST', `/groups/${encodeURIComponent(group)}/members`, { user_id: user });
      return answer.status === 409 && answer.body['kind'] === 'user_id' ? { ...answer, status: 200 } : answer;
    },
  },
};

const path = '/users/bulk';
const groupsShown = 200;
const atOnce = 8;
/** For so many people sessions are counted one by one. */
const countedSessionsMax = 100;
const namesShown = 5;

/** The box of one person in the list; it belongs to the form below. */
export const tickBox = (id: string, name: string): Html =>
  html`<input type="checkbox" form="bulk" name="id" value="${id}" aria-label="Select ${name}"> `;

/** The form below the list. */
export async function bulkBar(visit: Visit, listing: Listing): Promise<Html> {
  const groups = itemsOf(await manage(visit, 'GET', `/groups?limit=${groupsShown}`)).filter(({ origin }) => origin !== 'identity_provider');
  const buttons = Object.entries(actions).filter(
    ([, one]) => one.needsGroup !== true && (one.needsMail !== true || visit.request.tenant.canMail),
  );
  const filters = [...filtersOf(visit.query)].map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`);
  const count = `${listing.total.toLocaleString('en')}${listing.isMore ? '+' : ''}`;
  return html`<form class="card bulk" id="bulk" method="post" action="${consolePath(visit.request.tenant, path)}">${csrfField(frameOf(visit))}${filters}
<label class="check"><input type="checkbox" name="all" id="all-found" value="yes"> All ${count} found, not only those selected</label>
<div class="bar">${buttons.map(([name, { label }]) => html`<button class="small ${name === 'delete' ? 'danger' : 'quiet'}" name="action" value="${name}" id="bulk-${name}">${label}…</button>`)}</div>
${
  groups.length > 0 &&
  html`<div class="bar"><label class="hidden" for="bulk-group-id">Group</label><select id="bulk-group-id" name="group">${groups.map(
    (group) => html`<option value="${String(group['id'])}">${String(group['display_name'])}</option>`,
  )}</select><button class="small quiet" name="action" value="group" id="bulk-group">Add to group…</button></div>`
}</form>`;
}

interface Chosen {
  readonly people: readonly { readonly id: string; readonly name: string }[];
  /** The one who does it was chosen too, and is left out. */
  readonly isOneselfOut: boolean;
}

export async function bulk(visit: Visit, typed: Typed): Promise<FastifyReply> {
  const name = typed.get('action') ?? '';
  const action = Object.hasOwn(actions, name) ? actions[name] : undefined;
  const group = typed.get('group') ?? '';
  if (action === undefined || (action.needsGroup === true && group === '')) return refuse(visit, 'Choose what to do.');
  const chosen = await choose(visit, typed, action);
  if (typeof chosen === 'string') return refuse(visit, chosen);
  const { people } = chosen;
  if (people.length === 0) return refuse(visit, 'Nobody is selected. Tick somebody, or all that were found.');
  const isAsked = isSure(typed) && typed.get('count') === String(people.length);
  if (!isAsked) return ask(visit, typed, action, chosen);
  const failed = await runAll(visit, action, people, group);
  const done = people.length - failed.length;
  const [first] = failed;
  const what =
    done === 1 && failed.length === 0
      ? `${people[0]?.name} is ${action.done}.`
      : `${numberOf(done)} ${done === 1 ? 'is' : 'are'} ${action.done}.`;
  if (first === undefined) return finish(visit, '/users', what);
  return finish(visit, '/users', `${what}\n${numberOf(failed.length)} could not be, ${first.name} first: ${first.why}`);
}

const numberOf = (people: number): string => (people === 1 ? '1 person' : `${people.toLocaleString('en')} people`);
const refuse = (visit: Visit, text: string): FastifyReply =>
  showPage(visit, 'People', html`<p><a class="button quiet" id="back" href="${consolePath(visit.request.tenant, '/users')}">Back</a></p>`, {
    kind: 'bad',
    text,
  });

/** Who was ticked or found; a text says why that cannot be done. */
async function choose(visit: Visit, typed: Typed, action: BulkAction): Promise<Chosen | string> {
  const own = action.notOneself === true ? String(parseJwt(visit.session.accessToken)?.claims['sub'] ?? '') : '';
  const found = typed.get('all') === 'yes' ? await readFound(visit, users, filtersOf(typed)) : await readTicked(visit, typed);
  if (found.isMore) return `More than ${countedMax.toLocaleString('en')} people were found. Narrow the search.`;
  const everybody = found.items.map((json) => ({ id: String(json['id']), name: users.titleOf(json) }));
  const people = everybody.filter(({ id }) => id !== own);
  return { people, isOneselfOut: people.length < everybody.length };
}

async function readTicked(visit: Visit, typed: Typed): Promise<{ readonly items: readonly Json[]; readonly isMore: boolean }> {
  const ids = [...new Set([...typed.getAll('id'), ...(typed.get('ids') ?? '').split(' ')])].filter((id) => id !== '');
  const answers = await inBatches(ids, (id) => manage(visit, 'GET', at(id)));
  return { items: answers.filter(({ status }) => status === 200).map(({ body }) => body), isMore: false };
}

async function ask(visit: Visit, typed: Typed, action: BulkAction, { people, isOneselfOut }: Chosen): Promise<FastifyReply> {
  const isAll = typed.get('all') === 'yes';
  const whom = people.length === 1 ? people[0]!.name : numberOf(people.length);
  const names = people.slice(0, namesShown).map(({ name }) => name);
  const more = people.length - names.length;
  const who = people.length === 1 ? '' : `${names.join(', ')}${more > 0 ? ` and ${more.toLocaleString('en')} more` : ''}. `;
  const ends = action.endsSessions === true && people.length <= countedSessionsMax ? `${await sessionsOf(visit, people)} ` : '';
  return askPage(visit, {
    title: action.ask?.(whom) ?? `${action.label} ${whom}?`,
    text: `${who}${ends}${action.text}${isOneselfOut ? ' You are left out.' : ''}`,
    label: action.label,
    path,
    back: '/users',
    fields: {
      action: typed.get('action') ?? '',
      count: String(people.length),
      ...(action.needsGroup === true ? { group: typed.get('group') ?? '' } : {}),
      ...(isAll ? { all: 'yes', ...Object.fromEntries(filtersOf(typed)) } : { ids: people.map(({ id }) => id).join(' ') }),
    },
  });
}

async function sessionsOf(visit: Visit, people: Chosen['people']): Promise<string> {
  const lists = await inBatches(people, ({ id }) => manage(visit, 'GET', at(id, '/sessions')));
  const sessions = lists.reduce((sum, list) => sum + itemsOf(list).length, 0);
  return sessions === 0 ? 'No session is open.' : sessions === 1 ? '1 session ends.' : `${sessions} sessions end.`;
}

/** Does it to everybody, a few at a time. Gives those it could not be done to. */
async function runAll(visit: Visit, action: BulkAction, people: Chosen['people'], group: string) {
  const [first, ...rest] = people;
  // The first alone: it takes the one use of the form.
  const answers = [await action.run(visit, first!.id, group), ...(await inBatches(rest, ({ id }) => action.run(visit, id, group)))];
  return people.flatMap(({ name }, index) => {
    const answer = answers[index]!;
    return answer.status < 300 ? [] : [{ name, why: refusalText(answer) }];
  });
}

async function inBatches<Item, Result>(items: readonly Item[], work: (item: Item) => Promise<Result>): Promise<readonly Result[]> {
  const results: Result[] = [];
  for (let start = 0; start < items.length; start += atOnce)
    results.push(...(await Promise.all(items.slice(start, start + atOnce).map(work))));
  return results;
}
