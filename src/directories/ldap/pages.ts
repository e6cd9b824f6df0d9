// Reads what a search finds as pages of at most 500, whether or not the server knows pages (RFC 2696). A server that goes round in circles is
// found by the pages it begins alike; how much it may send at all is bounded.
import { hash } from 'node:crypto';
import {
  directoryConnectSecondsMax,
  directoryEmptyPagesMax,
  directoryGroupsMax,
  directoryMembersMax,
  directoryNestedMembersMax,
  directoryPageEntries,
  directoryPageSecondsMax,
  directoryPeopleMax,
} from '../../contract/directory-limits.ts';
import type { RawEntry } from './answers.ts';
import { faultOf } from './faults.ts';
import type { Search, Session } from './session.ts';

/** What a directory may cost; tests take less. */
export const readingLimits = {
  connectMs: directoryConnectSecondsMax * 1000,
  pageMs: directoryPageSecondsMax * 1000,
  people: directoryPeopleMax,
  groups: directoryGroupsMax,
  members: directoryMembersMax,
  nestedMembers: directoryNestedMembersMax,
} as const;
export type ReadingLimits = { readonly [Limit in keyof typeof readingLimits]: number };

/** What is handed on at once, however few entries it is. */
const pageBytes = 4 * 1024 * 1024;

/**
 * What is taken of each entry, by pages; each may take `pageMs`.
 * @param entriesMax more of them are too many @throws DirectoryFault
 */
export async function* readPages<T>(
  session: Session,
  search: Search,
  take: (entry: RawEntry) => T,
  { pageMs, entriesMax }: { readonly pageMs: number; readonly entriesMax: number },
): AsyncGenerator<readonly T[], void, undefined> {
  const beginnings = new Set<number>();
  let cookie: Buffer | undefined;
  let [entries, emptyPages] = [0, 0];
  do {
    const allowance = { leftMs: pageMs };
    const answers = session.search(search, allowance, { entries: directoryPageEntries, cookie });
    let page: T[] = [];
    let bytes = 0;
    let isEmpty = true;
    try {
      let answer = await answers.next();
      for (; answer.done !== true; answer = await answers.next()) {
        if (isEmpty) mustBegin(beginnings, answer.value);
        isEmpty = false;
        entries += 1;
        if (entries > entriesMax) throw faultOf('too_many', `more than ${entriesMax} entries`);
        if (page.length === directoryPageEntries || bytes > pageBytes) {
          yield page;
          [page, bytes] = [[], 0];
          allowance.leftMs = pageMs;
        }
        bytes += answer.value.bytes;
        page.push(take(answer.value));
      }
      if (answer.value.code !== 0) throw session.faultOf(answer.value);
      cookie = answer.value.cookie;
    } finally {
      // Whoever wants no more of them gives the search up.
      await answers.return(undefined as never);
    }
    emptyPages = isEmpty ? emptyPages + 1 : 0;
    if (emptyPages > directoryEmptyPagesMax) throw faultOf('malformed', `more than ${directoryEmptyPagesMax} pages without an entry`);
    if (page.length > 0) yield page;
  } while (cookie !== undefined);
}

/** No two pages begin with the same entry: in 48 bits of a digest, of which a million take less than what they stand for. */
function mustBegin(beginnings: Set<number>, { dn }: RawEntry): void {
  const beginning = hash('sha256', dn, 'buffer').readUIntBE(0, 6);
  if (beginnings.has(beginning)) throw faultOf('malformed', 'the same page again');
  beginnings.add(beginning);
}
