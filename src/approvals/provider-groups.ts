// The groups of an identity provider that a person is in (design 16, 1): those its rules name, made where they are new. Only groups of the
// same provider are written or left: whoever else manages a group of that name keeps it, and nobody comes into it by a claim.
import { groupsPerProviderMax } from '../contract/limits.ts';
import { foldKey } from '../domain/fold.ts';
import type { GroupId, IdentityProviderId, UserId } from '../domain/ids.ts';
import type { Tenant } from '../domain/tenant/tenant.ts';
import type { Clock } from '../platform/clock.ts';
import { uuidV7 } from '../platform/random.ts';
import type { Queries } from '../storage/engine/database.ts';
import { dialectOf } from '../storage/engine/rows/id-list.ts';
import { changeMemberships, holdGroups, insertFreeGroups } from '../storage/people/group-writer.ts';
import { countProviderGroups, listGroupsByIdOrName, listProviderGroupsOfUser, type OwnedGroupRow } from '../storage/people/groups.ts';
import { holdActiveUser } from '../storage/people/user-writer.ts';
import { type AuditEvent, insertAuditEvents } from '../storage/records/audit-events.ts';
import { holdIdentityProvider } from '../storage/registry/identity-providers.ts';

/** Of one look-up: with many more SQLite reads every group of the tenant instead. */
const namesAtOnce = 200;

/** Why a value gave no membership: the group of that name is not the provider's, or the provider has as many as it may. */
type WithheldReason = 'group_of_others' | 'too_many_groups';

export interface WithheldGroup {
  readonly name: string;
  readonly reason: WithheldReason;
}

interface ProviderMember {
  readonly providerId: IdentityProviderId;
  readonly userId: UserId;
  readonly actor: string;
  readonly requestId?: string | undefined;
}

/** Makes the groups of these names the only ones of the provider the person is in, in the caller's transaction; gives what was not given. */
export async function setProviderGroups(
  queries: Queries,
  { clock }: { readonly clock: Clock },
  tenant: Tenant,
  member: ProviderMember,
  names: readonly string[],
): Promise<readonly WithheldGroup[]> {
  const { providerId, userId } = member;
  // Parallel sign-ins of one person wait for each other, so that the memberships are those of one of them.
  if (!(await holdActiveUser(queries, tenant.id, userId))) return [];
  const { own, made, withheld } = await findOrMake(queries, clock, tenant, providerId, names);
  const before = await listProviderGroupsOfUser(queries, tenant.id, providerId, userId);
  const dialect = dialectOf(queries);
  const come = own.filter((id) => !before.includes(id));
  const added = await holdGroups(queries, dialect, tenant.id, come);
  const removed = before.filter((id) => !own.includes(id));
  await changeMemberships(queries, dialect, tenant.id, [{ user: userId, added, removed }]);
  const { actor, requestId } = member;
  const eventOf = (type: 'group.created' | 'group.member_added' | 'group.member_removed', id: GroupId): AuditEvent => {
    const facts = { requestId, actor, target: `group:${id}` };
    return type === 'group.created' ? { ...facts, type } : { ...facts, type, data: { user: userId } };
  };
  const events = [
    ...made.map((id) => eventOf('group.created', id)),
    ...added.map((id) => eventOf('group.member_added', id)),
    ...removed.map((id) => eventOf('group.member_removed', id)),
  ];
  await insertAuditEvents(queries, tenant.id, clock.nowMs(), events);
  return withheld;
}

interface Found {
  readonly own: readonly GroupId[];
  readonly made: readonly GroupId[];
  readonly withheld: readonly WithheldGroup[];
}

async function findOrMake(
  queries: Queries,
  clock: Clock,
  tenant: Tenant,
  providerId: IdentityProviderId,
  names: readonly string[],
): Promise<Found> {
  const find = async (): Promise<ReadonlyMap<string, OwnedGroupRow>> => {
    const found = new Map<string, OwnedGroupRow>();
    for (let at = 0; at < names.length; at += namesAtOnce)
      for (const row of await listGroupsByIdOrName(queries, tenant.id, { ids: [], names: names.slice(at, at + namesAtOnce) }))
        found.set(row.display_name_key, row);
    return found;
  };
  let known = await find();
  const missing = (): readonly string[] => names.filter((name) => !known.has(foldKey(name)));
  let made: readonly OwnedGroupRow[] = [];
  let tooMany: readonly string[] = [];
  // Whoever makes groups of one provider waits for the others, so that no name is made twice and none beyond the limit.
  if (missing().length > 0 && (await holdIdentityProvider(queries, tenant.id, providerId)) !== undefined) {
    known = await find();
    const room = Math.max(0, groupsPerProviderMax - (await countProviderGroups(queries, tenant.id, providerId)));
    tooMany = missing().slice(room);
    made = await insertFreeGroups(
      queries,
      tenant.id,
      missing()
        .slice(0, room)
        .map((name) => newGroup(clock, providerId, name)),
    );
  }
  const own = [...known.values(), ...made].filter((row) => row.identity_provider_id === providerId);
  const ownNames = new Set(own.map((row) => row.display_name_key));
  const withheld = names
    .filter((name) => !ownNames.has(foldKey(name)))
    .map((name) => ({ name, reason: tooMany.includes(name) ? ('too_many_groups' as const) : ('group_of_others' as const) }));
  return { own: own.map(({ id }) => id), made: made.map(({ id }) => id), withheld };
}

const newGroup = (clock: Clock, providerId: IdentityProviderId, name: string) => ({
  id: uuidV7(clock.nowMs()) as GroupId, // made here
  display_name: name,
  external_id: null,
  origin: 'identity_provider',
  identity_provider_id: providerId,
});
