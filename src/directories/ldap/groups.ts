// Groups of a directory with their members. Who is in one by another is known only when all of them are, so all are read first; what they are
// called and hold is handed on by pages.
import { directoryPageEntries, distinguishedNameCharsMax } from '../../contract/directory-limits.ts';
import { type LdapDirectory, readingOf } from '../../domain/extending/ldap-directory.ts';
import { ldapPresets } from '../../domain/extending/ldap-presets.ts';
import { createPace, type Pace } from '../../platform/turns/pace.ts';
import type { ChangeMark, EntryPage, GroupEntry, SkippedEntry } from '../reading.ts';
import type { RawEntry } from './answers.ts';
import type { Changes } from './changes.ts';
import { dnKeyOf } from './dn-key.ts';
import { type Known, type TakenOrSkipped, takeEntry, textOf } from './entry.ts';
import { faultOf } from './faults.ts';
import { createGroupGraph, type GroupGraph } from './group-graph.ts';
import { furtherMembers, memberAttributes, memberKeys, type RawMembers, rawMembers } from './group-members.ts';
import { type ReadingLimits, readPages } from './pages.ts';
import type { Session } from './session.ts';

export interface Reading {
  readonly session: Session;
  readonly directory: LdapDirectory;
  readonly changes: Changes;
  readonly limits: ReadingLimits;
}

const nameAttribute = 'cn';
/** Others of the process go on after so long. */
const paceMs = 20;
/** Handed on at once: whoever writes them holds them all. */
const membersPerPage = 20_000;

/** @throws DirectoryFault */
export async function* readGroups(reading: Reading, since?: ChangeMark): AsyncGenerator<EntryPage<GroupEntry>, void, undefined> {
  const { directory, changes } = reading;
  if (directory.groups === 'none') return;
  const { groupFilter } = readingOf(directory);
  const preset = ldapPresets[directory.kind].groupFilter;
  // Who is in a listed group may be so by one that is not.
  const all = groupFilter === preset ? preset : `(|${groupFilter}${preset})`;
  const changed = since === undefined ? undefined : await namesFound(reading, `(&${all}${changes.filterSince(since)})`);
  if (changed?.size === 0) return;
  const listed = groupFilter === preset ? undefined : await namesFound(reading, groupFilter);
  const isListed = (dnKey: string): boolean => listed?.has(dnKey) !== false;
  const pace = createPace(paceMs);
  const graph = await readGraph(reading, all, pace);
  yield* pagesOfSkipped(graph.skipped().filter(({ dnKey }) => isListed(dnKey) && changed?.has(dnKey) !== false));
  let page: GroupEntry[] = [];
  let members = 0;
  for (const group of graph.groups()) {
    if (!isListed(group.dnKey)) continue;
    const { remoteId, dn, dnKey, name } = group;
    const flattened = graph.membersOf(group);
    await pace();
    if (changed !== undefined && !flattened.groups.some((key) => changed.has(key))) continue;
    page.push({ remoteId, dn, dnKey, name, members: flattened.members });
    members += flattened.members.length;
    if (page.length < directoryPageEntries && members < membersPerPage) continue;
    yield { entries: page, skipped: [] };
    [page, members] = [[], 0];
  }
  if (page.length > 0) yield { entries: page, skipped: [] };
}

function* pagesOfSkipped(skipped: readonly SkippedEntry[]): Generator<EntryPage<GroupEntry>> {
  for (let at = 0; at < skipped.length; at += directoryPageEntries)
    yield { entries: [], skipped: skipped.slice(at, at + directoryPageEntries) };
}

/** Names as they are compared. @throws DirectoryFault */
async function namesFound(reading: Reading, filter: string): Promise<ReadonlySet<string>> {
  const found = new Set<string>();
  let chars = 0;
  // Of an entry without an attribute its name alone is given (RFC 4511 4.5.1.8).
  const search = { ...whereGroupsAre(reading), filter, attributes: ['1.1'] };
  const take = ({ dn }: RawEntry): string | undefined => textOf(dn);
  for await (const names of readPages(reading.session, search, take, groupLimits(reading)))
    for (const name of names) {
      // One that is longer is skipped where its group is read.
      if (name === undefined || name.length > distinguishedNameCharsMax) continue;
      const dnKey = dnKeyOf(name);
      chars += dnKey.length;
      if (chars > reading.limits.chars) throw faultOf('too_many', `more than ${reading.limits.chars} characters in names of groups`);
      found.add(dnKey);
    }
  return found;
}

const whereGroupsAre = ({ directory }: Reading) => ({ base: readingOf(directory).groupBaseDn, scope: 'sub' as const });
const groupLimits = ({ limits: { pageMs, groups } }: Reading) => ({ pageMs, entriesMax: groups });

/** @throws DirectoryFault */
async function readGraph(reading: Reading, filter: string, pace: Pace): Promise<GroupGraph> {
  const { session, changes, limits, directory } = reading;
  const { idAttribute } = readingOf(directory);
  const graph = createGroupGraph({ ...limits, names: limits.people + limits.groups });
  const search = {
    ...whereGroupsAre(reading),
    filter,
    attributes: [idAttribute, nameAttribute, ...memberAttributes, ...changes.asked],
  };
  const take = (raw: RawEntry): ReadGroup => {
    changes.observe(raw);
    return groupOf(raw, idAttribute);
  };
  for await (const page of readPages(session, search, take, groupLimits(reading)))
    for (const { taken, members } of page) {
      if (!taken.isTaken) {
        graph.skip(taken.entry);
        continue;
      }
      const add = graph.add(taken.entry);
      const addAll = async (values: readonly Buffer[]): Promise<void> => {
        for (const keys of memberKeys(values)) {
          add(keys);
          await pace();
        }
      };
      await addAll(members.values);
      if (members.rest === undefined) continue;
      for await (const values of furtherMembers(session, limits.pageMs, taken.entry.dn, members.rest)) await addAll(values);
    }
  return graph;
}

interface ReadGroup {
  readonly taken: TakenOrSkipped<Known & { readonly name: string }>;
  readonly members: RawMembers;
}

/** Its members do not count among what of an entry may be so large. */
function groupOf(raw: RawEntry, idAttribute: string): ReadGroup {
  const members = rawMembers(raw);
  const taken = takeEntry(raw, idAttribute, raw.dn.length + members.bytesOfOthers, (known, texts) => ({
    ...known,
    name: texts(nameAttribute)[0] ?? known.dn,
  }));
  return { taken, members };
}
