// Cursors of RFC 9865: where a page ended, signed with a key of the tenant and bound to resource type, filter and order.
// A cursor that is bad, foreign, of another query or expired is invalidValue (07-scim).
import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { Position } from '../../storage/people/directory-scan.ts';
import { invalidValue } from '../refuse.ts';

/** After which row (`place`) of which order (`path`) the page starts (undefined: at the start), or how many resources come before it.
 * The names are those of cursors in use. */
export type PagePosition = { readonly after: { readonly path: number; readonly place: Position } | undefined } | { readonly skip: number };

const lifetimeMs = 3_600_000;
const macBytes = 16;

/** The hash a cursor is bound to: type, filter text and order. */
export function bindingOf(parts: readonly (string | undefined)[]): string {
  return createHash('sha256')
    .update(JSON.stringify(parts.map((part) => part ?? null)))
    .digest('base64url')
    .slice(0, 22);
}

/** Makes the cursor of the page after a position. */
export function writeCursor(key: Buffer, binding: string, position: PagePosition, nowMs: number): string {
  const payload = Buffer.from(JSON.stringify([nowMs + lifetimeMs, binding, position]));
  return `${payload.toString('base64url')}.${macOf(key, payload).toString('base64url')}`;
}

/** Reads a cursor back, or throws invalidValue. */
export function readCursor(key: Buffer, binding: string, cursor: string, nowMs: number): PagePosition {
  const [body, mac] = cursor.split('.', 2);
  const payload = Buffer.from(body ?? '', 'base64url');
  const given = Buffer.from(mac ?? '', 'base64url');
  const expected = macOf(key, payload);
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) throw invalidValue('The cursor is not valid.');
  const [expiresMs, bound, position] = JSON.parse(payload.toString()) as [number, string, PagePosition]; // signed by writeCursor
  if (bound !== binding) throw invalidValue('The cursor belongs to another query.');
  if (nowMs >= expiresMs) throw invalidValue('The cursor has expired.');
  return position;
}

function macOf(key: Buffer, payload: Buffer): Buffer {
  return createHmac('sha256', key).update(payload).digest().subarray(0, macBytes);
}
