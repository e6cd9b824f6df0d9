// Tells whether a statement failed because a unique constraint refused it. For updates, where ON CONFLICT cannot help:
// on PostgreSQL the transaction is over then, so the caller lets the error out of it.

const sqliteUniqueCodes: ReadonlySet<unknown> = new Set([2067, 1555]); // SQLITE_CONSTRAINT_UNIQUE, SQLITE_CONSTRAINT_PRIMARYKEY

export function isUniqueViolation(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code, errcode } = error as { code?: unknown; errcode?: unknown }; // set by pg and by node:sqlite
  return code === '23505' || sqliteUniqueCodes.has(errcode);
}
