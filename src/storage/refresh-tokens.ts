// Refresh tokens: stored by SHA-256, rotated at every use inside their grant (the family), one generation after another.
import type { GrantId, TenantId } from '../domain/ids.ts';

export interface RefreshTokenTable {
  tenant_id: TenantId;
  token_hash: string;
  grant_id: GrantId;
  generation: number;
  created_at: number;
  /** The earlier of idle and absolute expiry. */
  expires_at: number;
  used_at: number | null;
  /** The successor under a key derived from this token, for refresh_reuse_leeway_seconds. */
  successor_encrypted: string | null;
}
