// Many people at once: those ticked in the list, or all that were found. Asks first, naming whom it touches; every one is a call on
// the Management API, so that each is checked and recorded as if it were alone.
import type { FastifyReply } from 'fastify';
import { parseJwt } from '../../crypto/signing/jwt.ts';
import type { ApiAnswer } from '../../first-party/app-api.ts';
import type { Typed } from '../../first-party/app-form.ts';
import { csrfField } from '../../first-party/app-page.ts';
import { type Html, html } from '../../platform/html.ts';
import type { TaskItem } from '../../storage/records/console-tasks.ts';
import { askPage, isSure, untypedMax } from '../confirm-page.ts';
import { frameOf, itemsOf, manage, refusalText, showPage, type Visit } from '../console-visit.ts';
import { mayChange } from '../frame/allowed.ts';
import { filtersOf } from '../frame/list-filters.ts';
import { consolePath } from '../frame/navigation.ts';
import { answersBelow, countedMax, type Listing, readFound } from '../list-controls.ts';
import { type Settled, startTask, type Task } from '../tasks/task.ts';
import { peopleOf, proceed, type TaskKind } from '../tasks/task-progress.ts';
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
  /** Of those who have not come. */
  readonly ofInvited?: true;
  /** About more people than this, their number must be typed before. */
  readonly isFinal?: true;
  /** The group among the fields. */
  readonly needsGroup?: true;
  readonly run: (visit: Visit, user: string, group: string) => Promise<ApiAnswer>;
}

const at = (user: string, below = ''): string => `/users/${encodeURIComponent(user)}${below}`;

const actions: Readonly<Record<string, BulkAction>> = {
  suspend: {
    label: 'Suspend',
    done: 'suspended',
    text: 'Their phones stop working until they are activated again.',
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
    isFinal: true,
    text: 'You can’t undo this. Phones, passkeys and memberships end at once; names and emails are free again.',
    endsSessions: true,
    notOneself: true,
    run: (visit, user) => manage(visit, 'DELETE', at(user)),
  },
  withdraw: {
    label: 'Withdraw',
    ask: (who) => `Withdraw the invitation of ${who}?`,
    done: 'not invited any more',
    text: 'The link stops working. The person stays in the list of people.',
    ofInvited: true,
    run: withdraw,
  },
  group: {
    label: 'Add to group',
    ask: (who) => `Add ${who} to the group?`,
    done: 'in the group',
    text: 'People who are in the group already stay in it.',
    needsGroup: true,
    run: async (visit, user, group) => {
      const answer = await manage(visit, 'POST', `/groups/${encodeURIComponent(group)}/members`, { user_id: user });
      return answer.status === 409 && answer.body['kind'] === 'user_id' ? { ...answer, status: 200 } : answer;
    },
  },
};

