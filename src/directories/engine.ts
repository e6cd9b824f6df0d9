// Runs directories of LDAP: each by itself, so that one that is slow delays no other, few at once in a process, and fewer of one tenant, and
// each by one process of all nodes at a time. When one is due, and whose it is, is a row of the database (storage/registry/extending).
import { directoryAskMinutesMax, directoryAsksPerTenantMax, directoryRunHoursMax } from '../contract/directory-limits.ts';
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
  askMs: directoryAskMinutesMax * 60_000,
  waitMs: longWorkWaitMsMax,
} as const;
type EngineLimits = { readonly [Limit in keyof typeof engineLimits]: number };

interface Running {
  readonly tenant: TenantId;
  readonly work: Promise<void>;
}

/**
 * Those who wait longest are begun first.
 * @param services read at each run, because this is made before the services are whole
 * @param limits less of them in tests
 */
export function createDirectories(services: () => DirectoryParts, open: OpenDirectory, limits: EngineLimits = engineLimits): Directories {
  const abort = new AbortController();
  const running = new Map<LdapDirectoryId, Running>();
  const hasRoom = (tenant: TenantId): boolean =>
    running.size < runsAtOnce && [...running.values()].filter((one) => one.tenant === tenant).length < runsOfTenantAtOnce;
  const run = async (tenant: Tenant, due: LdapDirectory): Promise<void> => {
    const parts = services();
    const claimed = await parts.database.write(tenant.id, (queries) => claimRun(queries, tenant.id, due));
    if (claimed === undefined) return;
    const { takeRun, workOn } = await loadWork();
    const work = { ...workOn(parts, tenant, claimed.directory), run: claimed.run };
    await takeRun(work, open, { stopped: abort.signal, late: AbortSignal.timeout(limits.runMs) });
  };
  const begin = (tenant: Tenant, directory: LdapDirectory): void => {
    if (abort.signal.aborted || running.has(directory.id) || !hasRoom(tenant.id)) return;
    const work = run(tenant, directory)
      .catch((error: unknown) => {
        if (!abort.signal.aborted) services().log.error({ err: error, directory: directory.id }, 'a run of a directory stopped');
      })
      .finally(() => running.delete(directory.id));
    running.set(directory.id, { tenant: tenant.id, work });
  };
  const ask = createAsks(abort.signal, limits);
  let looking: Promise<void> | undefined;
  let lookedAtMs = Number.NEGATIVE_INFINITY;
  const look = async (): Promise<void> => {
    const due = await services().database.systemRead((queries) => listTenantsWithDueDirectories(queries, tenantsAtOnce));
    for (const tenant of due)
      if (!abort.signal.aborted)
        await directories.begin(tenant).catch((error: unknown) => {
          services().log.error({ err: error, tenant }, 'directories of a tenant that are due could not be begun');
        });
  };
  const settled = async (): Promise<void> => {
    while (looking !== undefined || running.size > 0) await Promise.all([looking, ...[...running.values()].map(({ work }) => work)]);
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
      if (tenant?.enabled !== true || tenant.isMoving || !hasRoom(id)) return;
      const due = await database.read(id, (queries) => listDueDirectories(queries, id));
      if (due.length === 0) await database.write(id, (queries) => noteDue(queries, id));
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
