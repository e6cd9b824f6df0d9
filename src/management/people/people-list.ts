// `GET /users?sort=`: people chosen by what is shown of them and where they stand, in an order that has an index, with how many there are and
// the pages before and behind. What the console lists.
import Type, { type Static } from 'typebox';
import { findStoredUsers, type StoredUser } from '../../administration/people/users.ts';
import { emailCharsMax, nameCharsMax } from '../../contract/limits.ts';
import { foldKey } from '../../domain/fold.ts';
import { type PeopleSort, peopleChoiceNames, peopleChoices, peopleSorts } from '../../domain/people/people-list.ts';
import type { Parts } from '../../http/services.ts';
import type { PeopleFilter } from '../../storage/people/people-conditions.ts';
import { countPeople, listPeople, type NamePlace } from '../../storage/people/people-search.ts';
import { type Call, invalidField, type Json, requireCapabilities } from '../endpoint.ts';
import { encodeCursor, pageOf, timeOf } from '../paging.ts';
import { closed, oneOf, pageQuery } from '../schemas.ts';

const text = Type.Optional(Type.String({ minLength: 1, maxLength: emailCharsMax }));
const named = Type.Optional(Type.String({ minLength: 1, maxLength: nameCharsMax }));
const oneIn = <Name extends string>(values: Readonly<Record<Name, string>>) => Type.Optional(oneOf(Object.keys(values) as Name[])); // its own

/** What the list of people may be asked for. */
export const peopleQuery = closed({
  ...pageQuery.properties,
  search: text,
  sort: Type.Optional(oneOf(peopleSorts)),
  contains: text,
  created_from: Type.Optional(Type.String()),
  created_to: Type.Optional(Type.String()),
  state: oneIn(peopleChoices.state.values),
  origin: oneIn(peopleChoices.origin.values),
  invited: oneIn(peopleChoices.invited.values),
  group: named,
  role: named,
  signed_in_since: Type.Optional(Type.String()),
  not_signed_in_since: Type.Optional(Type.String()),
});
type PeopleQuery = Static<typeof peopleQuery>;

/** What needs an order; the plain list has `state` and `search` alone. */
const sortedAlone = ['contains', 'created_from', 'created_to', ...peopleChoiceNames.filter((name) => name !== 'state')] as const;

/** @throws management.invalid_request naming the parameter */
export function refuseUnsorted(query: PeopleQuery): void {
  for (const name of sortedAlone) if (query[name] !== undefined) throw invalidField(name, 'This parameter needs sort.');
}

/** @throws management.invalid_request naming the parameter, management.forbidden */
export async function answerPeople(
  {
    services,
    tenant,
    scopes,
    query,
  }: Pick<Call<PeopleQuery, unknown>, 'tenant' | 'scopes' | 'query'> & { readonly services: Parts<'database'> },
  sort: PeopleSort,
  toJson: (user: StoredUser) => Json,
): Promise<Json> {
  const { database } = services;
  if (query.search !== undefined) throw invalidField('search', 'This parameter does not go with sort. Use contains.');
  if (sort === 'best' && query.contains === undefined) throw invalidField('sort', 'This parameter needs contains to be best.');
  for (const name of peopleChoiceNames) {
    const one = peopleChoices[name];
    if (query[name] !== undefined && 'takes' in one) requireCapabilities([one.takes], scopes);
  }
  const page = pageOf(query);
  const { from, isBackward } = page.after === '' ? { from: undefined, isBackward: false } : placeOf(page.after, sort);
  const filter = filterOf(query);
  const { dialect } = database;
  const { found, total } = await database.read(tenant.id, async (queries) => {
    const scope = { queries, dialect, tenant: tenant.id };
    return {
      found: await listPeople(scope, filter, { limit: page.limit + 1, sort, from, isBackward }),
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
    ...(last !== undefined && (isBackward || isMore) ? { next_cursor: cursorOf(last, false, sort) } : {}),
    ...(first !== undefined && (isBackward ? isMore : from !== undefined) ? { previous_cursor: cursorOf(first, true, sort) } : {}),
  };
}

function filterOf(query: PeopleQuery): PeopleFilter {
  const { contains, state, origin, group, role, invited } = query;
  return {
    contains: contains === undefined ? undefined : foldKey(contains),
    typed: contains,
    ...{ state, origin, group, role, invited },
    signedInSinceMs: timeOf('signed_in_since', query.signed_in_since),
    notSignedInSinceMs: timeOf('not_signed_in_since', query.not_signed_in_since),
    createdFromMs: timeOf('created_from', query.created_from),
    createdToMs: timeOf('created_to', query.created_to),
  };
}

const cursorOf = (place: NamePlace, isBackward: boolean, sort: PeopleSort): string =>
  encodeCursor(JSON.stringify([isBackward ? 1 : 0, ...place, sort]));

/** A cursor leads on in the order it was given in. */
function placeOf(said: string, sort: PeopleSort): { readonly from: NamePlace; readonly isBackward: boolean } {
  try {
    const [backward, name, createdAt, id, of] = JSON.parse(said) as readonly unknown[]; // checked below
    const isWhole = typeof name === 'string' && Number.isSafeInteger(createdAt) && typeof id === 'string';
    if (isWhole && of === sort && (sort !== 'best' || /^[0-2]/.test(name)))
      return { from: [name, Number(createdAt), id], isBackward: backward === 1 };
  } catch {
    // refused below, like any other text that is no cursor
  }
  throw invalidField('cursor', 'This parameter is not a cursor of this list.');
}
