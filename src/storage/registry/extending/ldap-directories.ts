// Directories of LDAP beside the rows of their kind: where each stands. A run is taken up by one conditional statement, which gives it a number
// and some time; whoever has that number keeps it while they work, and nobody else reads the directory. A change of the directory ends the
// run that is under way: its number is none any more.
import { type Generated, sql } from 'kysely';
import type { DirectoryFailure, RunFigures } from '../../../domain/extending/directory-runs.ts';
import { directoryKind, type LdapDirectory } from '../../../domain/extending/ldap-directory.ts';
import type { LdapDirectoryId, TenantId } from '../../../domain/ids.ts';
import type { ConfigCache } from '../../engine/config/config-cache.ts';
import type { Queries } from '../../engine/database.ts';
import { databaseNowMs } from '../../engine/instance.ts';
import { rowsOf } from '../kind-rows.ts';

export interface DirectoryStateTable {
  tenant_id: TenantId;
  directory_id: LdapDirectoryId;
  /** How far changes were read: a number or a time of the directory's own, of the server beside it. */
  change_mark: string | null;
  change_server: string | null;
  /** When the next run may be taken up; while there is one, until when whoever has it may be silent. Null: never. */
  next_at: number | null;
  /** When somebody last asked for a run that has not ended yet. */
  asked_at: number | null;
  asked_full: Generated<number>;
  /** When the last run that read everything began; null: the next one does. */
  full_at: number | null;
  /** Of the last run that was taken up. */
  run: Generated<number>;
  /** While there is one. */
  run_began_at: number | null;
  run_full: Generated<number>;
  held_since: number | null;
  approved_at: Generated<number>;
  /** JSON: the figures of the last run that ended well. */
  last_run: string | null;
  failure: string | null;
  failure_detail: string | null;
  failed_at: number | null;
  /** One after the other. */
  failures: Generated<number>;
}

export type DirectoryState = Readonly<{
  [Column in keyof DirectoryStateTable]: DirectoryStateTable[Column] extends Generated<infer V> ? V : DirectoryStateTable[Column];
}>;

/** How long whoever has a run may be silent. */
const claimMs = 120_000;

const rows = rowsOf<(typeof directoryKind)['fields'], LdapDirectoryId>(directoryKind);
/** With its sealed password. */
export const findLdapDirectory = rows.find;

/** More than a tenant may have. */
const allRows = 1000;
/** Every directory of a tenant, from memory where nothing changed. */
export const listCachedDirectories = (cache: ConfigCache, tenant: TenantId): Promise<readonly LdapDirectory[]> =>
  cache.get(tenant, 'directories', (queries) => rows.page(queries, tenant, { after: '', limit: allRows }));

const now = databaseNowMs;
const stateOf = (queries: Queries, tenant: TenantId, id: LdapDirectoryId) =>
  queries.updateTable('directory_states').where('tenant_id', '=', tenant).where('directory_id', '=', id);

/** Lets a new directory begin with everybody. */
export async function beginDirectory(queries: Queries, tenant: TenantId, { id, enabled }: LdapDirectory): Promise<void> {
  await queries
    .insertInto('directory_states')
    .values({ tenant_id: tenant, directory_id: id, next_at: enabled ? now : null })
    .execute();
  await noteDue(queries, tenant);
}

/** After a change of a directory: the run under way ends, and the next begins at once; with everything where it is read otherwise. */
export async function restartDirectory(
  queries: Queries,
  tenant: TenantId,
  { id, enabled }: LdapDirectory,
  { readsEverything }: { readonly readsEverything: boolean },
): Promise<void> {
  const anew = { change_mark: null, change_server: null, full_at: null, held_since: null };
  await stateOf(queries, tenant, id)
    .set({ run: sql<number>`run + 1`, run_began_at: null, next_at: enabled ? now : null, ...(readsEverything && anew) })
    .execute();
  await noteDue(queries, tenant);
}

/** Where a directory stands. */
export async function findDirectoryState(queries: Queries, tenant: TenantId, id: LdapDirectoryId): Promise<DirectoryState | undefined> {
  return queries
    .selectFrom('directory_states')
    .selectAll()
    .where('tenant_id', '=', tenant)
    .where('directory_id', '=', id)
    .executeTakeFirst();
}

