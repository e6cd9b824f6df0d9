// Queries of hot paths: built and compiled by Kysely once per process and dialect, then only bound and run.
import type { Compilable, CompiledQuery, QueryResult } from 'kysely';
import type { Queries } from './database.ts';

type Value = string | number | null;
/** A stand-in for a value while the query is compiled; replaced by the real one at each run. */
class Slot {
  readonly name: string;
  constructor(name: string) {
    this.name = name;
  }
}

const preparedSqls = new Set<string>();
/** True for SQL made by statement(): PostgreSQL keeps a named plan for it. */
export const isPreparedSql = (sql: string): boolean => preparedSqls.has(sql);

/**
 * Makes a reusable query. `build` is called once per dialect with slots in place of values and must pass them on untouched.
 * @returns a function that runs the query on the given connection and gives its rows and affected count.
 */
export function statement<Values extends Readonly<Record<string, Value>>, Row>(
  build: (queries: Queries, values: Values) => Compilable<Row>,
): (queries: Queries, values: Values) => Promise<QueryResult<Row>> {
  const compiledBy = new Map<unknown, CompiledQuery<Row>>();
  return (queries, values) => {
    const dialect = queries.getExecutor().adapter.constructor;
    let compiled = compiledBy.get(dialect);
    if (compiled === undefined) {
      // The proxy answers every property with a slot of that name; Kysely treats it as an opaque parameter.
      const slots = new Proxy({}, { get: (_target, name) => new Slot(String(name)) }) as Values;
      compiled = build(queries, slots).compile();
      compiledBy.set(dialect, compiled);
      preparedSqls.add(compiled.sql);
    }
    const parameters = compiled.parameters.map((parameter) => (parameter instanceof Slot ? values[parameter.name] : parameter));
    return queries.executeQuery<Row>({ ...compiled, parameters });
  };
}
