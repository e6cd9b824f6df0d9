// What a run of a directory would do, and whether it can be read at all: both read it, and write nothing.
import { testedPeopleMax } from '../contract/directory-limits.ts';
import { planDifferencesMax, planPeopleMax } from '../contract/limits.ts';
import {
  type DirectoryFailure,
  type DirectoryPlan,
  type DirectoryTest,
  plannedChanges,
  plannedCounts,
} from '../domain/extending/directory-runs.ts';
import { valuesOfEntry } from '../domain/mappings/directory-values.ts';
import type { Pace } from '../platform/turns/pace.ts';
import { listDirectoryLinks } from '../storage/records/directory-links.ts';
import { openReader, type Work } from './parts.ts';
import { type Claims, type Judged, judgePeople, noClaims, plannedAs } from './people.ts';
import { DirectoryFault, type DirectoryReader, type EntryPage, type OpenDirectory, type PersonEntry } from './reading.ts';

/** On the embedded database a transaction has the loop until it ends. */
const sliceEntries = 50;
const linksAtOnce = 500;

type Counts = { -readonly [Name in keyof DirectoryPlan['counts']]: number };

interface Planning {
  readonly work: Work;
  readonly pace: Pace;
  readonly counts: Counts;
  readonly differences: DirectoryPlan['differences'][number][];
  readonly claims: Claims;
  readonly seen: Set<string>;
}

export async function planRun(work: Work, open: OpenDirectory, signal: AbortSignal, pace: Pace): Promise<DirectoryPlan> {
  const counts = Object.fromEntries(plannedCounts.map((name) => [name, 0])) as Counts; // each of them
  const planning: Planning = { work, pace, counts, differences: [], claims: noClaims(), seen: new Set() };
  let isWhole = false;
  const failure = await reading(work, open, signal, async (reader) => {
    const taken = await planPeople(planning, reader);
    isWhole = taken !== undefined;
    if (taken !== undefined && taken > 0) await planUnseen(planning);
  });
  return { counts, differences: planning.differences, complete: isWhole, failure };
}

/** Reads with a connection that is signed in; gives why it cannot be. */
async function reading(
  work: Work,
  open: OpenDirectory,
  signal: AbortSignal,
  use: (reader: DirectoryReader) => Promise<void>,
): Promise<DirectoryFailure | null> {
  try {
    const reader = await openReader(open, work, signal);
    try {
      await use(reader);
    } finally {
      await reader.close();
    }
    return null;
  } catch (error) {
    if (error instanceof DirectoryFault) return error.failure;
    throw error;
  }
}

/** Gives how many could be taken; undefined when there are more than a plan looks at. */
async function planPeople(planning: Planning, reader: DirectoryReader): Promise<number | undefined> {
  const { work, pace, claims, seen } = planning;
  const { database } = work.parts;
  let taken = 0;
  for await (const { entries, skipped } of reader.people()) {
    for (const page of slicesOfPage({ entries, skipped })) {
      if (seen.size >= planPeopleMax) return undefined;
      await pace();
      taken += page.entries.length;
      const judged = await database.read(work.tenant.id, (queries) => judgePeople(queries, work, page, { isPlan: true, claims }));
      for (const one of judged) note(planning, one, plannedAs(work.directory, one));
    }
  }
  return taken;
}

function* slicesOfPage({ entries, skipped }: EntryPage<PersonEntry>): Generator<EntryPage<PersonEntry>> {
  if (skipped.length > 0) yield { entries: [], skipped };
  for (let at = 0; at < entries.length; at += sliceEntries) yield { entries: entries.slice(at, at + sliceEntries), skipped: [] };
}

function note(
  { counts, differences, seen }: Planning,
  { remoteId, dn, userName }: Pick<Judged, 'remoteId' | 'dn' | 'userName'>,
  action: ReturnType<typeof plannedAs>,
): void {
  if (seen.has(remoteId) || action === 'end') return;
  seen.add(remoteId);
  counts[action] += 1;
  const change = plannedChanges.find((name) => name === action);
  if (change !== undefined && differences.length < planDifferencesMax)
    differences.push({ remote_id: remoteId, dn, user_name: userName, action: change });
}

/** Those who are here and no longer there. */
async function planUnseen(planning: Planning): Promise<void> {
  const { work, pace, seen } = planning;
  const { parts, tenant, whose, directory } = work;
  for (let after = ''; ; ) {
    await pace();
    const links = await parts.database.read(tenant.id, (queries) => listDirectoryLinks(queries, whose, { after, limit: linksAtOnce }));
    for (const { remote_id: remoteId, dn, kind, local_id: id, state } of links)
      if (kind === 'user' && id !== null && state !== 'off' && state !== 'ignored' && !seen.has(remoteId))
        note(planning, { remoteId, dn, userName: null }, directory.deprovision);
    if (links.length < linksAtOnce) return;
    after = links.at(-1)!.remote_id;
  }
}

/** Signs in and reads the first people. */
export async function testDirectory(work: Work, open: OpenDirectory, signal: AbortSignal): Promise<DirectoryTest> {
  const people: DirectoryTest['people'][number][] = [];
  const failure = await reading(work, open, signal, async (reader) => {
    for await (const { entries } of reader.people()) {
      people.push(...entries.slice(0, testedPeopleMax - people.length).map((entry) => shown(work, entry)));
      if (people.length >= testedPeopleMax) return;
    }
  });
  return { failure, people };
}

function shown({ rules, tenant }: Work, { remoteId, dn, isDisabled, attributes }: PersonEntry): DirectoryTest['people'][number] {
  const read = valuesOfEntry(rules, tenant.slug, attributes);
  const values = Object.entries(read.ok ? read.values : {}).map(([to, given]) => [to, given.filter((value) => typeof value !== 'object')]);
  return { remote_id: remoteId, dn, active: !isDisabled, values: Object.fromEntries(values) };
}
