// What `import`, `plan` and `apply` share: the file they read, the run over it, and how they tell what changed.
import { existsSync, statSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { linesOfFile } from '../../administration/declaration/apply.ts';
import type { Declared } from '../../administration/declaration/document.ts';
import { readDeclarations } from '../../administration/declaration/reader.ts';
import {
  type Change,
  checkDocument,
  openSession,
  type Reconciled,
  type ReconcileOptions,
  reconcile,
} from '../../administration/declaration/reconcile.ts';
import { CommandFailure, usage } from '../failure.ts';
import { createProgress } from '../progress.ts';
import { type Administrator, administer, by, loadTenant, type Options, write } from '../registry/administrator.ts';

/** The lines of a file, or of standard input for `-`. Opened when they are first asked for: lines nobody waits for are lost. */
export async function* linesOf(file: string): AsyncGenerator<string> {
  if (file === '-') yield* createInterface({ input: process.stdin, crlfDelay: Number.POSITIVE_INFINITY });
  else yield* linesOfFile(file);
}

/** @throws CommandFailure with exit code 2 */
export function requireFile(file: string): void {
  if (!existsSync(file) || !statSync(file).isFile()) throw usage(`expected a file to read, found none at ${file}`);
}

export interface Run {
  readonly write: boolean;
  readonly prune: boolean;
  /** Print each change. */
  readonly lists: boolean;
  /** End with 3 when something would change. */
  readonly failsOnChanges?: boolean;
  /** Aliases of providers that its organisations name. */
  readonly customers?: ReadonlySet<string> | undefined;
}

/** Reads the file, compares it with the tenant, writes when asked, and prints what came of it; on a server elsewhere where one is named. */
export async function runDocument(file: string, options: Options, run: Run): Promise<void> {
  if (file !== '-') requireFile(file);
  if (options['server'] !== undefined) return (await import('./by-server.ts')).runByServer(file, options, run);
  await administer(options, async (administrator) => {
    // A mistake at the end of the file is told before the first item is written. Standard input is read once.
    const customers = file === '-' ? undefined : await checkDocument(readDeclarations(linesOf(file)));
    await runItems(administrator, options, readDeclarations(linesOf(file)), { ...run, customers });
  });
}

/** What is printed beside the result. */
interface More {
  readonly json: Readonly<Record<string, unknown>>;
  readonly lines: readonly string[];
}

/** As runDocument, with items of whatever origin; `more` is printed beside the result. */
export async function runItems(
  administrator: Administrator,
  options: Options,
  items: AsyncIterable<Declared>,
  run: Run,
  more: () => More = () => ({ json: {}, lines: [] }),
): Promise<void> {
  const progress = createProgress(options);
  const changes: Change[] = [];
  const onChange = (change: Change): void => {
    if (administrator.json) changes.push(change);
    else if (run.lists) write(describeChange(change));
  };
  const reconcileOptions: ReconcileOptions = { write: run.write, prune: run.prune, onChange, onItem: progress.step };
  const tenant = await loadTenant(administrator, options);
  const result = await reconcile(await openSession(administrator, tenant, by, run.customers), items, reconcileOptions);
  progress.end();
  report(administrator, { ...result, changes }, run, more());
}

/** Prints what came of a run, and fails where something stayed out. @throws CommandFailure */
export function report(
  { print }: Pick<Administrator, 'print'>,
  result: Reconciled & { readonly changes: readonly Change[] },
  run: Run,
  more: More = { json: {}, lines: [] },
): void {
  const { changes, created, updated, deleted, unchanged, conflicts, secrets } = result;
  const shownSecrets = secrets.map(({ clientId, secret }) => ({ client_id: clientId, client_secret: secret }));
  print(
    {
      ...(run.lists ? { changes } : {}),
      created,
      updated,
      deleted,
      unchanged,
      conflicts,
      ...(run.write ? { secrets: shownSecrets } : {}),
      ...more.json,
    },
    [
      ...secrets.map(({ clientId, secret }) => `Secret of client ${clientId}, shown once: ${secret}`),
      summaryOf(result, run),
      ...more.lines,
    ],
  );
  if (conflicts.length > 0) throw new CommandFailure(conflictText(result));
  const changed = created + updated + deleted;
  if (run.failsOnChanges === true && changed > 0) throw new CommandFailure(`expected nothing to change, found ${changed} changes`, 3);
}

function summaryOf({ created, updated, deleted, unchanged }: Reconciled, run: Run): string {
  return run.write
    ? `Done: ${created} created, ${updated} changed, ${deleted} deleted, ${unchanged} unchanged.`
    : `Plan: ${created} to create, ${updated} to change, ${deleted} to delete, ${unchanged} unchanged.`;
}

const conflictsShownMax = 20;

function conflictText({ conflicts }: Reconciled): string {
  const shown = conflicts.slice(0, conflictsShownMax).map(({ path, title, text }) => `  ${path} (${title}): ${text}`);
  const more = conflicts.length > shown.length ? [`  and ${conflicts.length - shown.length} more; --json lists them all`] : [];
  return [`${conflicts.length} items stayed out; everything else is done. Correct them and run the command again:`, ...shown, ...more].join(
    '\n',
  );
}

const signs = { create: '+', update: '~', delete: '-' } as const;
const valueCharsMax = 60;

export function describeChange(change: Change): string {
  const head = `${signs[change.action]} ${change.noun} ${change.id ?? ''} ${change.title}`.replaceAll(/ +/g, ' ');
  if (change.action !== 'update') return head;
  return [head, ...change.fields.map(({ name, from, to }) => `    ${name}: ${shortened(from)} -> ${shortened(to)}`)].join('\n');
}

function shortened(value: unknown): string {
  const text = value === undefined ? 'nothing' : JSON.stringify(value);
  return text.length > valueCharsMax ? `${text.slice(0, valueCharsMax)}…` : text;
}
