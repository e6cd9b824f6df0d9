// Rows of registered things (design 17): the storage of every kind, made from its table of fields. The one place where a table goes by
// a name that is a value; what is read and written there is of the kind's own fields.
import { hash } from 'node:crypto';
import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { Field, Fields, ValuesOf } from '../../domain/field.ts';
import { foldKey } from '../../domain/fold.ts';
import type { TenantId } from '../../domain/ids.ts';
import type { Kind, Thing } from '../../domain/kind.ts';
import type { Queries } from '../engine/database.ts';
import { databaseNowMs } from '../engine/instance.ts';
import type { SearchedPage } from '../engine/rows/matching-rows.ts';
import { fromRow, type RowOf, toCells, toRow } from '../engine/rows/row-codec.ts';
import { containsPattern } from '../engine/trigram-search.ts';

type Row = Record<string, string | number | null>;
/** The tables of kinds: each has the columns of its fields, `tenant_id`, its key, `created_at` and `updated_at`. */
type Tables = Record<string, Row>;

/** The table of a kind; one whose key is a field has no `id`. */
export type KindTable<T extends Fields, Id extends string = string> = RowOf<T> & {
  id: Id;
  tenant_id: TenantId;
  created_at: number;
  updated_at: number;
};

export interface KindRows<T extends Fields, Id extends string = string> {
  readonly find: (queries: Queries, tenant: TenantId, id: string) => Promise<Thing<T, Id> | undefined>;
  /** The thing that has this value of a unique field. */
  readonly findBy: (queries: Queries, tenant: TenantId, key: string, value: unknown) => Promise<Thing<T, Id> | undefined>;
  /** Those of these keys, or with one of these values of a unique field. */
  readonly findAny: (
    queries: Queries,
    tenant: TenantId,
    wanted: { readonly ids: readonly string[]; readonly key: string; readonly values: readonly unknown[] },
  ) => Promise<readonly Thing<T, Id>[]>;
  /** The same, others who would change it waiting until the transaction ends. */
  readonly hold: (queries: Queries, tenant: TenantId, id: string) => Promise<Thing<T, Id> | undefined>;
  /** A page in the order of the kind; `search` is for kinds that are searched in a field of theirs. */
  readonly page: (
    queries: Queries,
    tenant: TenantId,
    page: SearchedPage & { readonly where?: RawBuilder<boolean> },
  ) => Promise<readonly Thing<T, Id>[]>;
  /** How many there are, at most `limit`. */
  readonly count: (queries: Queries, tenant: TenantId, limit: number, where?: RawBuilder<boolean>) => Promise<number>;
  /** Undefined when a unique value is taken. */
  readonly insert: (queries: Queries, tenant: TenantId, id: string, values: ValuesOf<T>) => Promise<Thing<T, Id> | undefined>;
  /** Writes the values a change names. Throws a unique violation for one that is taken. */
  readonly update: (queries: Queries, tenant: TenantId, id: string, change: Partial<ValuesOf<T>>) => Promise<Thing<T, Id> | undefined>;
  readonly remove: (queries: Queries, tenant: TenantId, id: string) => Promise<boolean>;
}

/** The rows of a kind; their ids are of the type that is asked for, as each table has ids of one. */
export const rowsOf = <const T extends Fields, Id extends string = string>(kind: Kind<T>): KindRows<T, Id> =>
  ({ ...readsOf(kind), ...writesOf(kind) }) as KindRows<T> as KindRows<T, Id>;

type Writes = 'hold' | 'insert' | 'update' | 'remove';

