// Reads a directory of LDAP: connects, signs in, asks the server what it says of itself, and reads people and groups by one connection. It writes
// nothing, there or here. The runner calls it, by the interface of reading.ts.
import { distinguishedNameCharsMax } from '../../contract/directory-limits.ts';
import { readingOf } from '../../domain/extending/ldap-directory.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Outbound } from '../../platform/net/outbound.ts';
import type { ChangeMark, EntryPage, OpenDirectory, PersonEntry, SkippedEntry } from '../reading.ts';
import type { RawEntry } from './answers.ts';
import { type Changes, numberedChanges, secondsOf, timedChanges } from './changes.ts';
import { connectEncrypted } from './connection.ts';
import { dnKeyOf } from './dn-key.ts';
import { type TakenOrSkipped, textsOf } from './entry.ts';
import { type Reading, readGroups } from './groups.ts';
import { type ReadingLimits, readingLimits, readPages } from './pages.ts';
import { askedOfPeople, attributesOf, personOf } from './people.ts';
import { type Session, signIn } from './session.ts';
import type { Allowance } from './waiting.ts';

/** @param limits less of them in tests */
export function createOpenDirectory(
  { outbound, clock }: { readonly outbound: Pick<Outbound, 'admit'>; readonly clock: Clock },
  limits: ReadingLimits = readingLimits,
): OpenDirectory {
  return async (tenant, directory, password, signal) => {
    const allowance = { leftMs: limits.connectMs };
    const socket = await connectEncrypted(outbound, tenant, directory, { allowance, signal });
    try {
      const session = await signIn(socket, { dn: directory.bindDn, password }, allowance, signal);
      const { changes, nowMs } = await askServer(session, allowance, clock);
      const reading: Reading = { session, directory, changes, limits };
      return {
        mark: changes.mark,
        canReadSince: changes.canReadSince,
        people: (since) => readPeople(reading, nowMs, since),
        groups: (since) => readGroups(reading, since),
        referrals: session.referrals,
        close: async () => session.close(),
      };
    } catch (error) {
      socket.destroy();
      throw error;
    }
  };
}

async function* readPeople(
  { session, directory, changes, limits }: Reading,
  nowMs: number,
  since?: ChangeMark,
): AsyncGenerator<EntryPage<PersonEntry>, void, undefined> {
  const { userFilter, idAttribute } = readingOf(directory);
  const attributes = attributesOf(directory);
  const isEverybody = since === undefined || (await haveContainersChanged({ session, directory, changes, limits }, since));
  const search = {
    base: directory.baseDn,
    scope: 'sub' as const,
    filter: isEverybody ? userFilter : `(&${userFilter}${changes.filterSince(since)})`,
    attributes: [...new Set([idAttribute, ...askedOfPeople(attributes), ...changes.asked])],
  };
  const take = (raw: RawEntry): TakenOrSkipped<PersonEntry> => {
    changes.observe(raw);
    return personOf(raw, { idAttribute, attributes, nowMs });
  };
  for await (const page of readPages(session, search, take, { pageMs: limits.pageMs, entriesMax: limits.people })) {
    const entries: PersonEntry[] = [];
    const skipped: SkippedEntry[] = [];
    for (const { isTaken, entry } of page)
      if (isTaken) entries.push(entry);
      else skipped.push(entry);
    yield { entries, skipped };
  }
}

const containers = '(|(objectClass=organizationalUnit)(objectClass=container)(objectClass=nsContainer))';

/** Who is below one that was renamed or moved has another name, and no server says of them that they changed. @throws DirectoryFault */
async function haveContainersChanged({ session, directory, changes, limits }: Reading, since: ChangeMark): Promise<boolean> {
  const filter = `(&${containers}${changes.filterSince(since)})`;
  const search = { base: directory.baseDn, scope: 'sub' as const, filter, attributes: ['1.1'] };
  // The one that everybody is below has kept its name.
  const base = dnKeyOf(directory.baseDn);
  const isBelow = ({ dn }: RawEntry): boolean => dnKeyOf(dn.toString()) !== base;
  for await (const found of readPages(session, search, isBelow, { pageMs: limits.pageMs, entriesMax: limits.people }))
    if (found.includes(true)) return true;
  return false;
}

const saysOfItself = ['highestCommittedUSN', 'dsServiceName', 'currentTime'] as const;
const invocationIdBytes = 16;

/** What the server says of itself (RFC 4512 5.1); one that does not lets nothing be asked. @throws DirectoryFault */
async function askServer(
  session: Session,
  allowance: Allowance,
  clock: Clock,
): Promise<{ readonly changes: Changes; readonly nowMs: number }> {
  const beganAt = performance.now();
  const root = await entryOf(session, allowance, '', saysOfItself);
  const said = (name: string): string | undefined => (root === undefined ? undefined : textsOf(root, name.toLowerCase())[0]);
  const saidSeconds = secondsOf(said('currentTime') ?? '');
  const nowMs = saidSeconds === undefined ? clock.nowMs() : saidSeconds * 1000;
  const [highest, service] = [said('highestCommittedUSN'), said('dsServiceName')];
  const isNumbered = highest !== undefined && /^\d{1,20}$/.test(highest);
  if (!isNumbered || service === undefined || service.length > distinguishedNameCharsMax)
    return { changes: timedChanges(() => (performance.now() - beganAt) / 1000), nowMs };
  const [invocation] = (await entryOf(session, allowance, service, ['invocationId']))?.attributes ?? [];
  const id = invocation?.values.find(({ length }) => length === invocationIdBytes)?.toString('hex');
  const server = id === undefined ? service.toLowerCase() : `${service.toLowerCase()} ${id}`;
  return { changes: numberedChanges({ highest: BigInt(highest), server }, nowMs), nowMs };
}

/** Undefined where it may not be read, or is not there. @throws DirectoryFault */
async function entryOf(session: Session, allowance: Allowance, base: string, attributes: readonly string[]): Promise<RawEntry | undefined> {
  const answers = session.search({ base, scope: 'base', filter: '(objectClass=*)', attributes }, allowance);
  let found: RawEntry | undefined;
  for (let answer = await answers.next(); answer.done !== true; answer = await answers.next()) found ??= answer.value;
  return found;
}
