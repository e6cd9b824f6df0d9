// The groups of a directory: made here, and kept with the name and the members they have there. A group of the same name that is of somebody
// else stays theirs: that is a conflict.
import { hash as digest } from 'node:crypto';
import { nameCharsMax } from '../contract/limits.ts';
import { foldKey } from '../domain/fold.ts';
import type { GroupId } from '../domain/ids.ts';
import { isXmlText } from '../domain/saml/xml-text.ts';
import { uuidV7 } from '../platform/random.ts';
import type { Queries } from '../storage/engine/database.ts';
import { dialectOf } from '../storage/engine/rows/id-list.ts';
import { addMembers, changeGroup, insertGroups, replaceMembers } from '../storage/people/group-writer.ts';
import { listGroupsByIdOrName, type OwnedGroupRow } from '../storage/people/groups.ts';
import { insertAuditEvent } from '../storage/records/audit-events.ts';
import {
  type DirectoryLink,
  listLinksByName,
  listLinksOfEntries,
  noteEntriesSeen,
  type WrittenLink,
  writeLinks,
} from '../storage/records/directory-links.ts';
import { type Counted, eventOf, type RunningWork, writeIn } from './parts.ts';
import { distinctEntries, identifySkipped, type Judged, judgeSkipped, written } from './people.ts';
import { writeDivided } from './people-writer.ts';
import type { EntryPage, GroupEntry } from './reading.ts';

/** With many more names SQLite reads every group of the tenant instead. */
const groupsAtOnce = 100;
const namesAtOnce = 5000;

/** Writes a page of groups, some at a time. */
export async function writeGroups(work: RunningWork, { entries, skipped }: EntryPage<GroupEntry>, counted: Counted): Promise<void> {
  const distinct = distinctEntries(entries);
  for (let at = 0; at < Math.max(distinct.length, 1); at += groupsAtOnce) {
    const some = { entries: distinct.slice(at, at + groupsAtOnce), skipped: at === 0 ? skipped : [] };
    const written = await writeDivided(some, 'display_name', (part, taken) => writeOnce(work, part, taken));
    for (const decided of written.flat()) {
      if (decided === 'conflict') counted.conflicts += 1;
      if (decided === 'skipped') counted.skipped += 1;
    }
  }
}

type Outcome = 'done' | 'conflict' | 'skipped';
type Decided = Judged['decision'];

const writeOnce = (work: RunningWork, page: EntryPage<GroupEntry>, takenName?: string): Promise<readonly Outcome[]> =>
  writeIn(work, async (queries) => {
    const taken = new Set(page.entries.map(({ remoteId }) => remoteId));
    const skipped = (await identifySkipped(queries, work, page.skipped, 'group')).filter(({ remoteId }) => !taken.has(remoteId));
    const ids = [...taken, ...skipped.map(({ remoteId }) => remoteId)];
    const links = new Map((await listLinksOfEntries(queries, work.whose, ids)).map((link) => [link.remote_id, link]));
    const around = await lookAround(queries, work, page.entries, links);
    const decided: { readonly id: string; readonly outcome: Outcome; readonly decision: Decided }[] = skipped.map((one) => ({
      ...{ id: one.remoteId, outcome: 'skipped' },
      decision: judgeSkipped(one, links.get(one.remoteId), one.reason, 'group').decision,
    }));
    for (const entry of page.entries)
      decided.push({
        id: entry.remoteId,
        ...(await writeGroup(queries, work, { entry, link: links.get(entry.remoteId), around, taken: takenName })),
      });
    const { whose, run } = work;
    const changed = new Map(decided.flatMap(({ id, decision }) => (decision.does === 'linked' ? [[id, decision.link] as const] : [])));
    await writeLinks(queries, whose, run.run, [...changed.values()]);
    const seen = decided.filter(({ decision }) => decision.does === 'seen').map(({ id }) => id);
    await noteEntriesSeen(queries, whose, run.run, seen);
    return decided.map(({ outcome }) => outcome);
  });

interface Around {
  readonly byId: ReadonlyMap<string, OwnedGroupRow>;
  readonly byName: Map<string, string>;
  /** Who somebody is here, by their name there. */
  readonly personOf: (dnKey: string) => string | undefined;
}

async function lookAround(
  queries: Queries,
  { tenant, whose }: RunningWork,
  entries: readonly GroupEntry[],
  links: ReadonlyMap<string, DirectoryLink>,
): Promise<Around> {
  const ids = [...links.values()].flatMap(({ kind, local_id: id }) => (kind === 'group' && id !== null ? id : []));
  const rows = await listGroupsByIdOrName(queries, tenant.id, { ids, names: entries.map(({ name }) => name) });
  const names = [...new Set(entries.flatMap(({ members }) => members))];
  const lookUps: Awaited<ReturnType<typeof listLinksByName>>[] = [];
  for (let at = 0; at < names.length; at += namesAtOnce)
    lookUps.push(await listLinksByName(queries, whose, 'user', names.slice(at, at + namesAtOnce)));
  return {
    byId: new Map(rows.map((row) => [row.id, row])),
    byName: new Map(rows.map((row) => [row.display_name_key, row.id])),
    personOf: (dnKey) => {
      for (const lookUp of lookUps) {
        const found = lookUp(dnKey)?.local_id ?? undefined;
        if (found !== undefined) return found;
      }
      return undefined;
    },
  };
}

