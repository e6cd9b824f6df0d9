// Queries of hot paths: built and compiled by Kysely once per process and dialect, then only bound and run.
import type { Compilable, CompiledQuery, QueryResult, RawBuilder } from 'kysely';
import type { Queries } from './database.ts';

/** What a statement binds; lists are PostgreSQL's. */
export type Value = string | number | null | readonly string[];
/** A table's row as a statement takes it. */
export type Row<Table> = Readonly<Table> & { readonly [column in keyof Table]: Value };
/** A stand-in for a value while the query is compiled; replaced by the real one at each run. */
class Slot {
  readonly name: string;
  constructor(name: string) {
    this.name = name;
  }
}

const preparedSqls = new Set<string>();
/** True for SQL made here: PostgreSQL keeps a named plan for it. */
export const isPreparedSql = (sql: string): boolean => preparedSqls.has(sql);

/** Runs compiled SQL with its parameters at once. */
type DirectRun = <Row>(sql: string, parameters: readonly Value[]) => Promise<QueryResult<Row>>;
const directRuns = new WeakMap<Queries, DirectRun>();

/** Lets statements run on a connection without Kysely's executor between. For dialects that need no waiting for a connection. */
export const runDirectly = (queries: Queries, run: DirectRun): void => void directRuns.set(queries, run);

interface Compiled<Row> {
  readonly query: CompiledQuery<Row>;
  /** What each parameter is: the name of a value, or a constant of the query itself. */
  readonly parameters: readonly (Slot | Value)[];
}

/**
 * Makes a reusable query. `build` is called once per dialect with slots in place of values and must pass them on untouched;
 * a whole row may be spread, since every call brings the same names.
 * @returns a function that runs the query on the given connection and gives its rows and affected count.
 */
export function statement<Values extends Readonly<Record<string, Value>>, Row>(
  build: (queries: Queries, values: Values) => Compilable<Row>,
): (queries: Queries, values: Values) => Promise<QueryResult<Row>> {
  const compiledBy = new Map<unknown, Compiled<Row>>();
  return (queries, values) => {
    const dialect = queries.getExecutor().adapter.constructor;
    let compiled = compiledBy.get(dialect);
    if (compiled === undefined) {
      // Kysely treats a slot as an opaque parameter.
      const slots = Object.fromEntries(Object.keys(values).map((name) => [name, new Slot(name)])) as Record<string, unknown> as Values;
      const query = build(queries, slots).compile();
      compiled = { query, parameters: query.parameters as readonly (Slot | Value)[] }; // slots, and constants of the storage layer
      compiledBy.set(dialect, compiled);
      preparedSqls.add(query.sql);
    }
    const parameters = compiled.parameters.map((parameter) => (parameter instanceof Slot ? values[parameter.name]! : parameter));
    const direct = directRuns.get(queries);
    return direct === undefined
      ? queries.executeQuery<Row>({ ...compiled.query, parameters })
      : direct<Row>(compiled.query.sql, parameters);
  };
}

/** Runs a query that is made anew each time and has few texts: PostgreSQL keeps a named plan for each of them. */
export function runKeepingPlan<Row>(queries: Queries, text: RawBuilder<Row>): Promise<QueryResult<Row>> {
  const query = text.compile(queries);
  preparedSqls.add(query.sql);
  return queries.executeQuery<Row>(query);
}

/** A raw SQL text as statement() takes it. */
export const compilable = <Row>(queries: Queries, text: RawBuilder<Row>): Compilable<Row> => ({ compile: () => text.compile(queries) });
