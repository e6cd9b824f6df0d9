// The typed shape of all tables, composed from the file of each aggregate. One line per table; no logic.
import type { AccessAssignmentTable } from './access-assignments.ts';
import type { AuditEventTable } from './audit-events.ts';
import type { AuthorizationCodeTable } from './authorization-codes.ts';
import type { ClientTable } from './clients.ts';
import type { GrantTable } from './grants.ts';
import type { GroupMemberTable, GroupTable } from './groups.ts';
import type { ConfigEpochTable, InstanceTable } from './instance.ts';
import type { RefreshTokenTable } from './refresh-tokens.ts';
import type { ResourceTable } from './resources.ts';
import type { RevokedTokenTable } from './revoked-tokens.ts';
import type { SamlRequestIdTable, SamlSessionTable } from './saml-sessions.ts';
import type { ServiceProviderTable } from './service-providers.ts';
import type { SigningKeyTable } from './signing-keys.ts';
import type { TenantTable } from './tenants.ts';
import type { UserEmailTable, UserTable } from './users.ts';

export interface Schema {
  instance: InstanceTable;
  config_epochs: ConfigEpochTable;
  tenants: TenantTable;
  signing_keys: SigningKeyTable;
  clients: ClientTable;
  access_assignments: AccessAssignmentTable;
  resources: ResourceTable;
  users: UserTable;
  user_emails: UserEmailTable;
  groups: GroupTable;
  group_members: GroupMemberTable;
  grants: GrantTable;
  authorization_codes: AuthorizationCodeTable;
  refresh_tokens: RefreshTokenTable;
  revoked_tokens: RevokedTokenTable;
  audit_events: AuditEventTable;
  service_providers: ServiceProviderTable;
  saml_sessions: SamlSessionTable;
  saml_request_ids: SamlRequestIdTable;
}
