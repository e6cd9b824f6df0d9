// Reads what a search finds as pages of at most 500, whether or not the server knows pages (RFC 2696). A server that goes round in circles is
// found by the pages it begins alike; how much it may send at all is bounded.
import { hash } from 'node:crypto';
import {
  directoryConnectSecondsMax,
  directoryEmptyPagesMax,
  directoryGroupCharsMax,
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
  chars: directoryGroupCharsMax,
} as const;
export type ReadingLimits = { readonly [Limit in keyof typeof readingLimits]: number };

/** What is handed on at once, however few entries it is. */
const pageBytes = 4 * 1024 * 1024;

/** adminLimitExceeded, unavailableCriticalExtension, unwillingToPerform: what servers answer that may give no pages. */
const givesNoPages: ReadonlySet<number> = new Set([11, 12, 53]);

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
  let asked: { readonly entries: number; readonly cookie: Buffer | undefined } | undefined = first;
  let [entries, emptyPages] = [0, 0];
  for (;;) {
    const allowance = { leftMs: pageMs };
    const answers = session.search(search, allowance, asked);
    const before = entries;
    let page: T[] = [];
    let bytes = 0;
    let answer = await answers.next();
    try {
      for (; answer.done !== true; answer = await answers.next()) {
        if (entries === before) mustBegin(beginnings, answer.value);
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
    } finally {
      // Whoever wants no more of them gives the search up.
      if (answer.done !== true) await answers.return(undefined as never); // it is over, and says nothing
    }
    const { code, cookie } = answer.value;
    if (entries === 0 && asked === first && givesNoPages.has(code)) {
      asked = undefined;
      continue;
    }
    if (code !== 0) throw session.faultOf(answer.value);
    emptyPages = entries === before ? emptyPages + 1 : 0;
    if (emptyPages > directoryEmptyPagesMax) throw faultOf('malformed', `more than ${directoryEmptyPagesMax} pages without an entry`);
    if (page.length > 0) yield page;
    if (cookie === undefined) break;
    asked = { ...first, cookie };
  }
  if (entries === 0) await mustExist(session, search.base, pageMs);
}

/** 389 Directory Server finds nothing by pages, and well, below an entry that is not there. @throws DirectoryFault */
async function mustExist(session: Session, base: string, pageMs: number): Promise<void> {
  const answers = session.search({ base, scope: 'base', filter: '(objectClass=*)', attributes: ['1.1'] }, { leftMs: pageMs });
  let answer = await answers.next();
  while (answer.done !== true) answer = await answers.next();
  if (answer.value.code !== 0) throw session.faultOf(answer.value);
}

const first = { entries: directoryPageEntries, cookie: undefined };

/** No two pages begin with the same entry: in 48 bits of a digest, of which a million take less than what they stand for. */
function mustBegin(beginnings: Set<number>, { dn }: RawEntry): void {
  const beginning = hash('sha256', dn, 'buffer').readUIntBE(0, 6);
  if (beginnings.has(beginning)) throw faultOf('malformed', 'the same page again');
  beginnings.add(beginning);
}
