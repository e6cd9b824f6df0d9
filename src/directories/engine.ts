// Runs directories of LDAP: each by itself, so that one that is slow delays no other, few at once in a process, and fewer of one tenant, and
// each by one process of all nodes at a time. When one is due, and whose it is, is a row of the database (storage/registry/extending).
import type { Directories } from '../domain/extending/directory-runs.ts';
import type { LdapDirectory } from '../domain/extending/ldap-directory.ts';
import type { LdapDirectoryId, TenantId } from '../domain/ids.ts';
import type { Tenant } from '../domain/tenant/tenant.ts';
import type { Job } from '../platform/jobs.ts';
import type { Database } from '../storage/engine/database.ts';
import { claimRun, listDueDirectories, listTenantsWithDueDirectories, noteDue } from '../storage/registry/extending/ldap-directories.ts';
import { type DirectoryParts, workOn } from './parts.ts';
import { planRun, testDirectory } from './plan.ts';
import type { OpenDirectory } from './reading.ts';
import { takeRun } from './run.ts';

const runsAtOnce = 4;
const runsOfTenantAtOnce = 2;
const lookEveryMs = 1000;
const tenantsAtOnce = 50;

interface Running {
  readonly tenant: TenantId;
  readonly work: Promise<void>;
}

/** @param services read at each run, because this is made before the services are whole */
export function createDirectories(services: () => DirectoryParts, open: OpenDirectory): Directories {
  const abort = new AbortController();
  const running = new Map<LdapDirectoryId, Running>();
  const hasRoom = (tenant: TenantId): boolean =>
    running.size < runsAtOnce && [...running.values()].filter((one) => one.tenant === tenant).length < runsOfTenantAtOnce;
  const run = async (tenant: Tenant, directory: LdapDirectory): Promise<void> => {
    const parts = services();
    const claimed = await parts.database.write(tenant.id, (queries) => claimRun(queries, tenant.id, directory));
    if (claimed !== undefined) await takeRun({ ...workOn(parts, tenant, directory), run: claimed }, open, abort.signal);
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
  const settled = async (): Promise<void> => {
    while (running.size > 0) await Promise.all([...running.values()].map(({ work }) => work));
  };
  return {
    begin: async (id) => {
      const { tenants, database } = services();
      const tenant = abort.signal.aborted ? undefined : await tenants.byId(id);
      if (tenant?.enabled !== true || tenant.isMoving || !hasRoom(id)) return;
      const due = await database.read(id, (queries) => listDueDirectories(queries, id));
      if (due.length === 0) await database.write(id, (queries) => noteDue(queries, id));
      for (const directory of due) begin(tenant, directory);
    },
    plan: (tenant, directory, pace) => planRun(workOn(services(), tenant, directory), open, abort.signal, pace),
    test: (tenant, directory) => testDirectory(workOn(services(), tenant, directory), open, abort.signal),
    settled,
    stop: async () => {
      abort.abort();
      await settled();
    },
  };
}

const listDue = (database: Database): Promise<readonly TenantId[]> =>
  database.systemRead((queries) => listTenantsWithDueDirectories(queries, tenantsAtOnce));

/** Begins what is due, those first who wait longest. */
export const createDirectoryJob = (database: Database, directories: () => Pick<Directories, 'begin'>): Job => ({
  name: 'directories',
  everyMs: lookEveryMs,
  run: async (signal) => {
    for (const tenant of await listDue(database)) {
      if (signal.aborted) return;
      await directories().begin(tenant);
    }
  },
});

/** Wakes whoever begins them, on a thread that may not have been started yet. */
export const createDirectoryWaker = (database: Database, wake: () => void): Job => ({
  name: 'directories-due',
  everyMs: lookEveryMs,
  run: async () => {
    if ((await listDue(database)).length > 0) wake();
  },
});
