// A unique value is taken: what the databases say, and what writers throw so that the transaction that found out never commits.

const sqliteUniqueCodes: ReadonlySet<unknown> = new Set([2067, 1555]); // SQLITE_CONSTRAINT_UNIQUE, SQLITE_CONSTRAINT_PRIMARYKEY

/** Whether a statement failed because a unique constraint refused it; on PostgreSQL the transaction is over then. */
export function isUniqueViolation(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code, errcode } = error as { code?: unknown; errcode?: unknown }; // set by pg and by node:sqlite
  return code === '23505' || sqliteUniqueCodes.has(errcode);
}

/** Thrown inside a transaction to roll it back; names the field whose value somebody else has. */
export class ValueTaken extends Error {
  readonly field: string;
  constructor(field: string) {
    super(`${field} is taken`);
    this.name = 'ValueTaken';
    this.field = field;
  }
}

/** Runs a statement; a unique violation of it is ValueTaken of the field. */
export async function takenAs<Value>(field: string, run: () => Promise<Value>): Promise<Value> {
  try {
    return await run();
  } catch (error) {
    throw isUniqueViolation(error) ? new ValueTaken(field) : error;
  }
}

/** Runs a transaction, and once more where a value was taken meanwhile: the second finds whose it is. */
export async function orOnceMore<Value>(run: () => Promise<Value>): Promise<Value> {
  try {
    return await run();
  } catch (error) {
    if (error instanceof ValueTaken) return run();
    throw error;
  }
}
