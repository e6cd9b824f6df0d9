// Tells administrators of mapping rules that would have given more than there is room for, and so gave nothing (design 16, 1). An
// application may ask many times a second, so each rule of each application is told once an hour by each process. The same for groups
// that an identity provider names and may not put anybody into.
import type { Tenant } from '../domain/tenant/tenant.ts';
import type { Clock } from '../platform/clock.ts';
import type { Database } from '../storage/engine/database.ts';
import { insertAuditEvents } from '../storage/records/audit-events.ts';

const toldAgainMs = 3_600_000;
const rememberedMax = 10_000;
/** When each rule was told last, for each database of the process. */
const told = new WeakMap<Database, Map<string, number>>();

interface Spill {
  /** e.g. `client:<id>`. */
  readonly target: string;
  /** Where it would have stood: id_token, userinfo, access_token or assertion. */
  readonly place: string;
  readonly bytesMax: number;
  readonly userId: string | undefined;
  readonly requestId: string | undefined;
  /** What the rules are called. */
  readonly spilled: readonly string[];
}

/** Writes an audit record for each rule that was not told of lately. */
export async function tellSpills(
  services: { readonly database: Database; readonly clock: Clock },
  tenant: Tenant,
  spill: Spill,
): Promise<void> {
  const { database, clock } = services;
  const { target, place, bytesMax, userId, requestId } = spill;
  if (spill.spilled.length === 0) return;
  const nowMs = clock.nowMs();
  const known = knownOf(database);
  const fresh = spill.spilled.filter((to) => isFresh(known, `${tenant.id} ${target} ${place} ${to}`, nowMs));
  const events = fresh.map((to) => ({
    type: 'mapping.too_large' as const,
    requestId,
    actor: 'system',
    target,
    data: { to, place, bytes_max: bytesMax, ...(userId === undefined ? {} : { user_id: userId }) },
  }));
  if (events.length > 0) await database.write(tenant.id, (queries) => insertAuditEvents(queries, tenant.id, nowMs, events));
}

interface Withheld {
  readonly providerId: string;
  readonly requestId: string | undefined;
  readonly groups: readonly { readonly name: string; readonly reason: 'group_of_others' | 'too_many_groups' }[];
}

/** Writes an audit record for each group that was not told of lately; a provider that has too many is told of once. */
export async function tellWithheldGroups(
  { database, clock }: { readonly database: Database; readonly clock: Clock },
  tenant: Tenant,
  { providerId, requestId, groups }: Withheld,
): Promise<void> {
  if (groups.length === 0) return;
  const nowMs = clock.nowMs();
  const target = `identity_provider:${providerId}`;
  const known = knownOf(database);
  const events = groups
    .filter(({ name, reason }) => isFresh(known, `${tenant.id} ${target} ${reason === 'too_many_groups' ? reason : name}`, nowMs))
    .map(({ name, reason }) => ({
      type: 'mapping.group_withheld' as const,
      requestId,
      actor: 'system',
      target,
      reason,
      data: { group: name },
    }));
  if (events.length > 0) await database.write(tenant.id, (queries) => insertAuditEvents(queries, tenant.id, nowMs, events));
}

function knownOf(database: Database): Map<string, number> {
  const known = told.get(database) ?? new Map<string, number>();
  told.set(database, known);
  return known;
}

function isFresh(known: Map<string, number>, key: string, nowMs: number): boolean {
  if (nowMs - (known.get(key) ?? Number.NEGATIVE_INFINITY) < toldAgainMs) return false;
  known.delete(key);
  if (known.size >= rememberedMax) known.delete(known.keys().next().value!);
  known.set(key, nowMs);
  return true;
}
