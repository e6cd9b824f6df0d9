// What became of a link that works once, in a word.

interface Link {
  readonly used_at: number | null;
  readonly revoked_at: number | null;
  readonly expires_at: number;
}

export function linkState({ used_at: usedAt, revoked_at: revokedAt, expires_at: expiresAt }: Link, nowMs: number): string {
  if (usedAt !== null) return 'used';
  if (revokedAt !== null) return 'revoked';
  return expiresAt > nowMs ? 'open' : 'expired';
}
