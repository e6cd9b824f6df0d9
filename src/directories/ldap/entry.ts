// An entry as it came, and what of it can be taken: its name, what identifies it for good, and its values. One that a database could not keep,
// or that is larger than may be, says why it is skipped. Pure.
import {
  directoryEntryBytesMax,
  directoryIdCharsMax,
  directoryValueCharsMax,
  distinguishedNameCharsMax,
} from '../../contract/directory-limits.ts';
import type { SkippedEntry } from '../reading.ts';
import type { RawEntry } from './answers.ts';
import { dnKeyOf } from './dn-key.ts';
import { shownText } from './faults.ts';

interface Taken<T> {
  readonly isTaken: true;
  readonly entry: T;
}

interface Skipped {
  readonly isTaken: false;
  readonly entry: SkippedEntry;
}

export type TakenOrSkipped<T> = Taken<T> | Skipped;

export interface Known {
  readonly remoteId: string;
  readonly dn: string;
  readonly dnKey: string;
}

/** Why an entry cannot be taken. */
class Unusable extends Error {}

const reader = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const isTooLong = (text: string, charsMax: number): boolean =>
  text.length > charsMax && (text.length > 2 * charsMax || [...text].length > charsMax);

/** Undefined for what is no UTF-8, or holds a NUL, which databases do not keep. */
export function textOf(value: Buffer): string | undefined {
  if (value.includes(0)) return undefined;
  try {
    return reader.decode(value);
  } catch {
    return undefined;
  }
}

/** Values of an attribute; those with options, such as of a language, are others. @param type in lower case */
const rawValues = ({ attributes }: RawEntry, type: string): readonly Buffer[] =>
  attributes.flatMap((attribute) => (attribute.type === type ? attribute.values : []));

/** What is text of an attribute. */
export const textsOf = (entry: RawEntry, type: string): readonly string[] => rawValues(entry, type).flatMap((value) => textOf(value) ?? []);

/**
 * Takes an entry.
 * @param bytes of it that count
 * @param take what it is for; gives a sentence where it cannot be
 */
export function takeEntry<T>(
  raw: RawEntry,
  idAttribute: string,
  bytes: number,
  take: (known: Known, values: (type: string) => readonly string[]) => T,
): TakenOrSkipped<T> {
  const { dn, dnKey } = nameOf(raw);
  const id = idOf(raw, idAttribute);
  const skip = (reason: string): Skipped => ({
    isTaken: false,
    entry: { remoteId: id, dn: shownText(dn ?? raw.dn.toString(), distinguishedNameCharsMax), dnKey, reason },
  });
  if (dn === undefined) return skip('Its name is no text.');
  if (isTooLong(dn, distinguishedNameCharsMax)) return skip(`Its name is longer than ${distinguishedNameCharsMax} characters.`);
  if (id === undefined) return skip(`It says no ${idAttribute} that can be read.`);
  if (bytes > directoryEntryBytesMax) return skip(`It is larger than ${directoryEntryBytesMax / 1024} KiB.`);
  try {
    return { isTaken: true, entry: take({ remoteId: id, dn, dnKey }, (type) => valuesOf(raw, type)) };
  } catch (error) {
    if (error instanceof Unusable) return skip(error.message);
    throw error;
  }
}

/** One that is no text is like itself alone. */
function nameOf({ dn }: RawEntry): { readonly dn: string | undefined; readonly dnKey: string } {
  const text = textOf(dn);
  return { dn: text, dnKey: text === undefined ? `\\x${dn.toString('hex')}` : dnKeyOf(text) };
}

/** @throws Unusable */
function valuesOf(raw: RawEntry, type: string): readonly string[] {
  return rawValues(raw, type).map((value) => {
    const text = textOf(value);
    if (text === undefined) throw new Unusable(`Its ${type} is no text.`);
    if (isTooLong(text, directoryValueCharsMax)) throw new Unusable(`Its ${type} is longer than ${directoryValueCharsMax} characters.`);
    return text;
  });
}

const guidBytes = 16;
const visible = /^[\p{L}\p{N}\p{P}\p{S}]+$/u;

/** What identifies it for good; undefined: nothing that can be read, or more than one. */
function idOf(raw: RawEntry, idAttribute: string): string | undefined {
  const [value, another] = rawValues(raw, idAttribute.toLowerCase());
  if (value === undefined || another !== undefined) return undefined;
  if (idAttribute === 'objectGUID') return value.length === guidBytes ? guidText(value) : undefined;
  const text = textOf(value)?.toLowerCase();
  return text !== undefined && visible.test(text) && !isTooLong(text, directoryIdCharsMax) ? text : undefined;
}

/** As Microsoft writes one: of its five parts the first three are numbers with their least byte first (MS-DTYP 2.3.4.2, 2.3.4.3). */
export function guidText(bytes: Buffer): string {
  const hex = (from: number, to: number): string => bytes.toString('hex', from, to);
  const number = (from: number, to: number): string => Buffer.from(bytes.subarray(from, to)).reverse().toString('hex');
  return [number(0, 4), number(4, 6), number(6, 8), hex(8, 10), hex(10, guidBytes)].join('-');
}
