// Lists live users who are chosen by people-conditions.ts, a page at a time both ways: in the order of the names shown (display name, else
// user name, else none), of user names, of when they were made, or with those first who are meant by what was typed.
import { sql } from 'kysely';
import type { UserId } from '../../domain/ids.ts';
import type { PeopleSort } from '../../domain/people/people-list.ts';
import { loadDirectoryCount } from './directory-counts.ts';
import { type Condition, countMatching } from './directory-scan.ts';
import {
  allOf,
  countCondition,
  countedPeopleMax,
  type PeopleFilter,
  type PeopleScope,
  pageCondition,
  ranksOf,
} from './people-conditions.ts';

/** Where somebody stands in the order; of those who are meant, the name begins with the figure of its rank. */
export type NamePlace = readonly [name: string, createdAtMs: number, id: string];

interface PeoplePage {
  readonly limit: number;
  readonly sort: PeopleSort;
  readonly from?: NamePlace | undefined;
  /** True: the page before `from`, else the one behind it. */
  readonly isBackward: boolean;
}

interface FoundPerson {
  readonly id: UserId;
  readonly place: NamePlace;
}

/** A page in its order. Ask for one more than is shown to know whether there are more. */
export async function listPeople(scope: PeopleScope, filter: PeopleFilter, page: PeoplePage): Promise<readonly FoundPerson[]> {
  const matches = await pageCondition(scope, filter);
  const found = page.sort === 'best' ? await readRanks(scope, filter, matches, page) : await readInOrder(scope, matches, page);
  return page.isBackward ? found.toReversed() : found;
}

/** How many there are; one more than are counted stands for more than that. */
export async function countPeople(scope: PeopleScope, filter: PeopleFilter): Promise<number> {
  const { queries, tenant } = scope;
  if (Object.values(filter).every((one) => one === undefined))
    return Math.min(await loadDirectoryCount(queries, tenant, 'users'), countedPeopleMax + 1);
  return countMatching(queries, 'u', { tenant }, await countCondition(scope, filter), countedPeopleMax + 1);
}

/** Rank after rank until the page is full, each in the order of names. */
async function readRanks(scope: PeopleScope, filter: PeopleFilter, matches: Condition, page: PeoplePage): Promise<readonly FoundPerson[]> {
  const { from, limit, isBackward } = page;
  const ranks = ranksOf(scope, filter).map((condition, rank) => ({ condition: allOf([matches, condition]), rank }));
  const start = from === undefined ? (isBackward ? ranks.length - 1 : 0) : Number(from[0].slice(0, 1));
  const ahead = isBackward ? ranks.slice(0, start + 1).reverse() : ranks.slice(start);
  const found: FoundPerson[] = [];
  for (const { condition, rank } of ahead) {
    const here = from !== undefined && rank === start ? ([from[0].slice(1), from[1], from[2]] as const) : undefined;
    const rows = await readInOrder(scope, condition, { limit: limit - found.length, sort: 'name', from: here, isBackward });
    found.push(...rows.map(({ id, place: [name, at, key] }) => ({ id, place: [`${rank}${name}`, at, key] as const })));
    if (found.length >= limit) break;
  }
  return found;
}

/** Those of a part of the order who have no name there stand before all others. */
async function readInOrder(scope: PeopleScope, matches: Condition, page: PeoplePage): Promise<readonly FoundPerson[]> {
  const { from, limit, sort, isBackward } = page;
  const isDown = sort.startsWith('-') !== isBackward;
  const [direction, beyond] = isDown ? [sql`DESC`, sql`<`] : [sql`ASC`, sql`>`];
  const streams = streamsOf(sort).map(({ name, only, created = sql`u.created_at` }) => {
    const isOrdered = name !== undefined;
    const shown = name ?? (scope.dialect === 'postgres' ? sql`'' COLLATE "C"` : sql`''`);
    const after =
      from === undefined
        ? sql``
        : isOrdered
          ? sql` AND (${shown}, u.created_at, u.id) ${beyond} (${from[0]}, ${from[1]}, ${from[2]})`
          : from[0] !== '' && !isDown
            ? sql` AND 1 = 0`
            : from[0] !== ''
              ? sql``
              : sql` AND (u.created_at, u.id) ${beyond} (${from[1]}, ${from[2]})`;
    const first = isOrdered ? sql`${shown} ${direction}, ` : sql``;
    return sql`SELECT * FROM (SELECT u.id AS id, ${shown} AS name, u.created_at AS created_at FROM users u
      WHERE u.tenant_id = ${scope.tenant} AND ${only} AND u.state <> 'deleted' AND ${matches}${after}
      ORDER BY ${first}${created} ${direction}, u.id ${direction} LIMIT ${limit}) stream`;
  });
  const { rows } = await sql<{ id: UserId; name: string; created_at: number }>`SELECT * FROM (${sql.join(streams, sql` UNION ALL `)}) people
    ORDER BY name ${direction}, created_at ${direction}, id ${direction} LIMIT ${limit}`.execute(scope.queries);
  return rows.map(({ id, name, created_at: createdAt }) => ({ id, place: [name, Number(createdAt), id] as const }));
}

interface Stream {
  /** What it is ordered by before the time; without one by the time alone. */
  readonly name?: Condition;
  readonly only: Condition;
  /** The time, where its index must not be chosen: it would be read to its end to find a few. */
  readonly created?: Condition;
}

/** The parts of an order, each read along one index. */
function streamsOf(sort: PeopleSort): readonly Stream[] {
  const part = (text: string): Condition => sql<boolean>`${sql.raw(text)}`; // ours alone
  switch (sort.replace('-', '')) {
    case 'created_at':
      return [{ only: part('1 = 1') }];
    case 'user_name':
      return [
        { name: part('u.user_name_key'), only: part('u.user_name_key IS NOT NULL') },
        { only: part('u.user_name_key IS NULL'), created: part('+u.created_at') },
      ];
    default:
      return [
        { name: part('u.display_name_key'), only: part('u.display_name_key IS NOT NULL') },
        { name: part('u.user_name_key'), only: part('u.display_name_key IS NULL AND u.user_name_key IS NOT NULL') },
        { only: part('u.display_name_key IS NULL AND u.user_name_key IS NULL') },
      ];
  }
}
