// How people and groups of a directory end who are no longer in it, or disabled there: those whom somebody, or the rule of guard.ts, let end.
// As any suspension or deletion does, theirs ends sessions and tokens. Whoever holds a role or manages an organisation ends by approval alone,
// and the last owner never.

import type { Queries } from '../storage/engine/database.ts';
import { listManagersAmong } from '../storage/organizations/managers.ts';
import { keepFromDirectories } from '../storage/people/directories/scim-members.ts';
import { deleteGroup } from '../storage/people/group-writer.ts';
import { LastOwner } from '../storage/people/user-roles.ts';
import type { UserRow } from '../storage/people/user-rows.ts';
import { changeUser, deleteUser } from '../storage/people/user-writer.ts';
import { lockUsers } from '../storage/people/users.ts';
import { insertAuditEvent } from '../storage/records/audit-events.ts';
import { holdAgain, refuseEnding } from '../storage/records/directory-endings.ts';
import { type DirectoryLink, endEntries, listEnding } from '../storage/records/directory-links.ts';
import { type Counted, eventOf, type RunningWork, writeIn } from './parts.ts';

const pageLinks = 50;
/** Of `leaving`: somebody who may approved this one. */
const byName = 3;
const lastOwnerReason = 'Nobody else here may do everything: make another owner first.';

/** Ends whoever may; whoever has power since is asked for. @param signal gives it up between pages */
export async function endReleased(work: RunningWork, counted: Counted, signal: AbortSignal): Promise<void> {
  for (;;) {
    signal.throwIfAborted();
    const { hasMore, holders } = await writeIn(work, (queries) => endPage(queries, work, counted));
    for (const link of holders)
      await (link.leaving === byName
        ? endHolder(work, link, counted)
        : writeIn(work, (queries) => holdAgain(queries, work.whose, [link.remote_id])));
    if (!hasMore) return;
  }
}

/** Ends a page, and gives those who hold roles or manage an organisation. */
async function endPage(
  queries: Queries,
  work: RunningWork,
  counted: Counted,
): Promise<{ readonly hasMore: boolean; readonly holders: readonly DirectoryLink[] }> {
  const links = await listEnding(queries, work.whose, pageLinks);
  const people = links.filter(({ kind }) => kind === 'user');
  const rows = new Map((await lockUsers(queries, work.tenant.id, localIdsOf(people))).map((row): [string, UserRow] => [row.id, row]));
  const managers = await listManagersAmong(queries, work.tenant.id, localIdsOf(people));
  const holders = people.filter(({ local_id: id }) => rows.get(id ?? '')?.role === 'admin' || managers.has(id ?? ''));
  const others = people.filter((link) => !holders.includes(link));
  await endPeople(queries, work, others, rows);
  await endGroups(
    queries,
    work,
    links.filter(({ kind }) => kind === 'group'),
  );
  counted.ended += others.length;
  return { hasMore: links.length === pageLinks, holders };
}

const localIdsOf = (links: readonly DirectoryLink[]): readonly string[] => links.flatMap(({ local_id: id }) => id ?? []);

/** One alone, so that refusing them costs nobody else. */
async function endHolder(work: RunningWork, link: DirectoryLink, counted: Counted): Promise<void> {
  try {
    await writeIn(work, async (queries) => {
      const rows = new Map((await lockUsers(queries, work.tenant.id, localIdsOf([link]))).map((row): [string, UserRow] => [row.id, row]));
      await endPeople(queries, work, [link], rows);
    });
    counted.ended += 1;
  } catch (error) {
    if (!(error instanceof LastOwner)) throw error;
    await writeIn(work, (queries) => refuseEnding(queries, work.whose, link.remote_id, lastOwnerReason));
    counted.conflicts += 1;
  }
}

/** Ends people whose rows are held. @throws LastOwner */
async function endPeople(
  queries: Queries,
  work: RunningWork,
  links: readonly DirectoryLink[],
  rows: ReadonlyMap<string, UserRow>,
): Promise<void> {
  const { whose, directory } = work;
  const suspended: string[] = [];
  const others: string[] = [];
  for (const link of links) {
    const row = rows.get(link.local_id ?? '');
    const isSuspended = row !== undefined && directory.deprovision === 'suspend' && (await suspend(queries, work, row));
    (isSuspended ? suspended : others).push(link.remote_id);
    if (row !== undefined && directory.deprovision === 'delete') await remove(queries, work, row);
  }
  await endEntries(queries, whose, suspended, { areDeleted: false, areSuspended: true });
  await endEntries(queries, whose, others, { areDeleted: directory.deprovision === 'delete' });
}

/** False: they were suspended before, which their return to the directory does not lift, nor an organisation. */
async function suspend(queries: Queries, work: RunningWork, { id, state }: UserRow): Promise<boolean> {
  const { tenant, parts } = work;
  await keepFromDirectories(queries, tenant.id, id);
  if (state === 'suspended') return false;
  await changeUser(queries, tenant.id, id, { state: 'suspended' });
  await insertAuditEvent(queries, tenant.id, parts.clock.nowMs(), eventOf(work, { type: 'user.suspended', target: `user:${id}` }));
  return true;
}

async function remove(queries: Queries, { tenant, parts, directory }: RunningWork, { id }: UserRow): Promise<void> {
  await deleteUser(queries, tenant.id, id, { nowMs: parts.clock.nowMs(), actor: `directory:${directory.id}` });
}

async function endGroups(queries: Queries, work: RunningWork, links: readonly DirectoryLink[]): Promise<void> {
  const { tenant, parts, directory, whose } = work;
  const areDeleted = directory.deprovision !== 'leave';
  for (const { local_id: id } of links)
    if (areDeleted && id !== null && (await deleteGroup(queries, { tenant: tenant.id }, id)))
      await insertAuditEvent(queries, tenant.id, parts.clock.nowMs(), eventOf(work, { type: 'group.deleted', target: `group:${id}` }));
  await endEntries(
    queries,
    whose,
    links.map(({ remote_id: id }) => id),
    { areDeleted },
  );
}
