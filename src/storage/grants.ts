// A grant is one authorization of one client by one user: the `sid` of its tokens and the family of its refresh tokens.
// Revoking it ends every token issued from it, at once and on every node.
import type { ClientId, GrantId, TenantId, UserId } from '../domain/ids.ts';

export interface GrantTable {
  tenant_id: TenantId;
  id: GrantId;
  client_id: ClientId;
  user_id: UserId;
  scope: string;
  /** The resource audience of the grant, or null for the issuer alone. */
  resource: string | null;
  /** Seconds since the epoch. */
  auth_time: number;
  acr: string | null;
  /** JSON list. */
  amr: string;
  nonce: string | null;
  /** Seconds, as requested at authorize. */
  max_age: number | null;
  created_at: number;
  /** When no token of this grant can be alive any more; the row is purged after it. */
  expires_at: number;
  revoked_at: number | null;
  revoked_reason: string | null;
}
