// `GET /users?sort=name`: people by any part of what is shown of them, in the order of their names, with how many there are and
// the pages before and behind. What the console lists.
import { findStoredUsers, type StoredUser } from '../../administration/people/users.ts';
import { foldKey } from '../../domain/fold.ts';
import type { Tenant } from '../../domain/tenant/tenant.ts';
import type { Parts } from '../../http/services.ts';
import { countPeople, listPeopleByName, type NamePlace, type PeopleFilter } from '../../storage/people/people-search.ts';
import { invalidField, type Json } from '../endpoint.ts';
import { encodeCursor, pageOf } from '../paging.ts';

interface PeopleQuery {
  readonly limit?: number | undefined;
  readonly cursor?: string | undefined;
  readonly state?: string | undefined;
  readonly search?: string | undefined;
  readonly contains?: string | undefined;
  readonly created_from?: string | undefined;
  readonly created_to?: string | undefined;
}

/** @throws management.invalid_request naming the parameter */
export async function answerPeopleByName(
  { database }: Parts<'database'>,
  tenant: Tenant,
  query: PeopleQuery,
  toJson: (user: StoredUser) => Json,
): Promise<Json> {
  if (query.search !== undefined) throw invalidField('search', 'This parameter does not go with sort. Use contains.');
  const page = pageOf(query);
  const { from, isBackward } = page.after === '' ? { from: undefined, isBackward: false } : placeOf(page.after);
  const filter = filterOf(query);
  const { dialect } = database;
  const { found, total } = await database.read(tenant.id, async (queries) => {
    const scope = { queries, dialect, tenant: tenant.id };
    return {
      found: await listPeopleByName(scope, filter, { limit: page.limit + 1, from, isBackward }),
      total: await countPeople(scope, filter),
    };
  });
  const isMore = found.length > page.limit;
  const shown = isBackward && isMore ? found.slice(1) : found.slice(0, page.limit);
  const users = await findStoredUsers(
    { database },
    tenant.id,
    shown.map(({ id }) => id),
  );
  const [first, last] = [shown[0]?.place, shown.at(-1)?.place];
  return {
    items: users.map(toJson),
    total,
    ...(last !== undefined && (isBackward || isMore) ? { next_cursor: cursorOf(last, false) } : {}),
    ...(first !== undefined && (isBackward ? isMore : from !== undefined) ? { previous_cursor: cursorOf(first, true) } : {}),
  };
}

function filterOf({ contains, state, created_from: from, created_to: to }: PeopleQuery): PeopleFilter {
  const timeOf = (name: string, text: string | undefined): number | undefined => {
    if (text === undefined) return undefined;
    const ms = Date.parse(text);
    if (Number.isNaN(ms)) throw invalidField(name, 'This parameter must be a date or a time (ISO 8601).');
    return ms;
  };
  return {
    contains: contains === undefined ? undefined : foldKey(contains),
    state,
    createdFromMs: timeOf('created_from', from),
    createdToMs: timeOf('created_to', to),
  };
}

const cursorOf = (place: NamePlace, isBackward: boolean): string => encodeCursor(JSON.stringify([isBackward ? 1 : 0, ...place]));

function placeOf(text: string): { readonly from: NamePlace; readonly isBackward: boolean } {
  try {
    const [backward, name, createdAt, id] = JSON.parse(text) as readonly unknown[]; // checked below
    if (typeof name === 'string' && Number.isSafeInteger(createdAt) && typeof id === 'string')
      return { from: [name, Number(createdAt), id], isBackward: backward === 1 };
  } catch {
    // refused below, like any other text that is no cursor
  }
  throw invalidField('cursor', 'This parameter is not a cursor of this list.');
}
