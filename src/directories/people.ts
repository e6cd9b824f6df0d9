// What becomes of a page of people: who here each is, whether something of them differs, or why nothing is done. It reads and decides, and
// writes nothing, so that a run and a plan of one say the same; whoever writes holds the rows it gives.
import { hash as digest } from 'node:crypto';
import type { plannedChanges } from '../domain/extending/directory-runs.ts';
import { foldKey } from '../domain/fold.ts';
import { valuesOfEntry, type WantedPerson, wantedPerson } from '../domain/mappings/directory-values.ts';
import type { Queries } from '../storage/engine/database.ts';
import { dialectOf } from '../storage/engine/rows/id-list.ts';
import { listManagersAmong } from '../storage/organizations/managers.ts';
import type { UserRow } from '../storage/people/user-rows.ts';
import { listOwners, lockUsers } from '../storage/people/users.ts';
import {
  type DirectoryLink,
  idOfName,
  listLinksByName,
  listLinksOfEntries,
  listLinksOfLocal,
  suspendedHash,
  type WrittenLink,
} from '../storage/records/directory-links.ts';
import type { Work } from './parts.ts';
import type { EntryPage, PersonEntry, SkippedEntry } from './reading.ts';

/** `seen`: nothing of it is written; `linked`: its link alone; `ends`: it is disabled there. */
type Decision =
  | { readonly does: 'seen' }
  | { readonly does: 'linked'; readonly link: WrittenLink }
  | { readonly does: 'ends'; readonly waits: boolean }
  | {
      readonly does: 'creates';
      readonly link: WrittenLink;
      readonly person: WantedPerson;
      /** The entry was known, and nobody here. */
      readonly wasKnown: boolean;
    }
  | {
      readonly does: 'changes';
      readonly link: WrittenLink;
      readonly person: WantedPerson;
      readonly row: UserRow;
      /** The directory suspended them, and lets them in again. */
      readonly activates: boolean;
      readonly adopts: boolean;
    };

export interface Judged {
  readonly remoteId: string;
  readonly dn: string;
  readonly userName: string | null;
  readonly counts: 'create' | 'adopt' | 'update' | 'activate' | 'end' | 'unchanged' | 'conflict' | 'skipped' | 'ignored';
  readonly decision: Decision;
}

/** `end` is one of several, as the directory says. */
export const plannedAs = ({ deprovision }: Work['directory'], { counts }: Judged): (typeof plannedChanges)[number] | typeof counts =>
  counts === 'end' ? deprovision : counts;

/** User names and addresses that entries read before are about to have. */
export interface Claims {
  readonly names: Set<string>;
  readonly emails: Set<string>;
}
export const noClaims = (): Claims => ({ names: new Set(), emails: new Set() });

interface Judging {
  /** Nobody writes what it says: rows are not held. */
  readonly isPlan: boolean;
  readonly claims: Claims;
  /** Of the only entry: the value that somebody else has, as the database said. */
  readonly taken?: string | undefined;
}

type Candidate = {
  readonly entry: PersonEntry;
  readonly link: DirectoryLink | undefined;
  readonly person: WantedPerson;
  readonly hash: string;
};

const hashOf = (person: WantedPerson): string => digest('sha256', JSON.stringify(person), 'base64url');

/** The entries of a page once each, whatever a server repeats. */
export const distinctEntries = <Entry extends { readonly remoteId: string }>(entries: readonly Entry[]): readonly Entry[] => [
  ...new Map(entries.map((entry) => [entry.remoteId, entry])).values(),
];

type IdentifiedEntry = SkippedEntry & { readonly remoteId: string };

/** Entries that cannot be taken, each once: one that says no id is who had its name, so that they do not end for it. */
export async function identifySkipped(
  queries: Queries,
  { whose }: Work,
  skipped: readonly SkippedEntry[],
  kind: DirectoryLink['kind'],
): Promise<readonly IdentifiedEntry[]> {
  const nameless = skipped.filter(({ remoteId }) => remoteId === undefined).map(({ dnKey }) => dnKey);
  const linkOfName = nameless.length === 0 ? () => undefined : await listLinksByName(queries, whose, kind, nameless);
  return distinctEntries(
    skipped.map((one) => ({ ...one, remoteId: one.remoteId ?? linkOfName(one.dnKey)?.remote_id ?? idOfName(one.dnKey) })),
  );
}

/** Decides over people of a page, each once. */
export async function judgePeople(
  queries: Queries,
  work: Work,
  page: EntryPage<PersonEntry>,
  judging: Judging,
): Promise<readonly Judged[]> {
  const entries = distinctEntries(page.entries);
  const taken = new Set(entries.map(({ remoteId }) => remoteId));
  const skipped = (await identifySkipped(queries, work, page.skipped, 'user')).filter(({ remoteId }) => !taken.has(remoteId));
  const ids = [...taken, ...skipped.map(({ remoteId }) => remoteId)];
  const links = new Map((await listLinksOfEntries(queries, work.whose, ids)).map((link) => [link.remote_id, link]));
  const judged = skipped.map((one) => judgeSkipped(one, links.get(one.remoteId), one.reason, 'user'));
  const candidates: Candidate[] = [];
  for (const entry of entries) {
    const link = links.get(entry.remoteId);
    const first = judgeAlone(work, entry, link);
    if ('decision' in first) judged.push(first);
    else candidates.push(first);
  }
  return [...judged, ...(await judgeCandidates(queries, work, candidates, judging))];
}