interface Writing {
  readonly entry: GroupEntry;
  readonly link: DirectoryLink | undefined;
  readonly around: Around;
  readonly taken: string | undefined;
}

/** Decides over a group, and writes what differs of it. */
async function writeGroup(
  queries: Queries,
  work: RunningWork,
  { entry, link, around, taken }: Writing,
): Promise<{ readonly outcome: Outcome; readonly decision: Decided }> {
  if (link?.state === 'ignored') return { outcome: 'done', decision: { does: 'seen' } };
  if (link?.kind === 'user') return { outcome: 'skipped', decision: { does: 'seen' } };
  const fault = nameFault(entry.name);
  if (fault !== undefined) return { outcome: 'skipped', decision: judgeSkipped(entry, link, fault, 'group').decision };
  const members = [...new Set(entry.members.flatMap((dnKey) => around.personOf(dnKey) ?? []))].sort();
  const hash = digest('sha256', JSON.stringify([entry.name, members]), 'base64url');
  const own = around.byId.get(link?.local_id ?? '');
  const as = (state: 'linked' | 'conflict', reason: string | null, localId: string | null): Decided =>
    written(entry, link, { kind: 'group', local_id: localId, hash, state, reason });
  if (link?.state === 'linked' && own !== undefined && link.hash === hash) return { outcome: 'done', decision: as('linked', null, own.id) };
  const key = foldKey(entry.name);
  const namesake = around.byName.get(key);
  if (taken !== undefined || (namesake !== undefined && namesake !== own?.id))
    return { outcome: 'conflict', decision: as('conflict', 'Another group here has this name.', own?.id ?? null) };
  if (own !== undefined && (own.origin !== 'console' || own.identity_provider_id !== null))
    return { outcome: 'conflict', decision: as('conflict', 'Somebody else manages this group.', null) };
  const id = own === undefined ? await makeGroup(queries, work, entry, members) : own.id;
  if (own !== undefined) await changeOwn(queries, work, own, entry.name, members);
  if (own !== undefined && around.byName.get(own.display_name_key) === own.id) around.byName.delete(own.display_name_key);
  around.byName.set(key, id);
  return { outcome: 'done', decision: { does: 'linked', link: linkedTo(entry, id, hash) } };
}

const linkedTo = ({ remoteId, dn, dnKey }: GroupEntry, localId: string, hash: string): WrittenLink => ({
  ...{ remote_id: remoteId, dn, dnKey, kind: 'group', local_id: localId },
  ...{ hash, state: 'linked', reason: null },
});

function nameFault(name: string): string | undefined {
  if (name.trim() === '' || !isXmlText(name)) return 'It has no name that a group may have.';
  return name.length > nameCharsMax ? `Its name has more than ${nameCharsMax} characters.` : undefined;
}

async function makeGroup(queries: Queries, work: RunningWork, { name }: GroupEntry, members: readonly string[]): Promise<GroupId> {
  const { tenant, parts } = work;
  const id = uuidV7(parts.clock.nowMs()) as GroupId; // made here
  await insertGroups(queries, tenant.id, [{ id, display_name: name, external_id: null, origin: 'console' }]);
  requireKnown(await addMembers(queries, dialectOf(queries), { tenant: tenant.id }, id, members));
  const event = eventOf(work, { type: 'group.created', target: `group:${id}`, data: { members: members.length } });
  await insertAuditEvent(queries, tenant.id, parts.clock.nowMs(), event);
  return id;
}

async function changeOwn(
  queries: Queries,
  work: RunningWork,
  { id, display_name: before }: OwnedGroupRow,
  name: string,
  members: readonly string[],
): Promise<void> {
  const { tenant, parts } = work;
  const { changed } = requireKnown(await replaceMembers(queries, dialectOf(queries), { tenant: tenant.id }, id, members));
  const fields = [...(before === name ? [] : ['display_name']), ...(changed > 0 ? ['members'] : [])];
  if (fields.length === 0) return;
  await changeGroup(queries, tenant.id, id, before === name ? {} : { display_name: name }, { writer: 'directory' });
  await insertAuditEvent(
    queries,
    tenant.id,
    parts.clock.nowMs(),
    eventOf(work, { type: 'group.updated', target: `group:${id}`, data: { fields } }),
  );
}

/** Somebody was deleted between: the run begins again. */
function requireKnown(change: Awaited<ReturnType<typeof addMembers>>): { readonly changed: number } {
  if (!change.ok) throw new Error('a member of a group is nobody any more');
  return change;
}
