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

/** What an organisation's SCIM knows of a member. */
export interface Belonging {
  /** Its SCIM made the person. */
  readonly isMadeHere: boolean;
  readonly isElsewhere: boolean;
}

/** Whether nobody but this organisation has the person: its SCIM made them, they are in no other, and administer nothing. */
export const isOwned = ({ role }: { readonly role: string }, { isMadeHere, isElsewhere }: Belonging): boolean =>
  isMadeHere && !isElsewhere && role === 'user';
