/** A limit that is none, for tests of something else: those that protect people cannot be switched off. */
export const roomyRate = { limit: 1_000_000, period_seconds: 1 } as const;
