// How far a task is, on a page of its own: what is done, what could not be, and a form that goes on until nothing is left or somebody
// stops. With scripts the form sends itself; without them it is a button.
import type { FastifyReply } from 'fastify';
import { csrfField, table } from '../../first-party/app-page.ts';
import { type Html, html } from '../../platform/html.ts';
import { listTaskItems, type TaskItem } from '../../storage/records/console-tasks.ts';
import { finish, frameOf, type Visit } from '../console-visit.ts';
import { consolePath } from '../frame/navigation.ts';
import { type Counts, countsOf, type Task, type Work, workOn } from './task.ts';

/** What a page says of a task, and how it is done. */
export interface TaskKind {
  readonly title: (task: Task, counts: Counts) => string;
  /** Said when nothing is left. */
  readonly told: (task: Task, done: number) => string;
  readonly nameOf: (item: TaskItem) => string;
  readonly work: Work;
  /** Items of one turn. */
  readonly atOnce: number;
  /** Where it was begun, below /console. */
  readonly back: string;
}

export const taskPath = ({ id }: Pick<Task, 'id'>, below = ''): string => `/users/tasks/${id}${below}`;

const number = (count: number): string => count.toLocaleString('en');
export const peopleOf = (count: number): string => (count === 1 ? '1 person' : `${number(count)} people`);

/** Begins a task, or goes on: to where it was begun when it is over at once, else to its page. */
export async function proceed(visit: Visit, task: Task, kind: TaskKind, isFirst: boolean): Promise<FastifyReply> {
  await workOn(visit, task, 'ready', kind.work, kind.atOnce);
  const counts = await countsOf(visit, task);
  if (counts.ready > 0) return finish(visit, taskPath(task, '?go=on'), undefined);
  if (!isFirst) return finish(visit, taskPath(task), undefined);
  const [first] = await wrongOf(visit, task, 0, 1);
  if (first === undefined) return finish(visit, kind.back, kind.told(task, counts.done));
  const text = `${kind.told(task, counts.done)}\n${peopleOf(counts.wrong)} could not be, ${kind.nameOf(first)} first: ${first.told}`;
  return finish(visit, kind.back, text, undefined, 'partly');
}

export const wrongOf = (visit: Visit, { id }: Task, after: number, limit: number): Promise<readonly TaskItem[]> =>
  visit.services.database.read(visit.request.tenant.id, (queries) =>
    listTaskItems(queries, visit.request.tenant.id, id, { state: 'wrong', after, limit }),
  );

interface Progress {
  readonly done: number;
  readonly left: number;
  readonly wrong: number;
  /** What the form posts to, below the task. */
  readonly below: string;
  readonly verb: string;
}

/** The bar, and the form that goes on. */
export function progress(visit: Visit, task: Task, { done, left, wrong, below, verb }: Progress): Html {
  const { tenant } = visit.request;
  const all = done + left + wrong;
  const goes = left > 0 && visit.query.get('go') === 'on';
  const bad = wrong > 0 && ` ${number(wrong)} could not be.`;
  return html`<section class="panel" id="progress" aria-label="Progress"><p role="status">${number(done + wrong)} of ${number(all)} ${verb}.${bad}</p>
<progress max="${String(all)}" value="${String(done + wrong)}" aria-label="${number(done + wrong)} of ${number(all)}"></progress>
${left > 0 && html`<form class="bar" method="post" action="${consolePath(tenant, taskPath(task, below))}"${goes && html` data-goes="1"`}>${csrfField(frameOf(visit))}<button id="go-on">Go on</button>${goes && html` <a class="button quiet" id="stop" href="${consolePath(tenant, taskPath(task))}">Stop</a>`}</form>`}</section>`;
}

const wrongShown = 100;

/** Those that could not be, and why. */
export async function wrongTable(visit: Visit, task: Task, kind: TaskKind, { wrong }: Counts): Promise<Html | undefined> {
  if (wrong === 0) return undefined;
  const items = await wrongOf(visit, task, 0, wrongShown);
  return html`<h2>Could not be</h2>${table(
    'Could not be',
    ['Person', 'Why'],
    items.map((item) => [kind.nameOf(item), item.told ?? '']),
  )}${wrong > items.length && html`<p class="muted">${number(wrong - items.length)} more.</p>`}`;
}
