// Tells whether a statement failed because what it refers to went away while it ran: a deletion came first.

const sqliteForeignKeyCode = 787; // SQLITE_CONSTRAINT_FOREIGNKEY

export function isForeignKeyViolation(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code, errcode } = error as { code?: unknown; errcode?: unknown }; // set by pg and by node:sqlite
  return code === '23503' || errcode === sqliteForeignKeyCode;
}
