// Writes what a request changed of a user whose row is held: what differs, and what ends with a suspension.
import type { Queries } from '../storage/engine/database.ts';
import { keepFromDirectories } from '../storage/people/directories/scim-members.ts';
import type { UserRow } from '../storage/people/user-rows.ts';
import * as people from '../storage/people/user-writer.ts';
import type { Document } from './document.ts';
import { everything } from './list/projection.ts';
import { audit, type ScimContext } from './request-context.ts';
import { type Stored, storedUser } from './user-loader.ts';
import { changedColumns, changedCustom, changedLists } from './user-rows.ts';

/** Writes the difference of two documents of a user; `active` is the person's own state. */
export async function writeUser(context: ScimContext, queries: Queries, row: UserRow, before: Document, after: Document): Promise<Stored> {
  const state = after['active'] === true ? 'active' : 'suspended';
  const change = {
    profile: changedColumns(after, before),
    lists: changedLists(after, before),
    custom: changedCustom(context.tenant.customAttributes, after, { document: before, row }),
    state: state === row.state ? undefined : state,
  } as const;
  if (state !== row.state && context.directory.organization === undefined) await keepFromDirectories(queries, context.tenant.id, row.id);
  const updated = (await people.changeUser(queries, context.tenant.id, row.id, change))!; // locked above
  const target = `user:${row.id}`;
  if (state !== row.state) await audit(context, queries, { type: state === 'suspended' ? 'user.suspended' : 'user.activated', target });
  await audit(context, queries, { type: 'user.updated', target, data: { version: updated.version } });
  return storedUser(context, queries, updated, everything);
}