function readsOf<T extends Fields>(kind: Kind<T>): Omit<KindRows<T>, Writes> {
  const { fields } = kind;
  const column = keyColumn(kind);
  const { thingOf, one } = reading(kind);
  const sought = (key: string) => {
    const { column, kind: of, about } = fields[key]!;
    const cell = (value: unknown): string | number => of.store(value as NonNullable<unknown>);
    return about.hashed === true ? { column: hashColumn(column), cell: (value: unknown) => hashOf(cell(value)) } : { column, cell };
  };
  const from = (queries: Queries, tenant: TenantId) => {
    const rows = loose(queries).selectFrom(kind.plural).selectAll().where('tenant_id', '=', tenant);
    return kind.marksDeleted === true ? rows.where('deleted_at', 'is', null) : rows;
  };
  return {
    find: (queries, tenant, id) => one(from(queries, tenant).where(column, '=', id)),
    findBy: (queries, tenant, key, value) => {
      const { column: named, cell } = sought(key);
      return one(from(queries, tenant).where(named, '=', cell(value)));
    },
    findAny: async (queries, tenant, { ids, key, values }) => {
      const { column: named, cell } = sought(key);
      const cells = values.map(cell);
      const rows = await from(queries, tenant)
        .where((eb) => eb.or([...(ids.length > 0 ? [eb(column, 'in', ids)] : []), ...(cells.length > 0 ? [eb(named, 'in', cells)] : [])]))
        .execute();
      return rows.map(thingOf);
    },
    page: async (queries, tenant, { after, limit, search, where }) => {
      const { listedBy, searchedIn } = kind;
      if (listedBy !== undefined) {
        // Sorted here: the collation of PostgreSQL is the operator's.
        const rows = from(queries, tenant).orderBy(column).limit(listedMax);
        const all = (await rows.execute()).map((row) => ({ order: String(row[fields[listedBy]!.column]), row }));
        const sorted = all.filter(({ order }) => order > after).toSorted((a, b) => (a.order < b.order ? -1 : 1));
        return sorted.slice(0, limit).map(({ row }) => thingOf(row));
      }
      const every = where === undefined ? from(queries, tenant) : from(queries, tenant).where(where);
      const rows = every.where(column, '>', after).orderBy(column).limit(limit);
      if (search === undefined || searchedIn === undefined) return (await rows.execute()).map(thingOf);
      const has = sql<boolean>`${sql.ref(fields[searchedIn]!.column)} LIKE ${containsPattern(foldKey(search))} ESCAPE '\\'`;
      return (await rows.where((eb) => eb.or([has, eb(column, '=', search)])).execute()).map(thingOf);
    },
    count: async (queries, tenant, limit, where) => {
      const every = where === undefined ? from(queries, tenant) : from(queries, tenant).where(where);
      const some = every.clearSelect().select(column).limit(limit).as('some');
      const { n } = await loose(queries)
        .selectFrom(some)
        .select((eb) => eb.fn.countAll<number>().as('n'))
        .executeTakeFirstOrThrow();
      return Number(n);
    },
  };
}

function writesOf<T extends Fields>(kind: Kind<T>): Pick<KindRows<T>, Writes> {
  const { fields } = kind;
  const column = keyColumn(kind);
  const { one } = reading(kind);
  const hashes = Object.values(fields).filter(({ about }) => about.hashed === true);
  const hashed = (row: Row): Row => ({ ...row, ...hashesOf(hashes, row) });
  const written = (queries: Queries, tenant: TenantId, id: string) => {
    const rows = loose(queries).updateTable(kind.plural).where('tenant_id', '=', tenant).where(column, '=', id);
    return kind.marksDeleted === true ? rows.where('deleted_at', 'is', null) : rows;
  };
  return {
    hold: (queries, tenant, id) =>
      one(
        written(queries, tenant, id)
          .set((eb) => ({ updated_at: eb.ref('updated_at') }))
          .returningAll(),
      ),
    insert: (queries, tenant, id, values) => {
      const own = {
        ...hashed(toRow(fields, values)),
        tenant_id: tenant,
        [column]: id,
        created_at: databaseNowMs,
        updated_at: databaseNowMs,
      };
      return one(
        loose(queries)
          .insertInto(kind.plural)
          .values(own as Row)
          .onConflict((on) => on.doNothing())
          .returningAll(),
      );
    },
    update: (queries, tenant, id, change) =>
      one(
        written(queries, tenant, id)
          .set({ ...hashed(toCells(fields, change) as Row), updated_at: databaseNowMs })
          .returningAll(),
      ),
    remove: async (queries, tenant, id) => {
      if (kind.marksDeleted === true)
        return (await one(written(queries, tenant, id).set({ deleted_at: databaseNowMs }).returningAll())) !== undefined;
      const gone = loose(queries).deleteFrom(kind.plural).where('tenant_id', '=', tenant).where(column, '=', id);
      return (await gone.returning(column).executeTakeFirst()) !== undefined;
    },
  };
}

/** The hash of a value that is longer than an index takes. */
export const hashOf = (value: string | number): string => hash('sha256', String(value), 'base64url');
const hashColumn = (column: string): string => `${column}_hash`;

/** The hashes beside the cells that are written. */
const hashesOf = (fields: readonly Field[], row: Row): Row =>
  Object.fromEntries(
    fields.flatMap(({ column }) => (row[column] === undefined ? [] : [[hashColumn(column), hashOf(row[column]!)] as const])),
  );

const keyColumn = ({ key, fields }: { readonly key: string; readonly fields: Fields }): string =>
  key === 'id' ? 'id' : fields[key]!.column;

/** Things from rows of the kind's own table, of which every column was asked for. */
function reading<T extends Fields>(kind: Kind<T>) {
  const thingOf = (row: Row): Thing<T> => ({
    id: String(row[keyColumn(kind)]),
    ...fromRow(kind.fields, row as RowOf<T>),
    createdAtMs: Number(row['created_at']),
    updatedAtMs: Number(row['updated_at']),
  });
  const one = async (query: { executeTakeFirst: () => Promise<unknown> }): Promise<Thing<T> | undefined> => {
    const row = await query.executeTakeFirst();
    return row === undefined ? undefined : thingOf(row as Row);
  };
  return { thingOf, one };
}

/** More than there may be of what is listed by a field. */
const listedMax = 1000;

/** Tables by names that are values; the schema names each kind's table with the columns of its fields. */
const loose = (queries: Queries): Kysely<Tables> => queries as unknown as Kysely<Tables>;
