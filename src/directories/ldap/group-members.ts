// Who is in a group, as its entry says: by `member` or `uniqueMember`, all at once or by ranges, of which the server is asked for the others
// (MS-ADTS 3.1.1.3.1.3.3).
import { distinguishedNameCharsMax } from '../../contract/directory-limits.ts';
import type { RawEntry } from './answers.ts';
import { dnKeyOf } from './dn-key.ts';
import { textOf } from './entry.ts';
import { faultOf } from './faults.ts';
import type { Session } from './session.ts';

export const memberAttributes = ['member', 'uniqueMember'] as const;
const lowerCase: readonly string[] = memberAttributes.map((name) => name.toLowerCase());

export interface RawMembers {
  readonly values: readonly Buffer[];
  /** There are more of them, from this one on. */
  readonly rest: Range | undefined;
  /** Of its other attributes. */
  readonly bytesOfOthers: number;
}

interface Range {
  readonly attribute: string;
  readonly from: number;
}

const rangeOption = /^([^;]+);range=(\d{1,9})-(\d{1,9}|\*)$/;

export function rawMembers({ attributes }: RawEntry): RawMembers {
  const members: (readonly Buffer[])[] = [];
  let rest: Range | undefined;
  let bytesOfOthers = 0;
  for (const { type, values } of attributes) {
    const [, attribute = type, from, last = '*'] = rangeOption.exec(type) ?? [];
    if (lowerCase.includes(attribute)) members.push(values);
    else bytesOfOthers += type.length + values.reduce((sum, { length }) => sum + length, 0);
    if (from !== undefined && last !== '*' && lowerCase.includes(attribute)) rest = { attribute, from: Number(last) + 1 };
  }
  return { values: members.flat(), rest, bytesOfOthers };
}

const uniqueIdentifier = /#'[01]*'B$/;
const slice = 2000;

/**
 * Names as they are compared, some at a time. Who cannot be read, or has a longer name than may be, cannot be a person here either. A uniqueMember
 * may end with bits that tell namesakes apart (RFC 4517 3.3.21).
 */
export function* memberKeys(values: readonly Buffer[]): Generator<readonly string[]> {
  for (let at = 0; at < values.length; at += slice)
    yield values.slice(at, at + slice).flatMap((value) => {
      const name = textOf(value)?.replace(uniqueIdentifier, '');
      return name === undefined || name.length > distinguishedNameCharsMax ? [] : dnKeyOf(name);
    });
}

/** The ranges of members behind the first. @throws DirectoryFault */
export async function* furtherMembers(
  session: Session,
  pageMs: number,
  dn: string,
  begin: Range,
): AsyncGenerator<readonly Buffer[], void, undefined> {
  for (let at: Range | undefined = begin; at !== undefined; ) {
    const attributes = [`${at.attribute};range=${at.from}-*`];
    const answers = session.search({ base: dn, scope: 'base', filter: '(objectClass=*)', attributes }, { leftMs: pageMs });
    let next: Range | undefined;
    let answer = await answers.next();
    for (; answer.done !== true; answer = await answers.next()) {
      const { values, rest } = rawMembers(answer.value);
      next = rest;
      yield values;
    }
    if (answer.value.code !== 0) throw session.faultOf(answer.value);
    if (next !== undefined && next.from <= at.from) throw faultOf('malformed', 'a range of members that goes back');
    at = next;
  }
}
