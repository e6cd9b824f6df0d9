// If-Match and If-None-Match over weak entity tags (RFC 7232, RFC 7644 section 3.14): `*`, lists, W/ or not.
import { reject } from '../contract/contract-error.ts';

export type Precondition =
  | { readonly kind: 'none' }
  | { readonly kind: 'any' }
  | { readonly kind: 'tags'; readonly tags: ReadonlySet<string> };

const tag = /(?:W\/)?"([^"]*)"|[^\s,"]+/g;

/** Reads the header; a tag without quotes counts as its own text, which no version equals unless it is the number. */
export function readPrecondition(header: string | undefined): Precondition {
  const text = header?.trim() ?? '';
  if (text === '') return { kind: 'none' };
  if (text === '*') return { kind: 'any' };
  return { kind: 'tags', tags: new Set([...text.matchAll(tag)].map((match) => match[1] ?? match[0])) };
}

/** Throws 412 unless the version satisfies the precondition of a write; what a tag says of memberships is no part of it. */
export function requireVersion(precondition: Precondition, version: number): void {
  if (precondition.kind === 'tags' && ![...precondition.tags].some((tag) => versionOf(tag) === String(version))) {
    throw reject('scim.precondition_failed', { reason: 'version_mismatch', expected: version, received: [...precondition.tags].join(' ') });
  }
}

/** Whether a read may be answered 304: some tag is the whole entity tag of what would be shown. */
export function isUnmodified(precondition: Precondition, entityTag: string): boolean {
  return precondition.kind === 'any' || (precondition.kind === 'tags' && [...precondition.tags].some((tag) => `W/"${tag}"` === entityTag));
}

const versionOf = (tag: string): string => tag.split('-', 1)[0]!;
