// What is read of a directory, whoever reads it and by whatever protocol: pages of people and of groups, and how far changes were read. The
// runner (runner.ts) asks by these names; `ldap/` answers. Types and names alone.
import type { DirectoryFailure } from '../domain/extending/directory-runs.ts';
import type { LdapDirectory } from '../domain/extending/ldap-directory.ts';
import type { TenantId } from '../domain/ids.ts';

/** An entry that is known for good. */
interface KnownEntry {
  /** What identifies it, as text: a GUID in its usual spelling, other ids in lower case. */
  readonly remoteId: string;
  /** As the directory spells it. */
  readonly dn: string;
  /** As it is compared: two spellings of one name are equal. */
  readonly dnKey: string;
}

export interface PersonEntry extends KnownEntry {
  /** Values by the name of their attribute in lower case; what is bytes, or is told in no rule, is not among them. */
  readonly attributes: Readonly<Record<string, readonly string[]>>;
  /** Disabled, expired or locked by an administrator there. */
  readonly isDisabled: boolean;
}

export interface GroupEntry extends KnownEntry {
  /** What it is called there. */
  readonly name: string;
  /** Its own members and those of groups within it, 5 deep: the names of entries as they are compared, each once. */
  readonly members: readonly string[];
}

/** An entry that cannot be taken as it is. */
export interface SkippedEntry {
  /** Undefined: it says no id that can be read. */
  readonly remoteId: string | undefined;
  readonly dn: string;
  readonly dnKey: string;
  /** A sentence for the administrator. */
  readonly reason: string;
}

export interface EntryPage<Entry> {
  readonly entries: readonly Entry[];
  readonly skipped: readonly SkippedEntry[];
}

/** How far changes were read: a number or a time of the directory's own, and whose. */
export interface ChangeMark {
  readonly mark: string;
  /** Another server's numbers are others. */
  readonly server: string;
}

/** A connection that is signed in. Each of these throws a DirectoryFault; what was yielded before is whole. */
export interface DirectoryReader {
  /**
   * From where the next run may read changes, asked once everything was read: a server that says no time of its own tells it by what it gave.
   * What changed since the beginning of this run lies behind it. Undefined: nothing tells.
   */
  readonly mark: () => ChangeMark | undefined;
  /** Whether changes since that mark can be read here, or everything must be. */
  readonly canReadSince: (mark: ChangeMark) => boolean;
  /** People, a page of at most 500 after the other; with `since`, those that changed, or everybody where one may have another name by what is above. */
  readonly people: (since?: ChangeMark) => AsyncIterable<EntryPage<PersonEntry>>;
  /** Groups, likewise. With `since`, those that changed, or within which a group did. */
  readonly groups: (since?: ChangeMark) => AsyncIterable<EntryPage<GroupEntry>>;
  /** Referrals that were ignored until now: nobody was contacted for them. */
  readonly referrals: () => number;
  readonly close: () => Promise<void>;
}

/** Why a directory cannot be read, or cannot be read to the end. */
export class DirectoryFault extends Error {
  readonly failure: DirectoryFailure;

  constructor(failure: DirectoryFailure) {
    super(failure.reason);
    this.failure = failure;
  }
}

/**
 * Connects and signs in. The password is opened by the caller.
 * @throws DirectoryFault
 */
export type OpenDirectory = (tenant: TenantId, directory: LdapDirectory, password: string, signal: AbortSignal) => Promise<DirectoryReader>;
