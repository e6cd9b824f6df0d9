// Two things that stop a directory, and tell the administrators: a run by which many would end, or whoever holds a role or manages an organisation, waits for somebody's
// word; and one that cannot be read, for a while, is told of once.
import { mailAdministrators } from '../approvals/mailed/administrators-mail.ts';
import type { DirectoryFailure } from '../domain/extending/directory-runs.ts';
import { areManyEndings } from '../domain/extending/many-endings.ts';
import { mails } from '../mails/registry.ts';
import type { Queries } from '../storage/engine/database.ts';
import { listLinkedHolders } from '../storage/people/directories/ldap-people.ts';
import { insertAuditEvent } from '../storage/records/audit-events.ts';
import { countEnding, endingsTogetherMs, releaseEnding } from '../storage/records/directory-links.ts';
import { endHold, failRun, findDirectoryState, holdRun } from '../storage/registry/extending/ldap-directories.ts';
import { type RunningWork, writeIn } from './parts.ts';

const firstPauseMs = 60_000;
const pauseMsMax = 3_600_000;
/** One after the other: some minutes, so that a restart there is nobody's trouble. */
const failuresUntold = 2;

export const wasTold = (failures: number): boolean => failures > failuresUntold;

/** Lets people and groups end that wait, or asks the administrators: when they are many, and for each who holds a role or manages an organisation. */
export async function judgeEndings(work: RunningWork): Promise<void> {
  const { parts, tenant, directory, whose, run } = work;
  await writeIn(work, async (queries) => {
    const state = await findDirectoryState(queries, tenant.id, directory.id);
    const since = Math.max(state?.approved_at ?? 0, parts.clock.nowMs() - endingsTogetherMs);
    const people = await countEnding(queries, whose, since);
    const groups = await countEnding(queries, whose, since, 'group');
    if (people.held + groups.held === 0) {
      if (state?.held_since != null) await endHold(queries, run);
      return;
    }
    const holders = await listLinkedHolders(queries, whose, { onlyEnding: true });
    const areMany =
      areManyEndings(people.held - holders.length + people.ended, people.linked + people.ended) ||
      areManyEndings(groups.held + groups.ended, groups.linked + groups.ended);
    if (!areMany && people.held + groups.held > holders.length) await releaseEnding(queries, whose, { but: holders });
    const waiting = areMany ? people.held : holders.length;
    if (!areMany && waiting === 0) {
      if (state?.held_since != null) await endHold(queries, run);
      return;
    }
    if (!(await holdRun(queries, run))) return;
    await record(work, queries, { type: 'directory.held', data: { users: waiting } });
    await tell(work, queries, 'approval');
  });
}

/** Ends a run that could not read its directory; the next comes after a minute, and later after up to an hour. */
export async function endFailed(work: RunningWork, failure: DirectoryFailure): Promise<void> {
  const { parts, tenant, run } = work;
  const pauseMs = Math.min(firstPauseMs * 2 ** Math.min(run.failures, 10), pauseMsMax);
  await parts.database.write(tenant.id, async (queries) => {
    const failures = await failRun(queries, run, failure, pauseMs);
    if (failures !== failuresUntold + 1) return;
    await record(work, queries, { type: 'directory.failed', reason: failure.reason, data: { detail: failure.detail ?? '' } });
    await tell(work, queries, 'failing');
  });
}

/** Notes that a directory can be read again of which it was told that it cannot. */
export const recordRecovered = (work: RunningWork, queries: Queries): Promise<void> =>
  record(work, queries, { type: 'directory.recovered', data: {} });

async function record(
  { parts, tenant, directory }: RunningWork,
  queries: Queries,
  event:
    | { readonly type: 'directory.held'; readonly data: { readonly users: number } }
    | { readonly type: 'directory.failed'; readonly reason: string; readonly data: { readonly detail: string } }
    | { readonly type: 'directory.recovered'; readonly data: object },
): Promise<void> {
  const facts = { ...event, actor: 'system', target: `directory:${directory.id}` };
  await insertAuditEvent(queries, tenant.id, parts.clock.nowMs(), facts as Parameters<typeof insertAuditEvent>[3]); // a row of the catalogue each
}

const tell = ({ parts, tenant, directory }: RunningWork, queries: Queries, reason: 'failing' | 'approval'): Promise<void> =>
  mailAdministrators(queries, parts, tenant, (to, language) =>
    mails.stopped.make({ kind: 'directory', tenantName: tenant.name, language, name: directory.name, reason }, to),
  );
