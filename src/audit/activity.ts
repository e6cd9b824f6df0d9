// Counts what happens in tenants for their overviews, and notes who signed in to what and which clients got tokens last: collected in memory, written a moment
// later. A process that dies loses its last second; nothing but charts and lists rests on it. Called by surfaces; decides nothing.
import type { TenantId } from '../domain/ids.ts';
import type { Clock } from '../platform/clock.ts';
import type { Job } from '../platform/jobs.ts';
import type { Database } from '../storage/engine/database.ts';
import { TenantClosed } from '../storage/engine/tenant-closed.ts';
import { type ActivityCount, addActivity } from '../storage/records/activity-counts.ts';
import { type LastSignIn, noteSignIns, type SignIn, usedOnceMs } from '../storage/registry/last-sign-ins.ts';

export const signInActivity = 'sign_in';
export const refusalActivity = 'refusal:';
/** What became of a push to a vendor. */
export const pushActivity = (provider: string, outcome: string): string => `push:${provider}:${outcome}`;

export interface ActivityRecorder {
  readonly countSignIn: (tenant: TenantId, signIn: SignIn) => void;
  /** One that is not in the charts: nobody was at a sign-in page of ours. */
  readonly noteSignIn: (tenant: TenantId, signIn: SignIn) => void;
  /** A client got a token: noted once an hour, so that a token costs a look into memory. */
  readonly noteUse: (tenant: TenantId, clientId: string) => void;
  /** One refusal by contract row. */
  readonly countRefusal: (tenant: TenantId, row: string) => void;
  readonly countPush: (tenant: TenantId, provider: string, outcome: string) => void;
  /** Writes what is waiting; readers call it first so that they see what just happened. */
  readonly flush: () => Promise<void>;
  readonly job: Job;
}

const hourMs = 3_600_000;
const flushEveryMs = 1000;
/** What is beyond is not counted, or noted: many tenants at once reach this, or ten thousand people within a second. */
const waitingMax = 20_000;

interface Waiting {
  readonly counts: Map<string, ActivityCount>;
  readonly signIns: Map<string, LastSignIn>;
}

export function createActivityRecorder(database: Database, clock: Clock): ActivityRecorder {
  let waiting = new Map<TenantId, Waiting>();
  let size = 0;
  const uses = rememberUses();
  let flushing: Promise<void> = Promise.resolve();
  const of = (tenant: TenantId): Waiting => {
    const own = waiting.get(tenant) ?? { counts: new Map(), signIns: new Map() };
    waiting.set(tenant, own);
    return own;
  };
  /** Puts it in, unless there is too much of what is new. */
  const put = <Value>(map: Map<string, Value>, key: string, value: (before: Value | undefined) => Value): void => {
    const before = map.get(key);
    if (before === undefined && size >= waitingMax) return;
    if (before === undefined) size += 1;
    map.set(key, value(before));
  };
  const count = (tenant: TenantId, name: string): void => {
    const hourAtMs = Math.floor(clock.nowMs() / hourMs) * hourMs;
    put(of(tenant).counts, `${hourAtMs}:${name}`, (before) => ({ hourAtMs, name, n: (before?.n ?? 0) + 1 }));
  };
  const note = (tenant: TenantId, { userId, application: [kind, id], organization }: SignIn): void => {
    const { signIns } = of(tenant);
    const atMs = clock.nowMs();
    const signedIn: readonly LastSignIn[] = [
      { kind: 'user', id: userId, atMs },
      { kind, id, atMs },
      ...(organization === undefined ? [] : [{ kind: 'organization' as const, id: organization, atMs }]),
    ];
    for (const one of signedIn) put(signIns, `${one.kind}:${one.id}`, () => one);
  };
  const noteUse = (tenant: TenantId, clientId: string): void => {
    const atMs = clock.nowMs();
    if (!uses.isDue(`${tenant}:${clientId}`, atMs)) return;
    put(of(tenant).signIns, `client_use:${clientId}`, () => ({ kind: 'client_use', id: clientId, atMs }));
  };
  const writeOut = async (): Promise<void> => {
    const taken = waiting;
    waiting = new Map();
    size = 0;
    for (const [tenant, { counts, signIns }] of taken)
      await database
        .write(tenant, async (queries) => {
          if (counts.size > 0) await addActivity(queries, tenant, [...counts.values()]);
          await noteSignIns(queries, tenant, [...signIns.values()]);
        })
        .catch((error: unknown) => {
          if (error instanceof TenantClosed) return;
          uses.forget(); // what was not written is put in again
          throw error;
        });
  };
  const flush = (): Promise<void> => {
    flushing = flushing.catch(() => undefined).then(writeOut);
    return flushing;
  };
  return {
    countSignIn: (tenant, signIn) => {
      count(tenant, signInActivity);
      note(tenant, signIn);
    },
    noteSignIn: note,
    noteUse,
    countRefusal: (tenant, row) => count(tenant, `${refusalActivity}${row}`),
    countPush: (tenant, provider, outcome) => count(tenant, pushActivity(provider, outcome)),
    flush,
    job: { name: 'activity', everyMs: flushEveryMs, run: () => (size === 0 ? Promise.resolve() : flush()) },
  };
}

/** When the use of each client was last put in. */
function rememberUses() {
  const used = new Map<string, number>();
  return {
    isDue: (key: string, atMs: number): boolean => {
      if (atMs - (used.get(key) ?? Number.NEGATIVE_INFINITY) < usedOnceMs) return false;
      if (used.size >= waitingMax) used.clear();
      used.set(key, atMs);
      return true;
    },
    forget: (): void => used.clear(),
  };
}
