// What directories of LDAP are asked for, and what they answer: a run, a plan of one, a test. Types and names alone: who does it is the
// composition's to say, and the Management API and the console ask for it by these.
import type { TenantId } from '../ids.ts';
import type { Tenant } from '../tenant/tenant.ts';
import type { LdapDirectory } from './ldap-directory.ts';

/** Why a directory cannot be read. `refused`: it does not take the name and password; `partial`: it gave less than there is. */
export const directoryFailures = [
  'unreachable',
  'timeout',
  'not_allowed',
  'certificate',
  'refused',
  'no_entry',
  'partial',
  'malformed',
  'too_many',
] as const;

export interface DirectoryFailure {
  readonly reason: (typeof directoryFailures)[number];
  /** As the directory, or the connection to it, says it; at most 1,024 characters, and no secret. */
  readonly detail: string | null;
}

/** `adopt`: somebody who is here already becomes theirs. */
export const plannedChanges = ['create', 'adopt', 'update', 'activate', 'suspend', 'delete', 'leave'] as const;
export const plannedCounts = [...plannedChanges, 'unchanged', 'conflict', 'skipped', 'ignored'] as const;

/** What a run would do: nothing is written. */
export interface DirectoryPlan {
  readonly counts: Readonly<Record<(typeof plannedCounts)[number], number>>;
  /** The first of them. */
  readonly differences: readonly {
    readonly remote_id: string;
    readonly dn: string;
    readonly user_name: string | null;
    readonly action: (typeof plannedChanges)[number];
  }[];
  /** False: there are more people than a plan looks at. */
  readonly complete: boolean;
  /** Why the directory could not be read to the end; then the counts are of what was. */
  readonly failure: DirectoryFailure | null;
}

/** Whether a directory can be read, and the first of its people as they would be here. */
export interface DirectoryTest {
  readonly failure: DirectoryFailure | null;
  readonly people: readonly {
    readonly remote_id: string;
    readonly dn: string;
    readonly active: boolean;
    /** By the path of what they are for. */
    readonly values: Readonly<Record<string, readonly (string | number | boolean)[]>>;
  }[];
}

/** What a run did; kept of the last one. */
export interface RunFigures {
  readonly began_at: string;
  readonly ended_at: string;
  readonly full: boolean;
  /** People, and what became of them; conflicts and what was skipped are of groups, too. */
  readonly read: number;
  readonly created: number;
  readonly updated: number;
  readonly ended: number;
  readonly unchanged: number;
  readonly conflicts: number;
  readonly skipped: number;
  /** Of the directory to others, which nobody asked. */
  readonly referrals: number;
}

export interface Directories {
  /** Something may be due, of whatever tenant: looks, once a second at most. */
  readonly wake: () => void;
  /** Begins a run of each directory of a tenant that is due and that nobody else has. */
  readonly begin: (tenant: TenantId) => Promise<void>;
  /** Reads the directory and writes nothing. Undefined: as many of the tenant are read so as may be. */
  readonly plan: (tenant: Tenant, directory: LdapDirectory, pace: () => Promise<void>) => Promise<DirectoryPlan | undefined>;
  /** Signs in, and reads the first people. Undefined likewise. */
  readonly test: (tenant: Tenant, directory: LdapDirectory) => Promise<DirectoryTest | undefined>;
  /** Resolves when no run is under way. */
  readonly settled: () => Promise<void>;
  /** Begins nothing more, gives up what is under way, and resolves when nothing is. */
  readonly stop: () => Promise<void>;
}

/** What has the directories of a server. */
export interface DirectoryCalls {
  readonly directories: Directories;
}
