// Many rows of one table as statements of few: a statement has room for 32,766 values on the embedded database, for 65,535 on PostgreSQL.

/** For rows of up to 32 columns. */
const rowsAtOnce = 1000;

/** The rows in their order, as many at a time as one statement takes. */
export function* slicesOfRows<Row>(rows: readonly Row[]): Generator<readonly Row[]> {
  for (let at = 0; at < rows.length; at += rowsAtOnce) yield rows.slice(at, at + rowsAtOnce);
}
