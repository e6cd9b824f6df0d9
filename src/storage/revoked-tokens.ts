// The deny-list of access tokens by jti, kept until the token would have expired anyway.
import type { TenantId } from '../domain/ids.ts';

export interface RevokedTokenTable {
  tenant_id: TenantId;
  jti: string;
  expires_at: number;
}
