// Runs directories of LDAP: each by itself, so that one that is slow delays no other, few at once in a process, and fewer of one tenant, and
// each by one process of all nodes at a time. When one is due, and whose it is, is a row of the database (storage/registry/extending).
import {
  directoryAskMinutesMax,
  directoryAsksPerTenantMax,
  directoryRunHoursMax,
  directoryRunMinutesCrowdedMax,
} from '../contract/directory-limits.ts';
import { longWorkWaitMsMax } from '../contract/limits.ts';
import type { Directories } from '../domain/extending/directory-runs.ts';
import type { LdapDirectory } from '../domain/extending/ldap-directory.ts';
import type { LdapDirectoryId, TenantId } from '../domain/ids.ts';
import type { Tenant } from '../domain/tenant/tenant.ts';
import { createTurns } from '../platform/turns/turns.ts';
import { claimRun, listDueDirectories, listTenantsWithDueDirectories, noteDue } from '../storage/registry/extending/ldap-directories.ts';
import type { DirectoryParts } from './parts.ts';
import type { OpenDirectory } from './reading.ts';

const runsAtOnce = 4;
const runsOfTenantAtOnce = 2;
const lookEveryMs = 1000;
const tenantsAtOnce = 50;

/** Few nodes have a directory: what works on one is loaded at the first. */
const loadWork = async () => ({ ...(await import('./parts.ts')), ...(await import('./plan.ts')), ...(await import('./run.ts')) });
type Working = Awaited<ReturnType<typeof loadWork>>;

/** A server that gives a little now and then would have its run, or its request, for good. */
export const engineLimits = {
  runMs: directoryRunHoursMax * 3_600_000,
  crowdedRunMs: directoryRunMinutesCrowdedMax * 60_000,
  askMs: directoryAskMinutesMax * 60_000,
  waitMs: longWorkWaitMsMax,
} as const;
type EngineLimits = { readonly [Limit in keyof typeof engineLimits]: number };

/**
 * Tenants that have no run are begun first, and of those who wait longest.
 * @param services read at each run, because this is made before the services are whole
 * @param limits less of them in tests
 */
export function createDirectories(services: () => DirectoryParts, open: OpenDirectory, limits: EngineLimits = engineLimits): Directories {
  const abort = new AbortController();
  const turns = createRunTurns(limits.crowdedRunMs);
  const run = async (tenant: Tenant, due: LdapDirectory, crowded: AbortSignal): Promise<void> => {
    const parts = services();
    const claimed = await parts.database.write(tenant.id, (queries) => claimRun(queries, tenant.id, due));
    if (claimed === undefined) return;
    const { takeRun, workOn } = await loadWork();
    const work = { ...workOn(parts, tenant, claimed.directory), run: claimed.run };
    await takeRun(work, open, { stopped: abort.signal, late: AbortSignal.timeout(limits.runMs), crowded });
  };
  const begin = (tenant: Tenant, directory: LdapDirectory): void => {
    if (abort.signal.aborted) return;
    turns.begin(tenant.id, directory.id, (crowded) =>
      run(tenant, directory, crowded).catch((error: unknown) => {
        if (!abort.signal.aborted) services().log.error({ err: error, directory: directory.id }, 'a run of a directory stopped');
      }),
    );
  };
  const ask = createAsks(abort.signal, limits);
  let looking: Promise<void> | undefined;
  let lookedAtMs = Number.NEGATIVE_INFINITY;
  const look = async (): Promise<void> => {
    const due = await services().database.systemRead((queries) => listTenantsWithDueDirectories(queries, tenantsAtOnce));
    await turns.offer(due, async (tenant) => {
      if (abort.signal.aborted) return;
      await directories.begin(tenant).catch((error: unknown) => {
        services().log.error({ err: error, tenant }, 'directories of a tenant that are due could not be begun');
      });
    });
  };
  const settled = async (): Promise<void> => {
    while (looking !== undefined || turns.works().length > 0) await Promise.all([looking, ...turns.works()]);
  };
  const directories: Directories = {
    wake: () => {
      if (abort.signal.aborted || looking !== undefined || performance.now() - lookedAtMs < lookEveryMs) return;
      lookedAtMs = performance.now();
      looking = look()
        .catch((error: unknown) => services().log.error({ err: error }, 'directories that are due could not be begun'))
        .finally(() => {
          looking = undefined;
        });
    },
    begin: async (id) => {
      const { tenants, database } = services();
      const tenant = abort.signal.aborted ? undefined : await tenants.byId(id);
      if (tenant?.enabled !== true || tenant.isMoving || !turns.mayBegin(id)) return;
      const due = await database.read(id, (queries) => listDueDirectories(queries, id));
      if (due.length === 0) await database.write(id, (queries) => noteDue(queries, id));
      else turns.makeRoom(id);
      for (const directory of due) begin(tenant, directory);
    },
    plan: (tenant, directory, pace) =>
      ask(tenant, ({ planRun, workOn }, signal) => planRun(workOn(services(), tenant, directory), open, signal, pace)),
    test: (tenant, directory) =>
      ask(tenant, ({ testDirectory, workOn }, signal) => testDirectory(workOn(services(), tenant, directory), open, signal)),
    settled,
    stop: async () => {
      abort.abort();
      await settled();
    },
  };
  return directories;
}