/** The decision over an entry that asks for nobody else, or what is to be decided with others. */
function judgeAlone(work: Work, entry: PersonEntry, link: DirectoryLink | undefined): Judged | Candidate {
  const { remoteId, dn } = entry;
  const one = { remoteId, dn, userName: null };
  if (link?.state === 'ignored') return { ...one, counts: 'ignored', decision: { does: 'seen' } };
  if (link?.kind === 'group') return { ...one, counts: 'skipped', decision: { does: 'seen' } };
  if (entry.isDisabled) return judgeDisabled(entry, link);
  const read = valuesOfEntry(work.rules, work.tenant.slug, entry.attributes);
  const wanted = read.ok ? wantedPerson(work.rules, work.tenant.customAttributes, read.values) : read;
  if (!wanted.ok) return judgeSkipped(entry, link, wanted.reason, 'user');
  const { person } = wanted;
  const hash = hashOf(person);
  if (link?.state !== 'linked' || link.local_id === null || link.hash !== hash) return { entry, link, person, hash };
  const isMoved = link.dn !== dn;
  const decision: Decision = isMoved ? { does: 'linked', link: linkOf(entry, { ...link, kind: 'user' }) } : { does: 'seen' };
  return { ...one, userName: person.userName, counts: 'unchanged', decision };
}

type Linked = Pick<WrittenLink, 'kind' | 'local_id' | 'hash' | 'state' | 'reason'>;

const linkOf = (
  { remoteId, dn, dnKey }: Pick<PersonEntry, 'remoteId' | 'dn' | 'dnKey'>,
  { kind, local_id: localId, hash, state, reason }: Linked,
): WrittenLink => ({ remote_id: remoteId, dn, dnKey, kind, local_id: localId, hash, state, reason });

/** A link as it is to be, or nothing where it is so. */
export function written(entry: Pick<PersonEntry, 'remoteId' | 'dn' | 'dnKey'>, before: DirectoryLink | undefined, after: Linked): Decision {
  const isSame =
    before !== undefined &&
    before.dn === entry.dn &&
    before.leaving === 0 &&
    (['kind', 'local_id', 'hash', 'state', 'reason'] as const).every((key) => before[key] === after[key]);
  return isSame ? { does: 'seen' } : { does: 'linked', link: linkOf(entry, after) };
}

/** Whoever is here stays as they are; one that ended stays so. */
export function judgeSkipped(
  entry: Pick<PersonEntry, 'remoteId' | 'dn' | 'dnKey'>,
  link: DirectoryLink | undefined,
  reason: string,
  kind: DirectoryLink['kind'],
): Judged {
  const one = { remoteId: entry.remoteId, dn: entry.dn, userName: null };
  if (link?.state === 'ignored') return { ...one, counts: 'ignored', decision: { does: 'seen' } };
  if (link !== undefined && (link.kind !== kind || (link.state === 'off' && link.local_id !== null)))
    return { ...one, counts: 'skipped', decision: { does: 'seen' } };
  const after = { kind, local_id: link?.local_id ?? null, hash: null, state: 'skipped', reason } as const;
  return { ...one, counts: 'skipped', decision: written(entry, link, after) };
}

/** Nobody is made of an entry that is disabled, and whoever is here ends. */
function judgeDisabled(entry: PersonEntry, link: DirectoryLink | undefined): Judged {
  const one = { remoteId: entry.remoteId, dn: entry.dn, userName: null };
  if (link !== undefined && link.local_id !== null)
    return link.state === 'off'
      ? { ...one, counts: 'unchanged', decision: { does: 'seen' } }
      : { ...one, counts: 'end', decision: { does: 'ends', waits: link.leaving > 0 } };
  const after = { kind: 'user', local_id: null, hash: null, state: 'off', reason: 'It is disabled there.' } as const;
  return { ...one, counts: 'unchanged', decision: written(entry, link, after) };
}

/** What is known of people here, to decide over candidates. */
interface Here {
  readonly rows: ReadonlyMap<string, UserRow>;
  readonly names: ReadonlyMap<string, string>;
  readonly emails: ReadonlyMap<string, string>;
  readonly managers: ReadonlySet<string>;
  /** Those who are an entry that has not ended, by its id. */
  readonly entryOf: ReadonlyMap<string, DirectoryLink>;
}

async function judgeCandidates(
  queries: Queries,
  work: Work,
  candidates: readonly Candidate[],
  judging: Judging,
): Promise<readonly Judged[]> {
  if (candidates.length === 0) return [];
  const here = await lookAround(queries, work, candidates, judging);
  return candidates.map((candidate) => judgeCandidate(work, candidate, here, judging));
}