/** Has the next run begin at once, or behind the one under way; `full`: it reads everything. */
export async function askForRun(
  queries: Queries,
  tenant: TenantId,
  id: LdapDirectoryId,
  { full }: { readonly full: boolean },
): Promise<void> {
  await stateOf(queries, tenant, id)
    .set({
      asked_at: now,
      ...(full && { asked_full: 1 }),
      next_at: sql<number>`CASE WHEN run_began_at IS NULL THEN ${now} ELSE next_at END`,
    })
    .execute();
  await noteDue(queries, tenant);
}

/** A run that was taken up; `run_full` says whether it reads everything. */
interface ClaimedRun {
  readonly run: DirectoryState;
  /** As it is read: whoever changes it ends the run. */
  readonly directory: LdapDirectory;
}

/** Takes a run up that is due; undefined when there is none, or somebody else has it. One of a directory that is not enabled is none. */
export async function claimRun(
  queries: Queries,
  tenant: TenantId,
  { id, fullEveryHours }: Pick<LdapDirectory, 'id' | 'fullEveryHours'>,
): Promise<ClaimedRun | undefined> {
  const isFull = sql<number>`CASE WHEN asked_full = 1 OR full_at IS NULL OR full_at <= ${now} - ${fullEveryHours * 3_600_000} THEN 1 ELSE 0 END`;
  const claimed = await stateOf(queries, tenant, id)
    .set({ run: sql<number>`run + 1`, run_began_at: now, run_full: isFull, next_at: sql<number>`${now} + ${claimMs}` })
    .where('next_at', '<=', now)
    .returningAll()
    .executeTakeFirst();
  if (claimed === undefined) return undefined;
  // Behind the claim, which waits for whoever changes the directory.
  const directory = await rows.find(queries, tenant, id);
  const isEnabled = directory?.enabled === true;
  if (!isEnabled) await stateOf(queries, tenant, id).set({ next_at: null, run_began_at: null }).execute();
  await noteDue(queries, tenant);
  return isEnabled ? { run: claimed, directory } : undefined;
}

export type Run = Pick<DirectoryState, 'tenant_id' | 'directory_id' | 'run'>;

const runOf = (queries: Queries, { tenant_id: tenant, directory_id: id, run }: Run) =>
  stateOf(queries, tenant, id).where('run', '=', run).where('run_began_at', 'is not', null);

/** Keeps a run, in the transaction of what it writes; false when it is somebody else's, or the directory was changed: nothing may be written. */
export async function keepRun(queries: Queries, run: Run): Promise<boolean> {
  const kept = await runOf(queries, run)
    .set({ next_at: sql<number>`${now} + ${claimMs}` })
    .returning('run')
    .executeTakeFirst();
  return kept !== undefined;
}

/** Notes that a run reads everything, though it need not have: changes cannot be read. */
export async function widenRun(queries: Queries, run: Run): Promise<void> {
  await runOf(queries, run).set({ run_full: 1 }).execute();
}

/** Gives up a run that was kept from reading to the end, by nothing that is the directory's: it is tried again after a time. */
export async function giveUpRun(queries: Queries, run: Run, againInMs: number): Promise<void> {
  await runOf(queries, run)
    .set({ next_at: sql<number>`${now} + ${againInMs}`, run_began_at: null })
    .execute();
  await noteDue(queries, run.tenant_id);
}

/** Has a run's people wait for approval; false when they do already. */
export async function holdRun(queries: Queries, run: Run): Promise<boolean> {
  const held = await runOf(queries, run).set({ held_since: now }).where('held_since', 'is', null).returning('run').executeTakeFirst();
  return held !== undefined;
}

/** Nobody waits for approval any more. */
export async function endHold(queries: Queries, run: Run): Promise<void> {
  await runOf(queries, run).set({ held_since: null }).execute();
}

