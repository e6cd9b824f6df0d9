// What the parts of a run share: the deps, the directory with its rules, the run while there is one, and what is counted of it.
import type { MailDeps } from '../approvals/mailed/mail-delivery.ts';
import type { RunFigures } from '../domain/extending/directory-runs.ts';
import type { LdapDirectory } from '../domain/extending/ldap-directory.ts';
import { type DirectoryRules, directoryRulesOf } from '../domain/mappings/directory-values.ts';
import type { Tenant } from '../domain/tenant/tenant.ts';
import type { Log } from '../platform/log.ts';
import type { Database, Queries } from '../storage/engine/database.ts';
import type { AuditEvent } from '../storage/records/audit-events.ts';
import type { OfDirectory } from '../storage/records/directory-links.ts';
import { type DirectoryState, keepRun } from '../storage/registry/extending/ldap-directories.ts';
import type { TenantDirectory } from '../storage/registry/tenant-directory.ts';
import { openSecret } from '../tokens/kind-secret.ts';
import type { DirectoryReader, OpenDirectory } from './reading.ts';

export interface DirectoryParts extends MailDeps {
  readonly database: Database;
  readonly tenants: TenantDirectory;
  readonly log: Log;
}

/** The work on one directory, with what it needs to know of it. */
export interface Work {
  readonly parts: DirectoryParts;
  readonly tenant: Tenant;
  readonly directory: LdapDirectory;
  readonly whose: OfDirectory;
  readonly rules: DirectoryRules;
}

export const workOn = (parts: DirectoryParts, tenant: Tenant, directory: LdapDirectory): Work => ({
  ...{ parts, tenant, directory },
  whose: { tenant: tenant.id, directory: directory.id },
  rules: directoryRulesOf(directory),
});

/** A run that was taken up. */
export interface RunningWork extends Work {
  readonly run: DirectoryState;
}

/** Somebody else has the run, or the directory was changed: nothing more is written. */
export class RunLost extends Error {
  constructor() {
    super('the run is somebody else’s');
    this.name = 'RunLost';
  }
}

/** A transaction of a run, which keeps it. @throws RunLost */
export const writeIn = <T>({ parts, tenant, run }: RunningWork, work: (queries: Queries) => Promise<T>): Promise<T> =>
  parts.database.write(tenant.id, async (queries) => {
    if (!(await keepRun(queries, run))) throw new RunLost();
    return work(queries);
  });

/** What a run counts. */
export type Counted = { -readonly [Name in Exclude<keyof RunFigures, 'began_at' | 'ended_at' | 'full'>]: number };
export const nothingCounted = (): Counted => ({
  ...{ read: 0, created: 0, updated: 0, ended: 0, unchanged: 0, conflicts: 0, skipped: 0, referrals: 0 },
});

/** An audit record of what a directory did. */
export const eventOf = (
  { directory }: Work,
  event: Pick<AuditEvent, 'type' | 'target'> & { readonly data?: object; readonly reason?: string },
) => ({ ...event, actor: `directory:${directory.id}` }) as AuditEvent; // a row of the catalogue each

/** Signs in. @throws DirectoryFault */
export function openReader(open: OpenDirectory, { parts, tenant, directory }: Work, signal: AbortSignal): Promise<DirectoryReader> {
  const of = { table: 'directories', tenant: tenant.id, id: directory.id };
  const password = directory.bindPassword === undefined ? '' : openSecret(parts.encryption, of, directory.bindPassword);
  return open(tenant.id, directory, password, signal);
}
