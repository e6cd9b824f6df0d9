// What a server of LDAP answers (RFC 4511 4.1.1): entries, references, and how an operation ended. Requests are written by ldapts; its readers
// of answers follow lengths that lie without end, so answers are read here. Pure.
import { directoryMessageValuesMax } from '../../contract/directory-limits.ts';
import { type BerReader, berReader, berTag, MalformedAnswer, OversizedAnswer } from './ber.ts';

/** Attributes as they came: what a server sent more than once is there more than once. */
export interface RawEntry {
  readonly kind: 'entry';
  readonly dn: Buffer;
  readonly attributes: readonly RawAttribute[];
  /** Of the whole answer. */
  readonly bytes: number;
}

interface RawAttribute {
  /** With its options, such as `member;range=0-1499`, in lower case. */
  readonly type: string;
  readonly values: readonly Buffer[];
}

interface Reference {
  readonly kind: 'reference';
}

/** How an operation ended (RFC 4511 4.1.9). */
export interface Done {
  readonly kind: 'done';
  readonly operation: 'bind' | 'search' | 'extended';
  readonly code: number;
  /** As the server says it. */
  readonly text: string;
  /** Of the next page (RFC 2696); undefined: it said nothing of pages, or there is none. */
  readonly cookie: Buffer | undefined;
}

export interface Answer {
  readonly messageId: number;
  readonly is: RawEntry | Reference | Done;
}

const pagedResultsOid = '1.2.840.113556.1.4.319';

/** RFC 4511 4.2.2, 4.5.2, 4.12. */
const operations: Readonly<Record<number, Done['operation']>> = { 97: 'bind', 101: 'search', 120: 'extended' };
const entryTag = 0x64;
const referenceTag = 0x73;
/** [3] Referral, [0] Controls. */
const referralTag = 0xa3;
const controlsTag = 0xa0;

/** One whole message. @throws MalformedAnswer */
export function readAnswer(message: Buffer): Answer {
  const outer = berReader(message);
  const reader = outer.within(berTag.sequence);
  if (!outer.isAtEnd()) throw new MalformedAnswer('something after the message');
  const messageId = reader.integer(berTag.integer);
  const tag = reader.peek() ?? 0;
  const body = reader.within(tag);
  if (tag === entryTag) return { messageId, is: readEntry(body, message.length) };
  if (tag === referenceTag) return { messageId, is: { kind: 'reference' } };
  const operation = operations[tag];
  if (operation === undefined) throw new MalformedAnswer(`an answer of tag ${tag}`);
  const code = body.integer(berTag.enumeration);
  body.octets(berTag.octets); // matchedDN
  const text = body.octets(berTag.octets).toString();
  if (body.peek() === referralTag) body.skip();
  const cookie = reader.peek() === controlsTag ? readCookie(reader.within(controlsTag)) : undefined;
  return { messageId, is: { kind: 'done', operation, code, text, cookie } };
}

/** Neither more attributes nor more values than may be: each is a hundred bytes of memory, and may be two of a message. */
function readEntry(reader: BerReader, bytes: number): RawEntry {
  const dn = reader.octets(berTag.octets);
  const list = reader.within(berTag.sequence);
  const attributes: RawAttribute[] = [];
  let count = 0;
  const take = (): void => {
    count += 1;
    if (count > directoryMessageValuesMax) throw new OversizedAnswer(`more than ${directoryMessageValuesMax} values of an entry`);
  };
  while (!list.isAtEnd()) {
    take();
    const attribute = list.within(berTag.sequence);
    const type = attribute.octets(berTag.octets).toString('latin1').toLowerCase();
    const set = attribute.within(berTag.set);
    const values: Buffer[] = [];
    while (!set.isAtEnd()) {
      take();
      values.push(set.octets(berTag.octets));
    }
    attributes.push({ type, values });
  }
  return { kind: 'entry', dn, attributes, bytes };
}

function readCookie(controls: BerReader): Buffer | undefined {
  let cookie: Buffer | undefined;
  while (!controls.isAtEnd()) {
    const control = controls.within(berTag.sequence);
    const oid = control.octets(berTag.octets).toString('latin1');
    if (control.peek() === berTag.boolean) control.skip();
    if (oid !== pagedResultsOid || control.isAtEnd()) continue;
    const value = berReader(control.octets(berTag.octets)).within(berTag.sequence);
    value.integer(berTag.integer); // an estimate of how many there are
    cookie = value.octets(berTag.octets);
  }
  return cookie === undefined || cookie.length === 0 ? undefined : cookie;
}
