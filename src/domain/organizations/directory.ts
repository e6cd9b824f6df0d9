// Whose people and groups are meant: a tenant's, or those of one of its organisations (design 19). Pure.
import type { TenantId } from '../ids.ts';

export interface Directory {
  readonly tenant: TenantId;
  /** Absent: the tenant's own. */
  readonly organization?: string | undefined;
}

export interface OrganizationDirectory extends Directory {
  readonly organization: string;
}
