// Who here each entry of a directory of LDAP is: its id there, which never changes, its name, a hash of what was written of it, and the run
// that saw it last. What a page of entries needs is read and written in a statement each. How many may end, and whether somebody is asked
// first, is the runner's to say; here they are marked and counted.
import { hash as digest } from 'node:crypto';
import { type Generated, sql } from 'kysely';
import type { LdapDirectoryId, TenantId } from '../../domain/ids.ts';
import type { Queries } from '../engine/database.ts';
import { databaseNowMs } from '../engine/instance.ts';
import { idAmong } from '../engine/rows/id-list.ts';
import type { Page } from '../engine/rows/matching-rows.ts';
import { type LinkCounts, sumLinks } from './link-counts.ts';

/** `pending`: somebody resolved it, and a run is to read it; `skipped`: it cannot be taken as it is; `off`: it ended, there and here. */
export const directoryLinkStates = ['pending', 'linked', 'conflict', 'skipped', 'ignored', 'off'] as const;
type DirectoryLinkState = (typeof directoryLinkStates)[number];
type DirectoryLinkKind = 'user' | 'group';

export interface DirectoryLinkTable {
  tenant_id: TenantId;
  directory_id: LdapDirectoryId;
  /** Of an entry that says none, `idOfName`. */
  remote_id: string;
  kind: DirectoryLinkKind;
  /** Of the user or the group. */
  local_id: string | null;
  /** As the directory spells it. */
  dn: string;
  /** Of the name as it is compared. */
  dn_hash: string;
  hash: string | null;
  /** That saw it last. */
  run: Generated<number>;
  state: DirectoryLinkState;
  reason: string | null;
  /** 1: it is to end, and waits for the others of the run; 2: may end, but for whom somebody must ask; 3: may, whoever it is. */
  leaving: Generated<number>;
  /** When it was let end. */
  left_at: number | null;
  /** 1: somebody said that it is a new person, whoever is here. */
  creates: Generated<number>;
  created_at: number;
  updated_at: number;
}

export type DirectoryLink = Readonly<{
  [Column in keyof DirectoryLinkTable]: DirectoryLinkTable[Column] extends Generated<infer V> ? V : DirectoryLinkTable[Column];
}>;

/** A directory of a tenant. */
export interface OfDirectory {
  readonly tenant: TenantId;
  readonly directory: LdapDirectoryId;
}

/** What a run writes of an entry. */
export interface WrittenLink extends Pick<DirectoryLink, 'remote_id' | 'kind' | 'local_id' | 'dn' | 'hash' | 'state' | 'reason'> {
  /** The name as it is compared: two spellings of one are equal. */
  readonly dnKey: string;
}

/** Names may be longer than an index takes. */
const hashOf = (dnKey: string): string => digest('sha256', dnKey, 'base64url');

/** What an entry that says no id is known by: its name, as it is compared. */
export const idOfName = (dnKey: string): string => `dn:${hashOf(dnKey)}`;

const linksOf = (queries: Queries, { tenant, directory }: OfDirectory) =>
  queries.selectFrom('directory_links').selectAll().where('tenant_id', '=', tenant).where('directory_id', '=', directory);
const changeLinks = (queries: Queries, { tenant, directory }: OfDirectory) =>
  queries.updateTable('directory_links').where('tenant_id', '=', tenant).where('directory_id', '=', directory);

/**
 * Writes what a run found of a page of entries, each once; they no longer end. One that somebody ignores stays so.
 * @throws unique violation for somebody here who is another entry
 */
