// The routes of tasks: their page, what goes on with them, and what is mended in the lines of a spreadsheet.
import type { FastifyReply } from 'fastify';
import { reject } from '../../contract/contract-error.ts';
import type { Typed } from '../../first-party/app-form.ts';
import { html } from '../../platform/html.ts';
import { showPage, takeForm, type Visit } from '../console-visit.ts';
import { consolePath } from '../frame/navigation.ts';
import { bulkKindOf } from '../people/bulk-pages.ts';
import { exportWrong, mendLines, recheck, sheetPage, spreadsheetAction, spreadsheetKind, startSheet } from './spreadsheet-page.ts';
import { countsOf, loadTask, type Task } from './task.ts';
import { peopleOf, proceed, progress, type TaskKind, wrongTable } from './task-progress.ts';

type Params = Readonly<Record<string, string>>;
type Work = (visit: Visit, task: Task, typed: Typed) => Promise<FastifyReply>;

const isSheet = ({ action }: Task): boolean => action === spreadsheetAction;

/** What is posted below the address of a task. */
const posts: Readonly<Record<string, { readonly ofSheets: boolean; readonly work: Work }>> = {
  run: { ofSheets: false, work: (visit, task) => proceed(visit, task, kindOf(task), false) },
  check: { ofSheets: true, work: (visit, task) => recheck(visit, task) },
  lines: { ofSheets: true, work: (visit, task, typed) => mendLines(visit, typed, task) },
  start: { ofSheets: true, work: (visit, task, typed) => startSheet(visit, typed, task) },
};

function kindOf(task: Task): TaskKind {
  const kind = isSheet(task) ? spreadsheetKind : bulkKindOf(task);
  if (kind === undefined) throw unknownTask();
  return kind;
}

const unknownTask = (): Error => reject('management.not_found', 'unknown_task');

async function taskOf(visit: Visit, params: Params): Promise<Task> {
  const task = await loadTask(visit, params['task'] ?? '');
  if (task === undefined) throw unknownTask();
  return task;
}

export async function taskPage(visit: Visit, params: Params): Promise<FastifyReply> {
  const task = await taskOf(visit, params);
  if (isSheet(task)) return sheetPage(visit, task);
  const kind = kindOf(task);
  const counts = await countsOf(visit, task);
  const { done, ready, wrong } = counts;
  const back = html`<div class="bar"><a class="button quiet" id="back" href="${consolePath(visit.request.tenant, kind.back)}">Back</a></div>`;
  const told =
    ready > 0
      ? undefined
      : ({
          kind: wrong === 0 ? 'good' : 'partly',
          text: `${kind.told(task, done)}${wrong > 0 ? ` ${peopleOf(wrong)} could not be.` : ''}`,
        } as const);
  const bar = ready > 0 && progress(visit, task, { done, left: ready, wrong, below: '/run', verb: 'done' });
  return showPage(visit, kind.title(task, counts), html`${bar}${await wrongTable(visit, task, kind, counts)}${ready === 0 && back}`, told, {
    status: 200,
  });
}

export async function postToTask(visit: Visit, typed: Typed, params: Params): Promise<FastifyReply> {
  const task = await taskOf(visit, params);
  const name = params['act'] ?? '';
  const post = Object.hasOwn(posts, name) ? posts[name] : undefined;
  if (post === undefined || (post.ofSheets && !isSheet(task))) throw unknownTask();
  await takeForm(visit);
  return post.work(visit, task, typed);
}

export async function exportOfTask(visit: Visit, params: Params): Promise<FastifyReply> {
  const task = await taskOf(visit, params);
  if (!isSheet(task)) throw unknownTask();
  return exportWrong(visit, task);
}
