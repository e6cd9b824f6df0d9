// Inviting people from a spreadsheet: pasted or uploaded, each line checked before anything is done, what is wrong told beside its line and
// mended there, and then done in steps that can be stopped. No line is lost by another that is wrong.
import type { FastifyReply } from 'fastify';
import { consoleUploadBytesMax, invitedAtOnceMax, spreadsheetLinesMax } from '../../contract/limits.ts';
import { foldKey } from '../../domain/fold.ts';
import type { ApiAnswer } from '../../first-party/app-api.ts';
import type { Typed } from '../../first-party/app-form.ts';
import { csrfField, type Notice, table } from '../../first-party/app-page.ts';
import { type Html, html } from '../../platform/html.ts';
import { readSeparated, type SeparatedRecord, separatorOf } from '../../platform/separated-values.ts';
import { listTaskItems, settleTaskItems, type TaskItem } from '../../storage/records/console-tasks.ts';
import { finish, frameOf, manage, showPage, type Visit } from '../console-visit.ts';
import { mayChange } from '../frame/allowed.ts';
import { sendCsv } from '../frame/csv-export.ts';
import { consolePath } from '../frame/navigation.ts';
import type { UploadForm } from '../uploaded-file.ts';
import { type Column, columnsOf, columnsWithoutHeads, personOf } from './spreadsheet-columns.ts';
import { countsOf, type Settled, setOptions, startTask, type Task, workOn } from './task.ts';
import { peopleOf, proceed, progress, type TaskKind, taskPath, wrongOf } from './task-progress.ts';

type Json = Readonly<Record<string, unknown>>;

const path = '/users/spreadsheet';
const shownOfEach = 10;
const mendedAtOnce = 50;
export const spreadsheetAction = 'spreadsheet';

interface Sheet {
  readonly separator: ReturnType<typeof separatorOf>;
  readonly columns: readonly Column[];
  readonly heads: readonly string[];
  /** Set when it began. */
  readonly invite?: 'mail' | 'none';
}

interface Line {
  readonly line: number;
  readonly text: string;
  /** Somebody has the address. */
  readonly isHere?: boolean;
}

const sheetOf = ({ options }: Task): Sheet => options as unknown as Sheet; // written by startTask below
const lineOf = ({ item }: TaskItem): Line => JSON.parse(item) as Line; // the same
const nothing = 'No line of people is here. Paste lines, or choose a file.';

export function spreadsheetPage(visit: Visit, pasted = '', notice?: Notice): FastifyReply {
  const { tenant } = visit.request;
  return showPage(
    visit,
    'Invite from a spreadsheet',
    html`<p class="muted">One person a line, ${spreadsheetLinesMax.toLocaleString('en')} at most. The first line names the columns: <code>email</code> and, as you like, <code>given name</code>, <code>family name</code>, <code>groups</code>, <code>roles</code>, <code>title</code>, <code>department</code> or any other attribute. Several groups go into one cell with semicolons between them. You see what is wrong with which line before anybody is invited.</p>
<form class="card" method="post" enctype="multipart/form-data" action="${consolePath(tenant, path)}">${csrfField(frameOf(visit))}
<div class="field"><label for="file">A file</label><input type="file" id="file" name="file" accept=".csv,.tsv,.txt,text/csv,text/plain"><p class="hint">CSV as Excel, Numbers, LibreOffice and Google Sheets write it, in UTF-8.</p></div>
<div class="field"><label for="lines">Or paste lines from a spreadsheet</label><textarea id="lines" name="lines" rows="8" spellcheck="false" placeholder="email,given name,family name,groups">\n${pasted}</textarea></div>
<div class="bar end"><button id="check">Check the lines</button> <a class="button quiet" href="${consolePath(tenant, '/users')}">Cancel</a></div></form>`,
    notice,
  );
}

