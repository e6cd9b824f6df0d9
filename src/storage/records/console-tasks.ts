// Tasks of the console: something done to many people, each an item with its state. Whoever works on one takes a few items at a time, for
// a minute, so that two tabs do nothing twice; what was taken and never settled is free again. They are of the person who made them, and go after a week.
import { type Insertable, sql } from 'kysely';
import type { TenantId } from '../../domain/ids.ts';
import type { Queries } from '../engine/database.ts';
import { databaseNowMs } from '../engine/instance.ts';

export interface ConsoleTaskTable {
  tenant_id: TenantId;
  id: string;
  /** Of the person. */
  made_by: string;
  action: string;
  /** What the action takes, as JSON. */
  options: string;
  expires_at: number;
}

/** `unchecked` and `ready` wait for work, `wrong` for a correction; `done` and `dropped` are over. */
export type TaskItemState = 'unchecked' | 'ready' | 'wrong' | 'done' | 'dropped';

export interface ConsoleTaskItemTable {
  tenant_id: TenantId;
  task_id: string;
  position: number;
  item: string;
  state: TaskItemState;
  /** What became of it, or is wrong with it. */
  told: string | null;
  taken_at: number;
}

export type ConsoleTask = Readonly<Pick<ConsoleTaskTable, 'id' | 'action' | 'options'>>;
export type TaskItem = Readonly<Pick<ConsoleTaskItemTable, 'position' | 'item' | 'state' | 'told'>>;

const keptMs = 7 * 24 * 3600 * 1000;
const takenMs = 60_000;
const insertedAtOnce = 200;
/** Tasks that are kept of a person; the oldest go first. */
export const tasksPerPersonMax = 20;

export async function insertTask(
  queries: Queries,
  tenant: TenantId,
  task: ConsoleTask & { readonly madeBy: string },
  items: readonly TaskItem[],
): Promise<void> {
  const { id, madeBy, action, options } = task;
  await forgetOldest(queries, tenant, madeBy);
  await queries
    .insertInto('console_tasks')
    .values({ tenant_id: tenant, id, made_by: madeBy, action, options, expires_at: sql<number>`${databaseNowMs} + ${keptMs}` })
    .execute();
  for (let start = 0; start < items.length; start += insertedAtOnce) {
    const rows = items.slice(start, start + insertedAtOnce);
    const values = rows.map((item): Insertable<ConsoleTaskItemTable> => ({ ...item, tenant_id: tenant, task_id: id, taken_at: 0 }));
    await queries.insertInto('console_task_items').values(values).execute();
  }
}

/** Makes room for one more. */
async function forgetOldest(queries: Queries, tenant: TenantId, madeBy: string): Promise<void> {
  await queries
    .deleteFrom('console_tasks')
    .where('tenant_id', '=', tenant)
    .where('made_by', '=', madeBy)
    .where('id', 'not in', (eb) =>
      eb
        .selectFrom('console_tasks')
        .select('id')
        .where('tenant_id', '=', tenant)
        .where('made_by', '=', madeBy)
        .orderBy('expires_at', 'desc')
        .orderBy('id')
        .limit(tasksPerPersonMax - 1),
    )
    .execute();
}

/** A task of that person. */
export async function findTask(queries: Queries, tenant: TenantId, id: string, madeBy: string): Promise<ConsoleTask | undefined> {
  return queries
    .selectFrom('console_tasks')
    .select(['id', 'action', 'options'])
    .where('tenant_id', '=', tenant)
    .where('id', '=', id)
    .where('made_by', '=', madeBy)
    .executeTakeFirst();
}

export async function changeTaskOptions(queries: Queries, tenant: TenantId, id: string, options: string): Promise<void> {
  await queries.updateTable('console_tasks').set({ options }).where('tenant_id', '=', tenant).where('id', '=', id).execute();
}

/** How many items are in each state. */
export async function countTaskItems(queries: Queries, tenant: TenantId, task: string): Promise<Readonly<Record<TaskItemState, number>>> {
  const rows = await queries
    .selectFrom('console_task_items')
    .select(['state', (eb) => eb.fn.countAll<number>().as('count')])
    .where('tenant_id', '=', tenant)
    .where('task_id', '=', task)
    .groupBy('state')
    .execute();
  const none = { unchecked: 0, ready: 0, wrong: 0, done: 0, dropped: 0 };
  return { ...none, ...Object.fromEntries(rows.map(({ state, count }) => [state, Number(count)])) };
}

/** The next items in a state, in order, behind a position. */
export async function listTaskItems(
  queries: Queries,
  tenant: TenantId,
  task: string,
  { state, after, limit }: { readonly state: TaskItemState; readonly after: number; readonly limit: number },
): Promise<readonly TaskItem[]> {
  return queries
    .selectFrom('console_task_items')
    .select(['position', 'item', 'state', 'told'])
    .where('tenant_id', '=', tenant)
    .where('task_id', '=', task)
    .where('state', '=', state)
    .where('position', '>', after)
    .orderBy('position')
    .limit(limit)
    .execute();
}

/** Takes up to `limit` items in a state that nobody has in hand, for one caller. */
export async function takeTaskItems(
  queries: Queries,
  tenant: TenantId,
  task: string,
  { state, limit }: { readonly state: TaskItemState; readonly limit: number },
): Promise<readonly TaskItem[]> {
  const free = sql<boolean>`taken_at < ${databaseNowMs} - ${takenMs}`;
  const rows = await queries
    .updateTable('console_task_items')
    .set({ taken_at: databaseNowMs })
    .where('tenant_id', '=', tenant)
    .where('task_id', '=', task)
    .where('state', '=', state)
    .where(free)
    .where('position', 'in', (eb) =>
      eb
        .selectFrom('console_task_items')
        .select('position')
        .where('tenant_id', '=', tenant)
        .where('task_id', '=', task)
        .where('state', '=', state)
        .where(free)
        .orderBy('position')
        .limit(limit),
    )
    .returning(['position', 'item', 'state', 'told'])
    .execute();
  return rows.toSorted((left, right) => left.position - right.position);
}

/** Says what became of items that were taken, and lets go of them. */
export async function settleTaskItems(queries: Queries, tenant: TenantId, task: string, items: readonly TaskItem[]): Promise<void> {
  for (const { position, ...columns } of items)
    await queries
      .updateTable('console_task_items')
      .set({ ...columns, taken_at: 0 })
      .where('tenant_id', '=', tenant)
      .where('task_id', '=', task)
      .where('position', '=', position)
      .execute();
}
