// Authorization codes: stored by SHA-256, redeemed by one conditional UPDATE. A used row stays so that a second use is seen.
import type { ClientId, GrantId, TenantId, UserId } from '../domain/ids.ts';

export interface AuthorizationCodeTable {
  tenant_id: TenantId;
  code_hash: string;
  /** Id of the grant this code becomes when it is redeemed. */
  grant_id: GrantId;
  client_id: ClientId;
  user_id: UserId;
  redirect_uri: string;
  scope: string;
  resource: string | null;
  nonce: string | null;
  code_challenge: string | null;
  max_age: number | null;
  auth_time: number;
  acr: string | null;
  amr: string;
  created_at: number;
  expires_at: number;
  used_at: number | null;
}
