// Marks what a connector has to look at: from the events of its tenant, read from its own position, so that a burst about one person is one
// mark; and everybody, a batch at a time, when it is new or asked to.
import type { GroupId } from '../domain/ids.ts';
import { markKnown, markLinks } from '../storage/records/connector-links.ts';
import { listPeopleIds, listPeopleOfGroups } from '../storage/records/connector-members.ts';
import { type NumberedEvent, readFeed } from '../storage/records/event-feed.ts';
import { type ConnectorState, moveConnector, moveSync } from '../storage/registry/extending/connectors.ts';
import type { Work } from './parts.ts';

type Marking = Pick<Work, 'parts' | 'tenant' | 'connector' | 'whose' | 'groups'>;

const eventsAtOnce = 200;
const peopleAtOnce = 1000;
const types = [
  ...['user.created', 'user.updated', 'user.signed_up', 'user.suspended', 'user.activated', 'user.deleted'],
  ...['group.created', 'group.updated', 'group.deleted', 'group.member_added', 'group.member_removed'],
];

/** Reads a page of events; true when there may be more. */
export async function markByEvents({ parts, tenant, connector, whose, groups }: Marking, from: number): Promise<boolean> {
  const page = await readFeed(parts.database, tenant.id, { after: from, types, limit: eventsAtOnce });
  if (page === undefined || page.next === from) return false;
  const { users, touched } = readEvents(page.rows);
  const pushed = touched.filter((id) => groups.some((one) => one === id));
  return parts.database.write(tenant.id, async (queries) => {
    if (!(await moveConnector(queries, tenant.id, connector.id, { from, to: page.next }))) return false;
    const members = connector.users === 'groups' ? await listPeopleOfGroups(queries, whose, touched) : [];
    await markLinks(queries, whose, 'user', [...new Set([...users, ...members])]);
    await markLinks(queries, whose, 'group', pushed);
    await markKnown(queries, whose, { ids: touched });
    return page.rows.length === eventsAtOnce;
  });
}

function readEvents(rows: readonly NumberedEvent[]): { readonly users: readonly string[]; readonly touched: readonly string[] } {
  const users = new Set<string>();
  const touched = new Set<string>();
  for (const { type, target, data } of rows) {
    const [kind, id] = (target ?? '').split(':');
    if (id === undefined) continue;
    if (kind === 'user') users.add(id);
    if (kind === 'group') touched.add(id);
    const member =
      type.startsWith('group.member_') && data !== null ? (JSON.parse(String(data)) as { readonly user?: string }).user : undefined;
    if (member !== undefined) users.add(member);
  }
  return { users: [...users], touched: [...touched] };
}

/** Marks the next of everybody; true while some are left. */
export async function markEverybody({ parts, tenant, connector, whose, groups }: Marking, state: ConnectorState): Promise<boolean> {
  const after = state.sync_after;
  if (after === null) return false;
  const among: readonly GroupId[] | undefined = connector.users === 'all' ? undefined : groups;
  return parts.database.write(tenant.id, async (queries) => {
    const ids = await listPeopleIds(queries, tenant.id, { after, limit: peopleAtOnce, groups: among });
    const isDone = ids.length < peopleAtOnce;
    if (!(await moveSync(queries, tenant.id, connector.id, { from: after, to: isDone ? null : ids.at(-1)! }))) return true;
    if (after === '') {
      await markKnown(queries, whose);
      await markLinks(queries, whose, 'group', groups);
    }
    await markLinks(queries, whose, 'user', ids);
    return !isDone;
  });
}
