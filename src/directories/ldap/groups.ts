// Groups of a directory with their members. Who is in one by another is known only when all of them are, so all are read first; what they are
// called and hold is handed on by pages. A server that gives members by ranges is asked for the rest (MS-ADTS 3.1.1.3.1.3.3).
import { directoryPageEntries } from '../../contract/directory-limits.ts';
import { type LdapDirectory, readingOf } from '../../domain/extending/ldap-directory.ts';
import { ldapPresets } from '../../domain/extending/ldap-presets.ts';
import type { ChangeMark, EntryPage, GroupEntry, SkippedEntry } from '../reading.ts';
import type { RawEntry } from './answers.ts';
import type { Changes } from './changes.ts';
import { dnKeyOf } from './dn-key.ts';
import { type Known, rawValues, type TakenOrSkipped, takeEntry, textOf } from './entry.ts';
import { faultOf } from './faults.ts';
import { createGroupGraph, type GroupGraph } from './group-graph.ts';
import { type ReadingLimits, readPages } from './pages.ts';
import type { Session } from './session.ts';

export interface Reading {
  readonly session: Session;
  readonly directory: LdapDirectory;
  readonly changes: Changes;
  readonly limits: ReadingLimits;
}

const memberAttributes = ['member', 'uniqueMember'] as const;
const nameAttribute = 'cn';
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
  const { graph, skipped } = await readGraph(reading, all);
  yield* pagesOfSkipped(skipped.filter(({ dnKey }) => isListed(dnKey) && changed?.has(dnKey) !== false));
  let page: GroupEntry[] = [];
  let members = 0;
  for (const group of graph.groups()) {
    if (!isListed(group.dnKey)) continue;
    const { remoteId, dn, dnKey, name } = group;
    const flattened = graph.membersOf(group);
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

/** Names as they are compared. */
async function namesFound(reading: Reading, filter: string): Promise<ReadonlySet<string>> {
  const found = new Set<string>();
  // Of an entry without an attribute its name alone is given (RFC 4511 4.5.1.8).
  const search = { ...whereGroupsAre(reading), filter, attributes: ['1.1'] };
  for await (const names of readPages(reading.session, search, ({ dn }) => textOf(dn), groupLimits(reading)))
    for (const name of names) if (name !== undefined) found.add(dnKeyOf(name));
  return found;
}

const whereGroupsAre = ({ directory }: Reading) => ({ base: readingOf(directory).groupBaseDn, scope: 'sub' as const });
const groupLimits = ({ limits: { pageMs, groups } }: Reading) => ({ pageMs, entriesMax: groups });

async function readGraph(
  reading: Reading,
  filter: string,
): Promise<{ readonly graph: GroupGraph; readonly skipped: readonly SkippedEntry[] }> {
  const { session, changes, limits, directory } = reading;
  const { idAttribute } = readingOf(directory);
  const graph = createGroupGraph(limits);
  const skipped: SkippedEntry[] = [];
  const attributes = [idAttribute, nameAttribute, ...memberAttributes, ...changes.asked];
  const take = (raw: RawEntry) => {
    changes.observe(raw);
    return groupOf(raw, idAttribute);
  };
  const search = { ...whereGroupsAre(reading), filter, attributes };
  for await (const page of readPages(session, search, take, groupLimits(reading)))
    for (const { taken, members, rest } of page) {
      if (!taken.isTaken) skipped.push(taken.entry);
      else graph.add(taken.entry, rest === undefined ? members : [...members, ...(await membersFrom(reading, taken.entry.dn, rest))]);
    }
  return { graph, skipped };
}

interface ReadGroup {
  readonly taken: TakenOrSkipped<Known & { readonly name: string }>;
  readonly members: readonly string[];
  /** There are more of them, from this one on. */
  readonly rest: Range | undefined;
}

interface Range {
  readonly attribute: string;
  readonly from: number;
}

function groupOf(raw: RawEntry, idAttribute: string): ReadGroup {
  const { values, bytes, rest } = membersIn(raw);
  const taken = takeEntry(raw, idAttribute, raw.bytes - bytes, (known, texts) => ({
    ...known,
    name: texts(nameAttribute)[0] ?? known.dn,
  }));
  return { taken, members: taken.isTaken ? memberKeys(values) : [], rest };
}

const rangeOption = /^([^;]+);range=(\d{1,9})-(\d{1,9}|\*)$/;

/** Whether or not they come as a range (MS-ADTS 3.1.1.3.1.3.3). */
function membersIn(raw: RawEntry): { readonly values: readonly Buffer[]; readonly bytes: number; readonly rest: Range | undefined } {
  const values = memberAttributes.flatMap((type) => rawValues(raw, type.toLowerCase()));
  let rest: Range | undefined;
  for (const { type, values: some } of raw.attributes) {
    const [, attribute = '', , last] = rangeOption.exec(type) ?? [];
    if (!memberAttributes.some((name) => name.toLowerCase() === attribute)) continue;
    values.push(...some);
    if (last !== '*') rest = { attribute, from: Number(last) + 1 };
  }
  return { values, bytes: values.reduce((sum, { length }) => sum + length, 0), rest };
}

const uniqueIdentifier = /#'[01]*'B$/;

/** Who cannot be read cannot be a person here either. A uniqueMember may end with bits that tell namesakes apart (RFC 4517 3.3.21). */
const memberKeys = (values: readonly Buffer[]): readonly string[] =>
  values.flatMap((value) => {
    const name = textOf(value);
    return name === undefined ? [] : dnKeyOf(name.replace(uniqueIdentifier, ''));
  });

/** @throws DirectoryFault */
async function membersFrom({ session, limits }: Reading, dn: string, begin: Range): Promise<readonly string[]> {
  const members: string[] = [];
  for (let at: Range | undefined = begin; at !== undefined; ) {
    const attributes = [`${at.attribute};range=${at.from}-*`];
    const search = { base: dn, scope: 'base' as const, filter: '(objectClass=*)', attributes };
    const answers = session.search(search, { leftMs: limits.pageMs });
    let next: Range | undefined;
    for (let answer = await answers.next(); ; answer = await answers.next()) {
      if (answer.done === true) {
        if (answer.value.code !== 0) throw session.faultOf(answer.value);
        break;
      }
      const { values, rest } = membersIn(answer.value);
      members.push(...memberKeys(values));
      next = rest;
    }
    if (members.length > limits.members) throw faultOf('too_many', `more than ${limits.members} members of groups`);
    if (next !== undefined && next.from <= at.from) throw faultOf('malformed', 'a range of members that goes back');
    at = next;
  }
  return members;
}