/** Revokes the invitation of a person that was not used. */
async function withdraw(visit: Visit, user: string): Promise<ApiAnswer> {
  const list = await manage(visit, 'GET', at(user, '/invitations'));
  const open = itemsOf(list).find(({ state }) => state === 'open' || state === 'expired');
  if (open === undefined) return list;
  return manage(visit, 'DELETE', at(user, `/invitations/${encodeURIComponent(String(open['id']))}`));
}

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
  const listed = mayChange(visit, '/groups') ? itemsOf(await manage(visit, 'GET', `/groups?limit=${groupsShown}`)) : [];
  const groups = listed.filter(({ origin }) => origin !== 'identity_provider');
  const buttons = Object.entries(actions).filter(
    ([, one]) =>
      one.needsGroup !== true &&
      one.ofInvited !== true &&
      (one.needsMail !== true || (visit.request.tenant.canMail && mayChange(visit, '/invitations'))),
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

/** The form below the list of who has not come. */
export function invitedBar(visit: Visit, state: string): Html {
  const button = (name: string, label: string, style: string): Html =>
    html`<button class="small ${style}" name="action" value="${name}" id="bulk-${name}">${label}…</button>`;
  return html`<form class="card bulk" id="bulk" method="post" action="${consolePath(visit.request.tenant, path)}">${csrfField(frameOf(visit))}<input type="hidden" name="back" value="invited">
<label class="check"><input type="checkbox" name="all" id="all-found" value="${state}"> All of this list, not only those selected</label>
<div class="bar">${visit.request.tenant.canMail && button('invite', 'Remind', 'quiet')}${button('withdraw', 'Withdraw', 'danger')}</div></form>`;
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
  if (people.length === 0) return refuse(visit, 'You have selected nobody. Tick people in the list, or tick All found.');
  const isAsked = isSure(typed, wordFor(action, people.length)) && typed.get('count') === String(people.length);
  if (!isAsked) return ask(visit, typed, action, chosen);
  const items = people.map((one) => ({ item: JSON.stringify(one), state: 'ready', told: null }) as const);
  const only = people.length === 1 ? people[0]!.name : undefined;
  const back = typed.get('back') === 'invited' ? '/users/invited' : '/users';
  const task = await startTask(visit, name, { group, back, ...(only !== undefined && { only }) }, items);
  return proceed(visit, task, kindOf(action, task), true);
}

/** What must be typed before something that cannot be undone is done to many. */
const wordFor = ({ isFinal, label }: BulkAction, count: number): string | undefined =>
  isFinal === true && count > untypedMax ? `${label.toLowerCase()} ${count}` : undefined;

/** How a bulk action is done, item by item; undefined for what is none. */
export const bulkKindOf = (task: Task): TaskKind | undefined =>
  Object.hasOwn(actions, task.action) ? kindOf(actions[task.action]!, task) : undefined;

function kindOf(action: BulkAction, { options }: Task): TaskKind {
  const { only } = options;
  const personIn = ({ item }: TaskItem) => JSON.parse(item) as Chosen['people'][number]; // written above
  return {
    title: (_task, { done, ready, wrong }) => `${action.label}: ${peopleOf(done + ready + wrong)}`,
    told: (_task, done) =>
      done === 1 && only !== undefined
        ? `${String(only)} is ${action.done}.`
        : `${peopleOf(done)} ${done === 1 ? 'is' : 'are'} ${action.done}.`,
    nameOf: (item) => personIn(item).name,
    work: async (visit, task, items) => {
      const answers = await Promise.all(items.map((item) => action.run(visit, personIn(item).id, String(task.options['group'] ?? ''))));
      return answers.map((answer): Settled => {
        if (answer.status < 300) return { state: 'done', told: null };
        return answer.status === 429 ? undefined : { state: 'wrong', told: refusalText(answer) };
      });
    },
    atOnce,
    back: options['back'] === '/users/invited' ? '/users/invited' : '/users',
  };
}

const refuse = (visit: Visit, text: string): FastifyReply =>
  showPage(visit, 'People', html`<p><a class="button quiet" id="back" href="${consolePath(visit.request.tenant, '/users')}">Back</a></p>`, {
    kind: 'bad',
    text,
  });

/** Who was ticked or found; a text says why that cannot be done. */
async function choose(visit: Visit, typed: Typed, action: BulkAction): Promise<Chosen | string> {
  const own = action.notOneself === true ? String(parseJwt(visit.session.accessToken)?.claims['sub'] ?? '') : '';
  const all = typed.get('all');
  const found =
    all === 'yes'
      ? await readFound(visit, users, filtersOf(typed))
      : all === 'open' || all === 'expired'
        ? await readInvited(visit, all)
        : await readTicked(visit, typed);
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

/** Everybody whose invitation is in that state. */
async function readInvited(visit: Visit, state: string): Promise<{ readonly items: readonly Json[]; readonly isMore: boolean }> {
  const items: Json[] = [];
  for await (const answer of answersBelow(visit, '/invitations', new URLSearchParams({ state }))) {
    items.push(...itemsOf(answer).map((one) => ({ id: one['user_id'], display_name: one['display_name'] ?? one['mailed_to'] })));
    if (items.length > countedMax) return { items, isMore: true };
  }
  return { items, isMore: false };
}

async function ask(visit: Visit, typed: Typed, action: BulkAction, { people, isOneselfOut }: Chosen): Promise<FastifyReply> {
  const all = typed.get('all') ?? '';
  const whom = people.length === 1 ? people[0]!.name : peopleOf(people.length);
  const names = people.slice(0, namesShown).map(({ name }) => name);
  const more = people.length - names.length;
  const who = people.length === 1 ? '' : `${names.join(', ')}${more > 0 ? ` and ${more.toLocaleString('en')} more` : ''}. `;
  const ends = action.endsSessions === true && people.length <= countedSessionsMax ? `${await sessionsOf(visit, people)} ` : '';
  const question = {
    title: action.ask?.(whom) ?? `${action.label} ${whom}?`,
    text: `${who}${ends}${action.text}${isOneselfOut ? ' You are left out.' : ''}`,
    label: action.label,
    path,
    back: typed.get('back') === 'invited' ? '/users/invited' : '/users',
    typeThis: wordFor(action, people.length),
    fields: {
      action: typed.get('action') ?? '',
      count: String(people.length),
      ...(action.needsGroup === true ? { group: typed.get('group') ?? '' } : {}),
      ...(typed.get('back') === 'invited' ? { back: 'invited' } : {}),
      ...(all !== '' ? { all, ...Object.fromEntries(filtersOf(typed)) } : { ids: people.map(({ id }) => id).join(' ') }),
    },
  };
  return askPage(visit, question, typed);
}

async function sessionsOf(visit: Visit, people: Chosen['people']): Promise<string> {
  const lists = await inBatches(people, ({ id }) => manage(visit, 'GET', at(id, '/sessions')));
  const sessions = lists.reduce((sum, list) => sum + itemsOf(list).length, 0);
  return sessions === 0 ? 'No session is open.' : sessions === 1 ? '1 session ends.' : `${sessions} sessions end.`;
}

async function inBatches<Item, Result>(items: readonly Item[], work: (item: Item) => Promise<Result>): Promise<readonly Result[]> {
  const results: Result[] = [];
  for (let start = 0; start < items.length; start += atOnce)
    results.push(...(await Promise.all(items.slice(start, start + atOnce).map(work))));
  return results;
}