/** Approves the ends of one run; false when nobody waits. */
export async function approveHeld(queries: Queries, tenant: TenantId, id: LdapDirectoryId): Promise<boolean> {
  const approved = await stateOf(queries, tenant, id)
    .set({ held_since: null, approved_at: now })
    .where('held_since', 'is not', null)
    .returning('directory_id')
    .executeTakeFirst();
  return approved !== undefined;
}

interface RunEnd {
  readonly figures: RunFigures;
  readonly everyMinutes: number;
  /** How far changes were read, and at which server. */
  readonly mark: string | null;
  readonly server: string | null;
}

const wasAsked = sql<boolean>`asked_at > run_began_at`;

/** Ends a run that read what it was to; the next is due in so many minutes, or at once where somebody asked meanwhile. Gives how often it had failed before. */
export async function endRun(queries: Queries, run: Run, { figures, everyMinutes, mark, server }: RunEnd): Promise<number> {
  const before = await findDirectoryState(queries, run.tenant_id, run.directory_id);
  const ended = await runOf(queries, run)
    .set({
      ...{ change_mark: mark, change_server: server, last_run: JSON.stringify(figures) },
      ...{ failure: null, failure_detail: null, failed_at: null, failures: 0 },
      full_at: sql<number | null>`CASE WHEN run_full = 1 THEN run_began_at ELSE full_at END`,
      next_at: sql<number>`CASE WHEN ${wasAsked} THEN ${now} ELSE ${now} + ${everyMinutes * 60_000} END`,
      asked_full: sql<number>`CASE WHEN ${wasAsked} THEN asked_full ELSE 0 END`,
      asked_at: sql<number | null>`CASE WHEN ${wasAsked} THEN asked_at ELSE NULL END`,
      run_began_at: null,
    })
    .returning('run')
    .executeTakeFirst();
  await noteDue(queries, run.tenant_id);
  return ended === undefined ? 0 : (before?.failures ?? 0);
}

/** Ends a run that failed; it is tried again after a time. Gives how often it failed one after the other; 0 when it is somebody else's. */
export async function failRun(queries: Queries, run: Run, { reason, detail }: DirectoryFailure, againInMs: number): Promise<number> {
  const failed = await runOf(queries, run)
    .set({
      ...{ failure: reason, failure_detail: detail, failed_at: now, failures: sql<number>`failures + 1` },
      next_at: sql<number>`${now} + ${againInMs}`,
      run_began_at: null,
    })
    .returning('failures')
    .executeTakeFirst();
  await noteDue(queries, run.tenant_id);
  return failed?.failures ?? 0;
}

/** The directories of a tenant with a run to take up. */
export async function listDueDirectories(queries: Queries, tenant: TenantId): Promise<readonly LdapDirectory[]> {
  const due = await queries
    .selectFrom('directory_states')
    .select('directory_id')
    .where('tenant_id', '=', tenant)
    .where('next_at', '<=', now)
    .orderBy('next_at')
    .execute();
  const found: LdapDirectory[] = [];
  for (const { directory_id: id } of due) {
    const directory = await rows.find(queries, tenant, id);
    if (directory !== undefined) found.push(directory);
  }
  return found;
}

const mayRun = sql<boolean>`directories_due_at <= ${now} AND enabled = 1 AND moving IS NULL`;
/** Whether there are such tenants, as a condition. */
export const areDirectoriesDue = sql<boolean>`EXISTS (SELECT 1 FROM tenants WHERE ${mayRun})`;

/** Tenants whose directories may be due, the longest due first. One whose directories are not wants `noteDue`. */
export async function listTenantsWithDueDirectories(queries: Queries, limit: number): Promise<readonly TenantId[]> {
  const due = await queries.selectFrom('tenants').select('tenant_id').where(mayRun).orderBy('directories_due_at').limit(limit).execute();
  return due.map(({ tenant_id: tenant }) => tenant);
}

/** Writes down when the first of a tenant's directories is due. */
export async function noteDue(queries: Queries, tenant: TenantId): Promise<void> {
  const first = sql<number | null>`(SELECT min(next_at) FROM directory_states WHERE tenant_id = ${tenant} AND next_at IS NOT NULL)`;
  await queries.updateTable('tenants').set({ directories_due_at: first }).where('tenant_id', '=', tenant).execute();
}
