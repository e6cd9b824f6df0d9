// Directories of LDAP in tests: what one is made of, and runs that a test takes up itself, as whoever reads a directory does.
import { type DirectoryPlan, type DirectoryTest, plannedCounts } from '../../src/domain/extending/directory-runs.ts';
import type { LdapDirectoryId, TenantId } from '../../src/domain/ids.ts';
import type { Queries } from '../../src/storage/engine/database.ts';
import { type OfDirectory, type WrittenLink, writeLinks } from '../../src/storage/records/directory-links.ts';
import { claimRun, type DirectoryState, listDueDirectories } from '../../src/storage/registry/extending/ldap-directories.ts';
import type { Json, Managed } from './management.ts';
import type { TestServer } from './server.ts';

export const directoryBody = (fields: Json = {}): Json => ({
  ...{ name: 'Corp', kind: 'openldap', url: 'ldaps://ldap.corp.example', base_dn: 'ou=people,dc=corp,dc=example' },
  ...{ bind_dn: 'cn=reader,dc=corp,dc=example', bind_password: 'a-kept-password', ...fields },
});

export const whoseOf = (tenant: Managed, id: unknown): OfDirectory => ({
  tenant: tenant.id as TenantId,
  directory: String(id) as LdapDirectoryId,
});

/** An entry that somebody here is, or nobody yet. */
export const entry = (name: string, fields: Partial<WrittenLink> = {}): WrittenLink => ({
  ...{ remote_id: `id-of-${name}`, kind: 'user', local_id: null, dn: `uid=${name},dc=corp`, dnKey: `uid=${name},dc=corp` },
  ...{ hash: `hash-of-${name}`, state: 'linked', reason: null, ...fields },
});

/** Writes of a directory's links as a run makes them. */
export const linksAt = (server: TestServer, tenant: Managed, directory: unknown) => {
  const whose = whoseOf(tenant, directory);
  const write = <T>(work: (queries: Queries) => Promise<T>): Promise<T> => server.gatehouse.services.database.write(whose.tenant, work);
  return {
    write,
    whose,
    link: (name: string, localId: string, fields: Partial<WrittenLink> = {}): Promise<void> =>
      write((queries) => writeLinks(queries, whose, 1, [entry(name, { local_id: localId, ...fields })])),
  };
};

/** Takes up the run of a directory that is due. */
export function takeRun({ gatehouse }: TestServer, { tenant, directory }: OfDirectory): Promise<DirectoryState | undefined> {
  return gatehouse.services.database.write(tenant, async (queries) => {
    const due = (await listDueDirectories(queries, tenant)).find(({ id }) => id === directory);
    return due === undefined ? undefined : (await claimRun(queries, tenant, due))?.run;
  });
}

export const figures = {
  ...{ began_at: '2026-01-01T00:00:00.000Z', ended_at: '2026-01-01T00:00:01.000Z', full: true, read: 3, created: 2, updated: 0, ended: 0 },
  ...{ unchanged: 1, conflicts: 0, skipped: 0, referrals: 0 },
};

const noCounts = Object.fromEntries(plannedCounts.map((name) => [name, 0])) as DirectoryPlan['counts']; // each of them

/** Answers plans and tests instead of whoever reads directories. */
export function answerInstead(
  { gatehouse }: TestServer,
  { plan = {}, test = {} }: { readonly plan?: Partial<DirectoryPlan>; readonly test?: Partial<DirectoryTest> },
): void {
  Object.assign(gatehouse.services.directories, {
    plan: async () => ({ counts: noCounts, differences: [], complete: true, failure: null, ...plan }),
    test: async () => ({ failure: null, people: [], ...test }),
  });
}