export async function readSpreadsheet(visit: Visit, { fields, file }: UploadForm): Promise<FastifyReply> {
  const pasted = fields.get('lines') ?? '';
  const refuse = (text: string): FastifyReply => spreadsheetPage(visit, pasted, { kind: 'bad', text });
  const text = file === undefined ? pasted : textOf(file);
  if (text === undefined) return refuse('The file is not in UTF-8. Save it as “CSV UTF-8”.');
  if (Buffer.byteLength(text) > consoleUploadBytesMax) return refuse('That is too long: save it in parts.');
  const separator = separatorOf(text);
  const records = [...readSeparated(text, separator)];
  const [first] = records;
  if (first === undefined) return refuse(nothing);
  const { customAttributes } = visit.request.tenant;
  const named = columnsOf(first.cells, customAttributes);
  if (named !== undefined && !named.includes('emails')) return refuse('No column is called email. Name the columns in the first line.');
  const lines = named === undefined ? records : records.slice(1);
  const columns = named ?? columnsWithoutHeads(first.cells);
  if (lines.length === 0) return refuse(nothing);
  if (lines.length > spreadsheetLinesMax)
    return refuse(`${spreadsheetLinesMax.toLocaleString('en')} lines at most at once, ${lines.length.toLocaleString('en')} are here.`);
  const sheet: Sheet = { separator, columns, heads: named === undefined ? [] : first.cells };
  const task = await startTask(visit, spreadsheetAction, { ...sheet }, unlessTwice(sheet, lines));
  return checkLines(visit, task);
}

/** The text of a file; a mark of its encoding is no part of it. */
function textOf(file: Buffer): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(file);
  } catch {
    return undefined;
  }
}

/** Each line to be checked, but those whose address an earlier one has. */
function unlessTwice({ columns }: Sheet, lines: readonly SeparatedRecord[]) {
  const lineOfAddress = new Map<string, number>();
  return lines.map(({ line, cells, text }): Omit<TaskItem, 'position'> => {
    const item = JSON.stringify({ line, text } satisfies Line);
    const address = foldKey(cells[columns.indexOf('emails')] ?? '');
    const earlier = lineOfAddress.get(address);
    if (earlier !== undefined && address !== '') return { item, state: 'wrong', told: `Line ${earlier} has the same address.` };
    lineOfAddress.set(address, line);
    return { item, state: 'unchecked', told: null };
  });
}

/** Has the API say of each line what would come of it. */
async function checkLines(visit: Visit, task: Task): Promise<FastifyReply> {
  await workOn(visit, task, 'unchecked', (own, _task, items) => send(own, task, items, { dry_run: true }), invitedAtOnceMax);
  const { unchecked } = await countsOf(visit, task);
  return finish(visit, taskPath(task, unchecked > 0 ? '?go=on' : ''), undefined);
}

interface Outcome {
  readonly state: string;
  readonly is_new: boolean;
  readonly fault: { readonly kind: string | null; readonly message: string } | null;
}

/** Sends the people of some lines; those that are no person are told without a call. */
async function send(visit: Visit, task: Task, items: readonly TaskItem[], how: Json): Promise<readonly Settled[]> {
  const { columns, separator } = sheetOf(task);
  const { customAttributes } = visit.request.tenant;
  const people = items.map((item) => {
    const [record] = readSeparated(lineOf(item).text, separator);
    return personOf(columns, record?.cells ?? [], customAttributes);
  });
  const sent = people.filter((person): person is Json => typeof person !== 'string');
  const answer = sent.length === 0 ? undefined : await manage(visit, 'POST', '/invitations', { people: sent, ...how });
  if (answer !== undefined && mustWait(answer)) return [];
  const outcomes = (answer?.body['items'] ?? []) as readonly Outcome[]; // the API's shape
  let at = 0;
  return people.map((person, index): Settled => {
    if (typeof person === 'string') return { state: 'wrong', told: person };
    const outcome = outcomes[at];
    at += 1;
    if (answer?.status !== 200) return { state: 'wrong', told: String(answer?.body['message'] ?? 'It was refused.') };
    return outcome && settled(items[index]!, outcome);
  });
}

/** Asked too often, or too much at once: later. */
const mustWait = ({ status }: ApiAnswer): boolean => status === 429 || status === 503;

function settled(item: TaskItem, { state, is_new: isNew, fault }: Outcome): Settled {
  if (state === 'refused') return { state: 'wrong', told: faultText(fault?.kind ?? null, fault?.message ?? '') };
  const known = JSON.stringify({ ...lineOf(item), isHere: !isNew } satisfies Line);
  return { item: known, state: state === 'ready' ? 'ready' : 'done', told: null };
}