async function lookAround(queries: Queries, { tenant }: Work, candidates: readonly Candidate[], { isPlan }: Judging): Promise<Here> {
  const owners = await listOwners(queries, dialectOf(queries), tenant.id, {
    names: candidates.map(({ person }) => foldKey(person.userName)),
    emails: candidates.flatMap(({ person: { email } }) => (email == null ? [] : [foldKey(email)])),
  });
  const owning = [...owners.names, ...owners.emails].map(({ id }) => id);
  const ids = [...new Set([...owning, ...candidates.flatMap(({ link }) => link?.local_id ?? [])])];
  const rows = await lockUsers(queries, tenant.id, ids, { isRead: isPlan });
  const others = await listLinksOfLocal(queries, tenant.id, owning);
  return {
    rows: new Map(rows.map((row) => [row.id, row])),
    names: new Map(owners.names.map(({ key, id }) => [key, id])),
    emails: new Map(owners.emails.map(({ key, id }) => [key, id])),
    managers: await listManagersAmong(queries, tenant.id, ids),
    entryOf: new Map(others.filter(({ state }) => state !== 'off').map((link) => [link.local_id!, link])),
  };
}

/** Whoever holds a role or manages an organisation: who controls a directory does not come to be them, nor changes where their mail goes. */
const hasPower = ({ rows, managers }: Here, id: string): boolean => rows.get(id)?.role === 'admin' || managers.has(id);
const powerReason = 'Whoever holds a role or manages an organisation is not changed by a directory.';

function judgeCandidate(work: Work, candidate: Candidate, here: Here, { claims, taken }: Judging): Judged {
  const { entry, link, person, hash } = candidate;
  const name = foldKey(person.userName);
  const email = person.email == null ? undefined : foldKey(person.email);
  const one = { remoteId: entry.remoteId, dn: entry.dn, userName: person.userName };
  const own = link?.local_id != null && here.rows.has(link.local_id) ? link.local_id : undefined;
  const conflict = (reason: string, localId: string | null = own ?? null): Judged => {
    const after = { kind: 'user', local_id: localId, hash, state: 'conflict', reason } as const;
    // Whom it suspended stays so, and known for it.
    const kept = link?.state === 'off' && localId !== null ? ({ ...after, hash: link.hash, state: 'off' } as const) : after;
    return { ...one, counts: 'conflict', decision: written(entry, link, kept) };
  };
  if (taken !== undefined) return conflict(takenReason(taken));
  const found = own === undefined ? findOwner(work, candidate, here, { name, email }) : { id: own };
  if ('reason' in found) return conflict(found.reason);
  const { id } = found;
  if (id !== undefined && hasPower(here, id)) return conflict(powerReason, link?.state === 'pending' ? null : own);
  const other = takenBySomebody(here, claims, { id, name, email });
  if (other !== undefined) return conflict(takenReason(other));
  claims.names.add(name);
  if (email !== undefined) claims.emails.add(email);
  const after = linkOf(entry, { kind: 'user', local_id: id ?? null, hash, state: 'linked', reason: null });
  if (id === undefined)
    return { ...one, counts: 'create', decision: { does: 'creates', link: after, person, wasKnown: link !== undefined } };
  const row = here.rows.get(id)!; // looked up above
  const adopts = own === undefined || link?.state === 'pending';
  const activates = link?.state === 'off' && link.hash === suspendedHash && row.state === 'suspended';
  const counts = adopts ? 'adopt' : activates ? 'activate' : 'update';
  return { ...one, counts, decision: { does: 'changes', link: after, person, row, activates, adopts } };
}

const takenReason = (field: string): string =>
  field.startsWith('custom.')
    ? `Somebody else here has its value of ${field.slice('custom.'.length)}.`
    : `Somebody else here has this ${field === 'user_name' ? 'user name' : 'email address'}.`;

interface Keys {
  readonly name: string;
  readonly email: string | undefined;
}

/** Who here an entry is that nobody is yet; nobody where it is to be a new person. */
function findOwner(
  { directory: { match } }: Work,
  { entry, link }: Candidate,
  { names, emails, entryOf }: Here,
  { name, email }: Keys,
): { readonly id: string | undefined } | { readonly reason: string } {
  if (match === 'none' || link?.creates === 1) return { id: undefined };
  const id = match === 'userName' ? names.get(name) : email === undefined ? undefined : emails.get(email);
  const other = id === undefined ? undefined : entryOf.get(id);
  if (other !== undefined && other.remote_id !== entry.remoteId) return { reason: 'Who it would be here is another entry.' };
  return { id };
}

/** What of a name and an address is somebody else's, here or of an entry before. */
function takenBySomebody(
  { names, emails }: Here,
  claims: Claims,
  { id, name, email }: Keys & { readonly id: string | undefined },
): 'user_name' | 'emails' | undefined {
  if (claims.names.has(name) || (names.has(name) && names.get(name) !== id)) return 'user_name';
  if (email === undefined) return undefined;
  return claims.emails.has(email) || (emails.has(email) && emails.get(email) !== id) ? 'emails' : undefined;
}
