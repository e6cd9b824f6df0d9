// A task of the console: something done to many people in the name of whoever sits there, a few at a time. Each post works for a moment and
// shows how far it is; what is left waits until somebody goes on. Every item is done by calls on the Management API, so that it is judged as
// if it were alone, by what its maker may do now.
import { randomId } from '../../platform/random.ts';
import {
  type ConsoleTask,
  changeTaskOptions,
  countTaskItems,
  findTask,
  insertTask,
  settleTaskItems,
  type TaskItem,
  type TaskItemState,
  takeTaskItems,
} from '../../storage/records/console-tasks.ts';
import { takeForm, type Visit, visitorOf } from '../console-visit.ts';

type Json = Readonly<Record<string, unknown>>;

export interface Task {
  readonly id: string;
  readonly action: string;
  readonly options: Json;
}

export type Counts = Readonly<Record<TaskItemState, number>>;

/** What became of an item; undefined: it was not its turn, and it waits. */
export type Settled = (Pick<TaskItem, 'state' | 'told'> & Partial<Pick<TaskItem, 'item'>>) | undefined;

/** Does what a task is about to some of its items. */
export type Work = (visit: Visit, task: Task, items: readonly TaskItem[]) => Promise<readonly Settled[]>;

/** A post works for so long, and then shows how far it is. */
const workMs = 2_500;

export async function startTask(visit: Visit, action: string, options: Json, items: readonly Omit<TaskItem, 'position'>[]): Promise<Task> {
  await takeForm(visit);
  const id = randomId();
  const { services, request } = visit;
  const made = { id, action, options: JSON.stringify(options), madeBy: visitorOf(visit) };
  const positioned = items.map((item, position) => ({ ...item, position: position + 1 }));
  await services.database.write(request.tenant.id, (queries) => insertTask(queries, request.tenant.id, made, positioned));
  return { id, action, options };
}

/** The task of that id, where it is of whoever asks. */
export async function loadTask({ services, request, ...visit }: Visit, id: string): Promise<Task | undefined> {
  const found: ConsoleTask | undefined = await services.database.read(request.tenant.id, (queries) =>
    findTask(queries, request.tenant.id, id, visitorOf(visit)),
  );
  return found && { ...found, options: JSON.parse(found.options) as Json }; // written above
}

export async function setOptions({ services, request }: Visit, task: Task, options: Json): Promise<Task> {
  const changed = { ...task, options: { ...task.options, ...options } };
  await services.database.write(request.tenant.id, (queries) =>
    changeTaskOptions(queries, request.tenant.id, task.id, JSON.stringify(changed.options)),
  );
  return changed;
}

export const countsOf = ({ services, request }: Visit, { id }: Task): Promise<Counts> =>
  services.database.read(request.tenant.id, (queries) => countTaskItems(queries, request.tenant.id, id));

/** Works on the items of a state for a moment, or until one must wait. */
export async function workOn(visit: Visit, task: Task, state: TaskItemState, work: Work, atOnce: number): Promise<void> {
  await takeForm(visit);
  const { services, request } = visit;
  const { tenant } = request;
  const untilMs = performance.now() + workMs;
  while (performance.now() < untilMs) {
    const taken = await services.database.write(tenant.id, (queries) =>
      takeTaskItems(queries, tenant.id, task.id, { state, limit: atOnce }),
    );
    if (taken.length === 0) return;
    const settled = await work(visit, task, taken);
    const items = taken.map((item, index) => ({ ...item, ...settled[index] }));
    await services.database.write(tenant.id, (queries) => settleTaskItems(queries, tenant.id, task.id, items));
    if (settled.length < taken.length || settled.includes(undefined)) return;
  }
}