/** Plans and tests: few of a tenant at once, each for so long; undefined where none of them ended in time. */
function createAsks(stopped: AbortSignal, { waitMs, askMs }: EngineLimits) {
  const turns = createTurns(directoryAsksPerTenantMax);
  const within = (ms: number): AbortSignal => AbortSignal.any([stopped, AbortSignal.timeout(ms)]);
  return async <T>({ id }: Tenant, work: (by: Working, signal: AbortSignal) => Promise<T>): Promise<T | undefined> => {
    const giveBack = await turns.take(id, within(waitMs));
    if (giveBack === undefined) return undefined;
    return loadWork()
      .then((by) => work(by, within(askMs)))
      .finally(giveBack);
  };
}

interface Running {
  readonly tenant: TenantId;
  readonly beganAtMs: number;
  readonly crowded: AbortController;
  readonly work: Promise<void>;
}

interface RunTurns {
  /** Asks tenants, those without a run first, whether they want a turn; one that was kept for somebody who takes none is anybody's again. */
  readonly offer: (tenants: readonly TenantId[], ask: (tenant: TenantId) => Promise<void>) => Promise<void>;
  /** Whether a run of the tenant may begin, now or once another's has ended for it. */
  readonly mayBegin: (tenant: TenantId) => boolean;
  /** Has another's run end where one must for the tenant's to begin. */
  readonly makeRoom: (tenant: TenantId) => void;
  /** Does the work where there is room and the directory has no run. @param work never fails; ends soon once its signal is aborted */
  readonly begin: (tenant: TenantId, directory: LdapDirectoryId, work: (crowded: AbortSignal) => Promise<void>) => void;
  /** Those that go on. */
  readonly works: () => readonly Promise<void>[];
}

/**
 * The turns of runs in a process: few at once, and fewer of one tenant. Few servers that give a little now and then would have every turn for
 * hours: where a tenant that has none waits for one, the run that has lasted longest ends, and its turn is that tenant's.
 * @param crowdedMs how long a run may take while others wait
 */
export function createRunTurns(crowdedMs: number): RunTurns {
  const running = new Map<LdapDirectoryId, Running>();
  /** For whom a run was ended: others take the turn no sooner. */
  let kept: TenantId | undefined;
  const all = (): readonly Running[] => [...running.values()];
  const countOf = (tenant: TenantId): number => all().filter((one) => one.tenant === tenant).length;
  const hasRoom = (tenant: TenantId): boolean =>
    running.size + Number(kept !== undefined && kept !== tenant) < runsAtOnce && countOf(tenant) < runsOfTenantAtOnce;
  const longestFor = (tenant: TenantId): Running | undefined => {
    if (running.size < runsAtOnce || countOf(tenant) > 0 || kept !== undefined) return undefined;
    const [longest] = all().toSorted((left, right) => left.beganAtMs - right.beganAtMs);
    return longest !== undefined && performance.now() - longest.beganAtMs >= crowdedMs ? longest : undefined;
  };
  return {
    offer: async (tenants, ask) => {
      const before = kept;
      for (const tenant of tenants.toSorted((left, right) => countOf(left) - countOf(right))) await ask(tenant);
      if (kept === before && !all().some(({ crowded }) => crowded.signal.aborted)) kept = undefined;
    },
    mayBegin: (tenant) => hasRoom(tenant) || longestFor(tenant) !== undefined,
    makeRoom: (tenant) => {
      const longest = longestFor(tenant);
      if (longest === undefined) return;
      kept = tenant;
      longest.crowded.abort();
    },
    begin: (tenant, directory, work) => {
      if (running.has(directory) || !hasRoom(tenant)) return;
      if (kept === tenant) kept = undefined;
      const crowded = new AbortController();
      const done = work(crowded.signal).finally(() => running.delete(directory));
      running.set(directory, { tenant, beganAtMs: performance.now(), crowded, work: done });
    },
    works: () => all().map(({ work }) => work),
  };
}
