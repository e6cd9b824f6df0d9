// Directories as the client of LDAP is given them, and everything it reads of one.
import { createOpenDirectory } from '../../src/directories/ldap/open-directory.ts';
import { type ReadingLimits, readingLimits } from '../../src/directories/ldap/pages.ts';
import type { ChangeMark, DirectoryReader, EntryPage, GroupEntry, PersonEntry, SkippedEntry } from '../../src/directories/reading.ts';
import { DirectoryFault } from '../../src/directories/reading.ts';
import type { DirectoryFailure } from '../../src/domain/extending/directory-runs.ts';
import type { LdapDirectory } from '../../src/domain/extending/ldap-directory.ts';
import type { LdapDirectoryId, TenantId } from '../../src/domain/ids.ts';
import { createOutbound, type OutboundOptions } from '../../src/platform/net/outbound.ts';
import { slapdGroups, slapdPeople, slapdReader } from './slapd.ts';

const tenant = 'tenant-of-directories' as TenantId;

/** One of slapd's, unless told otherwise. */
export const ldapDirectory = (fields: Partial<LdapDirectory> = {}): LdapDirectory => ({
  ...{ id: 'directory-1' as LdapDirectoryId, name: 'Corp', enabled: true, kind: 'openldap', url: 'ldaps://localhost', starttls: false },
  ...{ bindDn: slapdReader.dn, bindPassword: 'sealed', baseDn: slapdPeople, groupBaseDn: slapdGroups, groups: 'all' },
  ...{ mappings: [], match: 'none', deprovision: 'suspend', everyMinutes: 15, fullEveryHours: 24 },
  ...{ ca: undefined, userFilter: undefined, idAttribute: undefined, groupFilter: undefined, createdAtMs: 0, updatedAtMs: 0 },
  ...fields,
});

interface OpenOptions extends Partial<OutboundOptions> {
  readonly password?: string;
  readonly signal?: AbortSignal;
  readonly limits?: Partial<ReadingLimits>;
  /** Of our clock. */
  readonly nowMs?: number;
}

/** @throws DirectoryFault */
export function openDirectory(
  directory: LdapDirectory,
  {
    password = slapdReader.password,
    signal = new AbortController().signal,
    limits = {},
    nowMs = Date.now(),
    ...outbound
  }: OpenOptions = {},
): Promise<DirectoryReader> {
  const deps = { outbound: createOutbound({ allow: ['127.0.0.0/8', '::1/128'], ...outbound }), clock: { nowMs: () => nowMs } };
  return createOpenDirectory(deps, { ...readingLimits, ...limits })(tenant, directory, password, signal);
}

export interface Read<Entry> {
  readonly entries: readonly Entry[];
  readonly skipped: readonly SkippedEntry[];
  /** Entries of each page. */
  readonly pages: readonly number[];
}

export async function readAll<Entry>(pages: AsyncIterable<EntryPage<Entry>>): Promise<Read<Entry>> {
  const read = { entries: [] as Entry[], skipped: [] as SkippedEntry[], pages: [] as number[] };
  for await (const { entries, skipped } of pages) {
    read.entries.push(...entries);
    read.skipped.push(...skipped);
    read.pages.push(entries.length + skipped.length);
  }
  return read;
}

interface WholeRead {
  readonly people: Read<PersonEntry>;
  readonly groups: Read<GroupEntry>;
  readonly mark: ChangeMark | undefined;
  readonly referrals: number;
}

/** Connects, reads everything, closes. @throws DirectoryFault */
export async function readDirectory(directory: LdapDirectory, options: OpenOptions = {}, since?: ChangeMark): Promise<WholeRead> {
  const reader = await openDirectory(directory, options);
  try {
    const people = await readAll(reader.people(since));
    const groups = await readAll(reader.groups(since));
    return { people, groups, mark: reader.mark(), referrals: reader.referrals() };
  } finally {
    await reader.close();
  }
}

/** Why it could not be read; fails where it could. */
export async function failureOf(reading: Promise<unknown>): Promise<DirectoryFailure> {
  try {
    await reading;
  } catch (error) {
    if (error instanceof DirectoryFault) return error.failure;
    throw error;
  }
  throw new Error('expected that the directory cannot be read, found that it can');
}
