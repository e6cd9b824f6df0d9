// Resource servers: audiences a client may be allowed to request (RFC 8707), with the scopes they define.
import type { TenantId } from '../domain/ids.ts';

export interface ResourceTable {
  tenant_id: TenantId;
  id: string;
  identifier: string;
  name: string;
  /** JSON list of {name, description}. */
  scopes: string;
  access_token_lifetime_seconds: number | null;
  created_at: number;
  updated_at: number;
}