export async function writeLinks(
  queries: Queries,
  { tenant, directory }: OfDirectory,
  run: number,
  links: readonly WrittenLink[],
): Promise<void> {
  if (links.length === 0) return;
  const fixed = { tenant_id: tenant, directory_id: directory, run, leaving: 0, left_at: null, creates: 0 };
  const times = { created_at: databaseNowMs, updated_at: databaseNowMs };
  const changed = [
    'kind',
    'local_id',
    'dn',
    'dn_hash',
    'hash',
    'run',
    'state',
    'reason',
    'leaving',
    'left_at',
    'creates',
    'updated_at',
  ] as const;
  await queries
    .insertInto('directory_links')
    .values(links.map(({ dnKey, ...link }) => ({ ...fixed, ...link, ...times, dn_hash: hashOf(dnKey) })))
    .onConflict((on) =>
      on
        .columns(['tenant_id', 'directory_id', 'remote_id'])
        .doUpdateSet(Object.fromEntries(changed.map((column) => [column, sql.ref(`excluded.${column}`)])))
        .where('directory_links.state', '<>', 'ignored'),
    )
    .execute();
}

/** The links of these entries. */
export async function listLinksOfEntries(
  queries: Queries,
  whose: OfDirectory,
  remoteIds: readonly string[],
): Promise<readonly DirectoryLink[]> {
  return linksOf(queries, whose)
    .where(idAmong(queries, 'remote_id', remoteIds))
    .execute();
}

/** The links of entries by their names as they are compared, as groups tell their members. */
export async function listLinksOfNames(queries: Queries, whose: OfDirectory, dnKeys: readonly string[]): Promise<readonly DirectoryLink[]> {
  return linksOf(queries, whose)
    .where(idAmong(queries, 'dn_hash', dnKeys.map(hashOf)))
    .execute();
}

/** The links of people, or groups, who are here, by the names of their entries as they are compared; where two had a name, that seen last. */
export async function listLinksByName(
  queries: Queries,
  whose: OfDirectory,
  kind: DirectoryLinkKind,
  dnKeys: readonly string[],
): Promise<(dnKey: string) => DirectoryLink | undefined> {
  const found = new Map<string, DirectoryLink>();
  for (const link of await listLinksOfNames(queries, whose, dnKeys))
    if (link.kind === kind && link.local_id !== null && (found.get(link.dn_hash)?.run ?? -1) < link.run) found.set(link.dn_hash, link);
  return (dnKey) => found.get(hashOf(dnKey));
}

/** Of which entries of whatever directory these people or groups are. */
export async function listLinksOfLocal(queries: Queries, tenant: TenantId, localIds: readonly string[]): Promise<readonly DirectoryLink[]> {
  return queries
    .selectFrom('directory_links')
    .selectAll()
    .where('tenant_id', '=', tenant)
    .where('local_id', 'is not', null)
    .where(idAmong(queries, 'local_id', localIds))
    .execute();
}

export async function findDirectoryLink(queries: Queries, whose: OfDirectory, remoteId: string): Promise<DirectoryLink | undefined> {
  return linksOf(queries, whose).where('remote_id', '=', remoteId).executeTakeFirst();
}

/** A page of links in the order of their ids. */
export async function listDirectoryLinks(
  queries: Queries,
  whose: OfDirectory,
  { state, ...page }: Page & { readonly state?: DirectoryLinkState | undefined },
): Promise<readonly DirectoryLink[]> {
  return linksOf(queries, whose)
    .where('remote_id', '>', page.after)
    .$if(state !== undefined, (select) => select.where('state', '=', state!))
    .orderBy('remote_id')
    .limit(page.limit)
    .execute();
}

/** Notes that a run saw entries that are as they were: they no longer end. */
export async function noteEntriesSeen(queries: Queries, whose: OfDirectory, run: number, remoteIds: readonly string[]): Promise<void> {
  await changeLinks(queries, whose)
    .set({ run, leaving: 0 })
    .where(idAmong(queries, 'remote_id', remoteIds))
    .execute();
}

/** The same of entries that end all the same: whether somebody let them end already stays. */
export async function noteEndingSeen(queries: Queries, whose: OfDirectory, run: number, remoteIds: readonly string[]): Promise<void> {
  await changeLinks(queries, whose)
    .set({ run })
    .where(idAmong(queries, 'remote_id', remoteIds))
    .execute();
}

