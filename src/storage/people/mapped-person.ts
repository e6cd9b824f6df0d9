// Reads of a person what mapping rules need, and nothing else.

import type { TenantId, UserId } from '../../domain/ids.ts';
import type { MappedElement, MappedPerson, Source } from '../../domain/mappings/paths.ts';
import { type CustomAttribute, fromCustomCell } from '../../domain/people/custom-attributes.ts';
import { addressParts, userLists } from '../../domain/people/user-attributes.ts';
import type { Queries } from '../engine/database.ts';
import { listGroupsOfUser } from './groups.ts';
import { findUserAddress, listUserEmails, listUserValues } from './user-lists.ts';
import type { UserAddress, UserRow } from './user-rows.ts';
import { findUser } from './users.ts';

/** The person, or undefined for an unknown one; groups in the order of their names. */
export async function findMappedPerson(
  queries: Queries,
  tenant: TenantId,
  userId: UserId,
  attributes: readonly CustomAttribute[],
  sources: ReadonlySet<Source>,
): Promise<(MappedPerson & { readonly user: UserRow }) | undefined> {
  const user = await findUser(queries, tenant, userId);
  if (user === undefined) return undefined;
  const groups = sources.has('groups') ? await listGroupsOfUser(queries, tenant, userId) : [];
  return {
    user,
    lists: await readLists(queries, tenant, userId, sources),
    address: sources.has('address') ? addressOf(await findUserAddress(queries, tenant, userId)) : undefined,
    groups: groups
      .map((group) => ({ id: group.id, name: group.display_name }))
      .toSorted((one, other) => (one.name < other.name ? -1 : Number(one.name > other.name))),
    custom: sources.has('custom') ? fromCustomCell(attributes, user.custom) : {},
  };
}

async function readLists(queries: Queries, tenant: TenantId, userId: UserId, sources: ReadonlySet<Source>): Promise<MappedPerson['lists']> {
  const needed = userLists.filter(({ path }) => sources.has(`list:${path}`));
  const lists: Record<string, readonly MappedElement[]> = {};
  if (needed.some(({ table }) => table === 'emails')) lists['emails'] = primaryFirst(await listUserEmails(queries, tenant, userId));
  const others = needed.filter(({ table }) => table === 'values');
  const rows =
    others.length === 0
      ? []
      : await listUserValues(
          queries,
          tenant,
          userId,
          others.map(({ scim }) => scim),
        );
  for (const { path, scim } of others) lists[path] = primaryFirst(rows.filter(({ attribute }) => attribute === scim));
  return lists;
}

type Element = MappedElement & { readonly is_primary: number; readonly position: number };

const primaryFirst = (elements: readonly Element[]): readonly MappedElement[] =>
  elements.toSorted((one, other) => other.is_primary - one.is_primary || one.position - other.position);

/** OpenID Connect Core 5.1.1. */
function addressOf(address: UserAddress | undefined): Readonly<Record<string, string>> | undefined {
  if (address === undefined) return undefined;
  const given = addressParts
    .map(([, part]) => [part, address[part]] as const)
    .filter((part): part is [(typeof part)[0], string] => part[1] !== null);
  return given.length === 0 ? undefined : Object.fromEntries(given);
}