/** What the API says of a field, with the name of the column. */
function faultText(kind: string | null, message: string): string {
  if (kind === 'emails' && message.startsWith('This field')) return 'email: expected an address such as ada@example.com';
  return kind === null || kind === 'emails' || kind === 'state' ? message : `${nameOfColumn(kind)}: ${message}`;
}
const nameOfColumn = (column: string): string =>
  ({ emails: 'email', admin_roles: 'roles' })[column] ?? column.replace(/^(?:name|enterprise|custom)\./, '').replaceAll('_', ' ');

export const spreadsheetKind: TaskKind = {
  title: (task, { done, ready, unchecked }) =>
    `${sheetOf(task).invite === 'none' ? 'Add' : 'Invite'} ${peopleOf(done + ready + unchecked)}`,
  told: (task, done) => `${peopleOf(done)} ${done === 1 ? 'was' : 'were'} ${sheetOf(task).invite === 'none' ? 'added' : 'invited'}.`,
  nameOf: (item) => lineOf(item).text,
  work: (visit, task, items) => send(visit, task, items, { invite: sheetOf(task).invite ?? 'none' }),
  atOnce: invitedAtOnceMax,
  back: '/users',
};

/** The lines of a spreadsheet: while they are checked, before and while they are done, and after. */
export async function sheetPage(visit: Visit, task: Task, notice?: Notice): Promise<FastifyReply> {
  const counts = await countsOf(visit, task);
  const { invite } = sheetOf(task);
  const { unchecked, ready, done, wrong } = counts;
  const checked = { done: ready + done, left: unchecked, wrong, below: '/check', verb: 'checked' };
  const made = { done, left: ready, wrong: 0, below: '/run', verb: invite === 'none' ? 'added' : 'invited' };
  const isOver = unchecked === 0 && ready === 0 && invite !== undefined;
  const part =
    unchecked > 0
      ? progress(visit, task, checked)
      : invite === undefined
        ? await preview(visit, task, ready)
        : ready > 0
          ? progress(visit, task, made)
          : undefined;
  const told: Notice | undefined = isOver
    ? { kind: wrong === 0 ? 'good' : 'partly', text: `${spreadsheetKind.told(task, done)}${wrong > 0 ? ` ${wrongText(wrong)}` : ''}` }
    : undefined;
  return showPage(
    visit,
    spreadsheetKind.title(task, counts),
    html`${isOver && html`<div class="bar">${invite === 'mail' && html`<a class="button quiet" id="waiting-people" href="${consolePath(visit.request.tenant, '/users/invited')}">Who has not come yet</a>`}<a class="button quiet" id="to-people" href="${consolePath(visit.request.tenant, '/users')}">People</a></div>`}${part}${wrong > 0 && (await mending(visit, task, wrong))}`,
    notice ?? told,
    notice === undefined ? { status: 200 } : {},
  );
}

const wrongText = (wrong: number): string =>
  wrong === 1 ? '1 line has a fault: mend it below.' : `${wrong.toLocaleString('en')} lines have a fault: mend them below.`;

/** What would be done, before it is. */
async function preview(visit: Visit, task: Task, ready: number): Promise<Html> {
  const { tenant } = visit.request;
  const { heads, columns, separator } = sheetOf(task);
  const wanted = { state: 'ready', after: 0, limit: shownOfEach } as const;
  const items = await visit.services.database.read(tenant.id, (queries) => listTaskItems(queries, tenant.id, task.id, wanted));
  const shown = columns.flatMap((column, index) => (column === null ? [] : [index]));
  const left = heads.filter((head, index) => columns[index] === null && head !== '');
  const rows = items.map((item) => {
    const { text, isHere } = lineOf(item);
    const [record] = readSeparated(text, separator);
    return [...shown.map((index) => record?.cells[index] ?? ''), isHere === true ? 'is here already: is invited again' : 'is new'];
  });
  const names = [...shown.map((index) => nameOfColumn(columns[index] ?? '')), 'Who'];
  return html`${left.length > 0 && html`<p class="notice partly">Left out: ${left.map((head) => `“${head}”`).join(', ')}. No attribute is called so.</p>`}
${ready === 0 ? html`<p>No line can be used as it is.</p>` : html`<p>${ready === 1 ? '1 line is' : `${ready.toLocaleString('en')} lines are`} ready${ready > items.length && `, the first ${items.length} of them here`}.</p>${table('Ready', names, rows)}`}
${ready > 0 && startForm(visit, task, ready)}`;
}