/** Only these end: who has somebody here, and is not ignored. */
const mayEnd = sql<boolean>`local_id IS NOT NULL AND state IN ('pending', 'linked', 'conflict', 'skipped')`;

/** Lets entries wait for their end: those of people who are disabled there. */
export async function holdEntries(queries: Queries, whose: OfDirectory, remoteIds: readonly string[]): Promise<void> {
  await changeLinks(queries, whose)
    .set({ leaving: 1, updated_at: databaseNowMs })
    .where(idAmong(queries, 'remote_id', remoteIds))
    .where('leaving', '=', 0)
    .where(mayEnd)
    .execute();
}

/** What ends within it counts together. */
export const endingsTogetherMs = 3_600_000;

/**
 * Lets the entries of a kind wait for their end that a run, which read everything, did not see; those nobody here is are forgotten, once
 * they no longer count. A page of links in the order of their ids; gives after which to go on, or undefined at the end.
 */
export async function holdUnseen(
  queries: Queries,
  whose: OfDirectory,
  run: number,
  { after, limit, kind }: Page & { readonly kind?: DirectoryLinkKind },
): Promise<string | undefined> {
  const page = await queries
    .selectFrom('directory_links')
    .select(['remote_id', 'run', 'kind'])
    .where('tenant_id', '=', whose.tenant)
    .where('directory_id', '=', whose.directory)
    .where('remote_id', '>', after)
    .orderBy('remote_id')
    .limit(limit)
    .execute();
  const unseen = page.filter((link) => link.run < run && (kind ?? link.kind) === link.kind).map((link) => link.remote_id);
  if (unseen.length > 0) {
    const forgotten = queries
      .deleteFrom('directory_links')
      .where('tenant_id', '=', whose.tenant)
      .where('directory_id', '=', whose.directory)
      .where(idAmong(queries, 'remote_id', unseen));
    await forgotten.where('state', '=', 'pending').execute(); // nobody came from it yet, whoever they were to be
    await holdEntries(queries, whose, unseen);
    await forgotten
      .where('local_id', 'is', null)
      .where(({ eb, or }) => or([eb('left_at', 'is', null), eb('left_at', '<=', sql<number>`${databaseNowMs} - ${endingsTogetherMs}`)]))
      .execute();
  }
  return page.length < limit ? undefined : page.at(-1)!.remote_id;
}

/** People, or groups, that wait for their end; those that were let end since a time; and those who are here. */
export async function countEnding(
  queries: Queries,
  { tenant, directory }: OfDirectory,
  sinceMs: number,
  kind: DirectoryLinkKind = 'user',
): Promise<{ readonly held: number; readonly ended: number; readonly linked: number }> {
  const row = await queries
    .selectFrom('directory_links')
    .select([
      sql<number>`sum(CASE WHEN leaving = 1 THEN 1 ELSE 0 END)`.as('held'),
      sql<number>`sum(CASE WHEN left_at > ${sinceMs} THEN 1 ELSE 0 END)`.as('ended'),
      sql<number>`sum(CASE WHEN local_id IS NOT NULL AND state <> 'off' THEN 1 ELSE 0 END)`.as('linked'),
    ])
    .where('tenant_id', '=', tenant)
    .where('directory_id', '=', directory)
    .where('kind', '=', kind)
    .executeTakeFirst();
  return { held: Number(row?.held ?? 0), ended: Number(row?.ended ?? 0), linked: Number(row?.linked ?? 0) };
}

/** Lets everybody end who waits, `but` some; those who are approved by name whatever they hold. Gives how many people. */
export async function releaseEnding(
  queries: Queries,
  whose: OfDirectory,
  { but = [], approved = [] }: { readonly but?: readonly string[]; readonly approved?: readonly string[] } = {},
): Promise<number> {
  const waiting = (leaving: number) =>
    changeLinks(queries, whose)
      .set({ leaving, left_at: databaseNowMs, updated_at: databaseNowMs })
      .where('leaving', '=', 1)
      .returning('kind');
  const named =
    approved.length === 0
      ? []
      : await waiting(3)
          .where(idAmong(queries, 'local_id', approved))
          .execute();
  const others = await waiting(2)
    .$if(but.length > 0, (some) =>
      some.where(({ not, or, eb }) => or([eb('local_id', 'is', null), not(idAmong(queries, 'local_id', but))])),
    )
    .execute();
  return [...named, ...others].filter(({ kind }) => kind === 'user').length;
}

