// What importers of other providers' exports share: their items, and the account of what was left and why.
import { createHash } from 'node:crypto';
import { organizationMetadataBytesMax } from '../../../contract/limits.ts';
import { domainsFault } from '../../../domain/sign-in/domain-proof.ts';
import type { Declared, Json, Section } from '../document.ts';

/** How many of what were left, by what and why. */
export type Left = Map<string, number>;

export interface ImportedItem {
  readonly section: Section;
  readonly value: unknown;
}

export interface Imported {
  readonly items: readonly ImportedItem[];
  readonly left: Left;
}

/** Counts something that was left; gives an empty list, for callers that then have no item. */
export function noteLeft(left: Left, what: string, why: string, count = 1): readonly never[] {
  const text = `${what}: ${why}`;
  left.set(text, (left.get(text) ?? 0) + count);
  return [];
}

/** Members are read one by one. */
export const listOf = (value: unknown): readonly Json[] => (Array.isArray(value) ? (value as readonly Json[]) : []);
export const textOf = (value: unknown): string | undefined => (typeof value === 'string' && value.trim() !== '' ? value : undefined);

/** The id when it is a UUID as this service writes them. */
export function uuidOf(value: unknown): string | undefined {
  return typeof value === 'string' && /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(value) ? value : undefined;
}

const slugCharsMax = 63;
/** A text as the name of an organisation or a role of organisations would be. */
export const slugOf = (text: string): string =>
  text
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, slugCharsMax)
    .replace(/^-+|-+$/g, '');

/** The name of an organisation; undefined, and noted, where that is none of its own. */
export function nameWithin(text: string | undefined, taken: Set<string>, left: Left): string | undefined {
  const name = slugOf(text ?? '');
  if (name === '' || uuidOf(name) !== undefined || taken.has(name)) {
    noteLeft(left, 'organizations', 'without an alias that makes a name of its own here');
    return undefined;
  }
  taken.add(name);
  return name;
}

/** What an organisation says of itself, as far as there is room. */
export function metadataWithin(given: Json, what: string, left: Left): Json | undefined {
  if (Object.keys(given).length === 0) return undefined;
  if (Buffer.byteLength(JSON.stringify(given)) <= organizationMetadataBytesMax) return given;
  noteLeft(left, `${what} of organizations`, `longer than ${organizationMetadataBytesMax} bytes together`);
  return undefined;
}

/** The domains of an organisation. Each is proven here anew, whoever verified it there. */
export function domainsWithin(given: readonly unknown[], taken: Set<string>, left: Left): readonly string[] | undefined {
  const named = given.flatMap((domain) => textOf(domain)?.toLowerCase() ?? []);
  const own = [...new Set(named)].filter((domain) => !taken.has(domain) && domainsFault([domain]) === undefined);
  for (const domain of own) taken.add(domain);
  if (own.length < named.length) noteLeft(left, 'domains of organizations', 'named twice, or no domain', named.length - own.length);
  return own.length === 0 ? undefined : own;
}

/** An id that is the same for the same text every time, so that an import can be repeated. RFC 9562 5.8. */
export function stableId(text: string): string {
  const bytes = createHash('sha256').update(text).digest().subarray(0, 16);
  bytes[6] = (bytes[6]! & 0x0f) | 0x80;
  bytes[8] = (bytes[8]! & 0x3f) | 0x80;
  const hex = bytes.toString('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}

/** The items as a document has them, sections in their order. */
export async function* declare(items: AsyncIterable<ImportedItem> | Iterable<ImportedItem>): AsyncGenerator<Declared> {
  const counts = new Map<Section, number>();
  for await (const { section, value } of items) {
    const index = counts.get(section) ?? 0;
    counts.set(section, index + 1);
    yield { section, path: `${section}[${index}]`, value, lineOf: () => undefined };
  }
}