function startForm(visit: Visit, task: Task, ready: number): Html {
  const { tenant } = visit.request;
  const button = (by: string, id: string, label: string, isQuiet: boolean): Html =>
    html`<button id="${id}" name="invite" value="${by}"${isQuiet && html` class="quiet"`}>${label}</button>`;
  const mayMail = tenant.canMail && mayChange(visit, '/invitations');
  return html`<form class="bar" method="post" action="${consolePath(tenant, taskPath(task, '/start'))}">${csrfField(frameOf(visit))}${mayMail && button('mail', 'invite-all', `Invite ${peopleOf(ready)} by mail`, false)}${button('none', 'add-all', `Add ${peopleOf(ready)} without a mail`, mayMail)}</form>`;
}

/** The lines that are wrong, each with what is wrong, to be mended where they stand. */
async function mending(visit: Visit, task: Task, wrong: number): Promise<Html> {
  const { tenant } = visit.request;
  const items = await wrongOf(visit, task, 0, mendedAtOnce);
  const field = (item: TaskItem): Html => {
    const { line, text } = lineOf(item);
    const id = `line-${item.position}`;
    return html`<div class="field"><label for="${id}">Line ${String(line)}</label><input type="text" id="${id}" name="${id}" value="${text}" spellcheck="false" aria-invalid="true" aria-describedby="${id}-wrong"><p class="wrong" id="${id}-wrong">${item.told ?? ''}</p></div>`;
  };
  return html`<h2>${wrong === 1 ? '1 line with a fault' : `${wrong.toLocaleString('en')} lines with a fault`}</h2><form class="card lines" method="post" action="${consolePath(tenant, taskPath(task, '/lines'))}">${csrfField(frameOf(visit))}<p class="muted">They are left out until they are mended. Empty a line to drop it.${wrong > items.length && ` The first ${items.length} are shown.`}</p>${items.map(field)}<div class="bar"><button id="mend">Check these again</button> <a class="button quiet" id="wrong-csv" href="${consolePath(tenant, taskPath(task, '/wrong'))}">All of them as CSV</a></div></form>`;
}

/** Takes what was mended, and has it checked. */
export async function mendLines(visit: Visit, typed: Typed, task: Task): Promise<FastifyReply> {
  const { tenant } = visit.request;
  const mended: TaskItem[] = [];
  for (const item of await wrongOf(visit, task, 0, mendedAtOnce)) {
    const given = typed.get(`line-${item.position}`);
    if (given === null) continue;
    const state = given.trim() === '' ? 'dropped' : 'unchecked';
    mended.push({ ...item, item: JSON.stringify({ line: lineOf(item).line, text: given } satisfies Line), state, told: null });
  }
  await visit.services.database.write(tenant.id, (queries) => settleTaskItems(queries, tenant.id, task.id, mended));
  return checkLines(visit, task);
}

export const recheck = (visit: Visit, task: Task): Promise<FastifyReply> => checkLines(visit, task);

/** Begins, as it was chosen. */
export async function startSheet(visit: Visit, typed: Typed, task: Task): Promise<FastifyReply> {
  const invite = typed.get('invite') === 'mail' ? 'mail' : 'none';
  return proceed(visit, await setOptions(visit, task, { invite }), spreadsheetKind, false);
}

/** The lines that are wrong, with what is wrong. */
export async function exportWrong(visit: Visit, task: Task): Promise<FastifyReply> {
  const { heads, columns, separator } = sheetOf(task);
  const names = columns.map((column, index) => heads[index] ?? column ?? `column ${index + 1}`);
  async function* pages() {
    let after = 0;
    for (;;) {
      const items = await wrongOf(visit, task, after, 200);
      if (items.length === 0) return;
      after = items.at(-1)!.position;
      yield items.map((item) => {
        const [record] = readSeparated(lineOf(item).text, separator);
        return { ...Object.fromEntries(names.map((name, index) => [name, record?.cells[index] ?? ''])), fault: item.told ?? '' };
      });
    }
  }
  return sendCsv(visit, 'lines with a fault', pages);
}