/** Nobody ends any more, until a run says so again: what is read of the directory is something else. */
export async function keepEverybody(queries: Queries, whose: OfDirectory): Promise<void> {
  await changeLinks(queries, whose).set({ leaving: 0 }).where('leaving', '>', 0).execute();
}

/** The next that may end, those that wait for approval aside. */
export async function listEnding(queries: Queries, whose: OfDirectory, limit: number): Promise<readonly DirectoryLink[]> {
  return linksOf(queries, whose).where('leaving', '>=', 2).orderBy('remote_id').limit(limit).execute();
}

/** The hash of an entry that ended by whose end the person was suspended: where they come back, so do they. */
export const suspendedHash = 'suspended';

/** Notes that entries ended. Those of people who are deleted here lose them; `areSuspended`: by this end. */
export async function endEntries(
  queries: Queries,
  whose: OfDirectory,
  remoteIds: readonly string[],
  { areDeleted, areSuspended = false }: { readonly areDeleted: boolean; readonly areSuspended?: boolean },
): Promise<void> {
  const hash = areSuspended ? suspendedHash : null;
  await changeLinks(queries, whose)
    .set({ state: 'off', leaving: 0, hash, reason: null, updated_at: databaseNowMs, ...(areDeleted && { local_id: null }) })
    .where(idAmong(queries, 'remote_id', remoteIds))
    .execute();
}

/** Takes people or groups from entries that ended, so that others may be them. */
export async function freeLocal(queries: Queries, tenant: TenantId, localIds: readonly string[]): Promise<void> {
  await queries
    .updateTable('directory_links')
    .set({ local_id: null, updated_at: databaseNowMs })
    .where('tenant_id', '=', tenant)
    .where('local_id', 'is not', null)
    .where(idAmong(queries, 'local_id', localIds))
    .where('state', '=', 'off')
    .execute();
}

/** Those of links that a person may settle. */
export const settlableStates: readonly DirectoryLinkState[] = ['conflict', 'skipped', 'ignored'];

/**
 * Says who an entry is that waits for a person: undefined when none does.
 * @throws unique violation for somebody here who is another entry
 */
export async function resolveDirectoryLink(
  queries: Queries,
  whose: OfDirectory,
  remoteId: string,
  change: Pick<DirectoryLink, 'local_id' | 'state' | 'creates'>,
): Promise<DirectoryLink | undefined> {
  return changeLinks(queries, whose)
    .set({ ...change, hash: null, reason: null, leaving: 0, updated_at: databaseNowMs })
    .where('remote_id', '=', remoteId)
    .where('state', 'in', settlableStates)
    .returningAll()
    .executeTakeFirst();
}

interface DirectoryLinkCounts extends LinkCounts<DirectoryLinkState> {
  /** People who wait for approval, or for the end of the run. */
  readonly held: number;
}

/** How many links there are, by what they are. */
export async function countDirectoryLinks(queries: Queries, { tenant, directory }: OfDirectory): Promise<DirectoryLinkCounts> {
  const rows = await queries
    .selectFrom('directory_links')
    .select(['state', 'kind', sql<number>`count(*)`.as('count'), sql<number>`sum(CASE WHEN leaving = 1 THEN 1 ELSE 0 END)`.as('held')])
    .where('tenant_id', '=', tenant)
    .where('directory_id', '=', directory)
    .groupBy(['state', 'kind'])
    .execute();
  const { counts, sum } = sumLinks(directoryLinkStates, rows);
  return { ...counts, held: sum((row) => (row.kind === 'user' ? Number(row.held) : 0)) };
}
