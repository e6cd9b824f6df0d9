// One run of a directory: reads its people and its groups, a page a transaction, then ends who may end. What was read of a page is whole before
// anything of it is written; only a run that read everything, and found something, says who is no longer there.
import { forgetGroups } from '../storage/records/directory-endings.ts';
import { holdUnseen, listDirectoryLinks } from '../storage/records/directory-links.ts';
import { endRun, giveUpRun, widenRun } from '../storage/registry/extending/ldap-directories.ts';
import { endReleased } from './endings.ts';
import { writeGroups } from './groups.ts';
import { endFailed, judgeEndings, recordRecovered, wasTold } from './guard.ts';
import { type Counted, nothingCounted, openReader, RunLost, type RunningWork, writeIn } from './parts.ts';
import { writePeople } from './people-writer.ts';
import { type ChangeMark, DirectoryFault, type DirectoryReader, type OpenDirectory } from './reading.ts';

const keepEveryMs = 10_000;
const linksAtOnce = 1000;
/** After an error that is not the directory's. */
const againInMs = 60_000;

interface Ends {
  /** Gives a run up. */
  readonly stopped: AbortSignal;
  /** It took longer than one may. */
  readonly late: AbortSignal;
  /** It took longer than one may while others wait. What it wrote stays, so that the next run comes further. */
  readonly crowded: AbortSignal;
}

const isLate = { reason: 'timeout', detail: 'the whole took longer than a run may' } as const;
const isCrowded = { reason: 'timeout', detail: 'the whole took longer than a run may while others wait' } as const;

/** Does a run that was taken up, and ends it whatever becomes of it. */
export async function takeRun(work: RunningWork, open: OpenDirectory, { stopped, late, crowded }: Ends): Promise<void> {
  const { parts, tenant, run } = work;
  const lost = new AbortController();
  const signal = AbortSignal.any([stopped, late, crowded, lost.signal]);
  // A page may take its time to come; the run is kept meanwhile, and given up as soon as it is somebody else's.
  const keeping = setInterval(() => {
    writeIn(work, async () => undefined).catch((error: unknown) => {
      if (error instanceof RunLost) lost.abort();
    });
  }, keepEveryMs);
  try {
    await readWhole(work, open, signal);
  } catch (error) {
    if (error instanceof RunLost || lost.signal.aborted) return;
    const failed = error instanceof DirectoryFault ? error.failure : undefined;
    const failure = late.aborted ? isLate : crowded.aborted ? isCrowded : failed;
    if (failure !== undefined && !stopped.aborted) return await endFailed(work, failure);
    await parts.database.write(tenant.id, (queries) => giveUpRun(queries, run, stopped.aborted ? 0 : againInMs));
    if (!stopped.aborted) throw error;
  } finally {
    clearInterval(keeping);
  }
}

async function readWhole(work: RunningWork, open: OpenDirectory, signal: AbortSignal): Promise<void> {
  const { parts, directory, run } = work;
  const counted = nothingCounted();
  const reader = await openReader(open, work, signal);
  try {
    const since = await findMark(work, reader);
    if (since === undefined && run.run_full === 0) await writeIn(work, (queries) => widenRun(queries, run));
    const taken = await readPages(work, reader, { since, counted, signal });
    counted.referrals = reader.referrals();
    if (since === undefined && taken.people > 0) await holdAllUnseen(work, taken.groups, signal);
    await endReleased(work, counted, signal);
    await judgeEndings(work);
    await endReleased(work, counted, signal);
    const figures = {
      ...{ began_at: timeOf(run.run_began_at ?? 0), ended_at: timeOf(parts.clock.nowMs()) },
      ...{ full: since === undefined, ...counted },
    };
    const { mark = null, server = null } = reader.mark() ?? {};
    await writeIn(work, async (queries) => {
      const failures = await endRun(queries, run, { figures, everyMinutes: directory.everyMinutes, mark, server });
      if (wasTold(failures)) await recordRecovered(work, queries);
    });
  } finally {
    await reader.close();
  }
}

const timeOf = (ms: number): string => new Date(ms).toISOString();

/** From where changes are read; undefined: everything is. Whom an administrator resolved is found by reading everything. */
async function findMark({ parts, tenant, whose, run }: RunningWork, reader: DirectoryReader): Promise<ChangeMark | undefined> {
  if (run.run_full === 1 || run.change_mark === null || run.change_server === null) return undefined;
  const since = { mark: run.change_mark, server: run.change_server };
  if (!reader.canReadSince(since)) return undefined;
  const pending = await parts.database.read(tenant.id, (queries) =>
    listDirectoryLinks(queries, whose, { state: 'pending', after: '', limit: 1 }),
  );
  return pending.length > 0 ? undefined : since;
}

interface Reading {
  readonly since: ChangeMark | undefined;
  readonly counted: Counted;
  readonly signal: AbortSignal;
}

/** Writes what is read. Gives how many people and groups could be taken: of an answer without any, nothing follows. */
async function readPages(
  work: RunningWork,
  reader: DirectoryReader,
  { since, counted, signal }: Reading,
): Promise<{ readonly people: number; readonly groups: number }> {
  const taken = { people: 0, groups: 0 };
  let rejoins = false;
  for await (const page of reader.people(since)) {
    signal.throwIfAborted();
    taken.people += page.entries.length;
    if (await writePeople(work, page, counted)) rejoins = true;
  }
  if (work.directory.groups === 'none') return taken;
  for await (const page of reader.groups(rejoins ? undefined : since)) {
    signal.throwIfAborted();
    taken.groups += page.entries.length;
    await writeGroups(work, page, counted);
  }
  return taken;
}

/** Lets whoever was not seen wait for their end: people, and groups where there are any; those that are copied no more are nobody's but ours. */
async function holdAllUnseen(work: RunningWork, groups: number, signal: AbortSignal): Promise<void> {
  const { whose, run, directory } = work;
  if (directory.groups === 'none') await writeIn(work, (queries) => forgetGroups(queries, whose));
  const kind = groups === 0 ? 'user' : undefined;
  for (let after: string | undefined = ''; after !== undefined; ) {
    signal.throwIfAborted();
    const page: Parameters<typeof holdUnseen>[3] = { after, limit: linksAtOnce, ...(kind !== undefined && { kind }) };
    after = await writeIn<string | undefined>(work, (queries) => holdUnseen(queries, whose, run.run, page));
  }
}
