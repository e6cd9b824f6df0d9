// Which tables a whole tenant is made of, for its move to another deployment: every table with a tenant_id is in this list, in an order
// in which each row finds those it refers to, or among those left out, with the reason. A new table adds its line; a test compares
// with the schema on file.
import { sql } from 'kysely';
import type { TenantId } from '../domain/ids.ts';
import { deliveryQueues } from './deliveries.ts';
import type { Queries } from './engine/database.ts';
import type { Schema } from './schema.ts';
import type { Cells } from './tenant-moves.ts';

export interface MovedRows {
  readonly table: keyof Schema;
  /** The rest of the primary key, behind tenant_id. */
  readonly key: readonly string[];
}

// biome-ignore format: a table, one row a line
export const movedTables: readonly MovedRows[] = [
  { table: 'tenants', key: [] },
  { table: 'signing_keys', key: ['kid'] },
  { table: 'clients', key: ['client_id'] },
  { table: 'client_workloads', key: ['client_id', 'issuer_hash', 'subject_hash'] },
  { table: 'client_registrations', key: ['client_id'] },
  { table: 'client_documents', key: ['client_id'] },
  { table: 'initial_access_tokens', key: ['id'] },
  { table: 'scim_tokens', key: ['id'] },
  { table: 'resources', key: ['id'] },
  { table: 'workload_issuers', key: ['id'] },
  { table: 'service_providers', key: ['id'] },
  { table: 'saml_metadata_reads', key: ['service_provider_id'] },
  { table: 'saml_metadata_refreshes', key: ['service_provider_id'] },
  { table: 'identity_providers', key: ['id'] },
  { table: 'provider_domains', key: ['domain'] },
  { table: 'custom_attributes', key: ['id'] },
  { table: 'images', key: ['sha256'] },
  { table: 'customizations', key: ['kind', 'name'] },
  { table: 'mapping_tables', key: ['kind'] },
  { table: 'hooks', key: ['id'] },
  { table: 'roles', key: ['name'] },
  { table: 'users', key: ['id'] },
  { table: 'user_roles', key: ['user_id', 'role'] },
  { table: 'user_emails', key: ['user_id', 'position'] },
  { table: 'user_values', key: ['user_id', 'attribute', 'position'] },
  { table: 'user_addresses', key: ['user_id', 'position'] },
  { table: 'user_custom_values', key: ['user_id', 'attribute', 'value_key'] },
  { table: 'groups', key: ['id'] },
  { table: 'identity_provider_groups', key: ['group_id'] },
  { table: 'group_members', key: ['group_id', 'user_id'] },
  { table: 'organization_roles', key: ['name'] },
  { table: 'organizations', key: ['id'] },
  { table: 'organization_members', key: ['organization_id', 'user_id'] },
  { table: 'organization_domains', key: ['domain'] },
  { table: 'organization_providers', key: ['alias'] },
  { table: 'organization_groups', key: ['id'] },
  { table: 'organization_group_members', key: ['group_id', 'user_id'] },
  { table: 'organization_invitations', key: ['id'] },
  { table: 'organization_setup_links', key: ['id'] },
  { table: 'access_assignments', key: ['id'] },
  { table: 'organization_assignments', key: ['id'] },
  { table: 'passkeys', key: ['id'] },
  { table: 'recovery_codes', key: ['user_id', 'code_hmac'] },
  { table: 'external_identities', key: ['id'] },
  { table: 'devices', key: ['id'] },
  { table: 'device_keys', key: ['device_id', 'key_id'] },
  { table: 'device_key_fingerprints', key: ['fingerprint'] },
  { table: 'push_refusals', key: ['provider'] },
  { table: 'vapid_keys', key: [] },
  { table: 'device_rotations', key: ['device_id'] },
  { table: 'device_registrations', key: ['id'] },
  { table: 'device_requests', key: ['digest'] },
  { table: 'attestation_challenges', key: ['challenge'] },
  { table: 'enrollment_tokens', key: ['token_hash'] },
  { table: 'invitations', key: ['id'] },
  { table: 'setup_tokens', key: ['token_hash'] },
  { table: 'sso_sessions', key: ['id'] },
  { table: 'consents', key: ['user_id', 'client_id', 'scope_set'] },
  { table: 'grants', key: ['id'] },
  { table: 'refresh_tokens', key: ['token_hash'] },
  { table: 'authorization_codes', key: ['code_hash'] },
  { table: 'revoked_tokens', key: ['jti'] },
  { table: 'pushed_requests', key: ['reference_hash'] },
  { table: 'client_assertions', key: ['jti_hash'] },
  { table: 'dpop_proofs', key: ['proof_hash'] },
  { table: 'approvals', key: ['id'] },
  { table: 'device_authorizations', key: ['device_code_hash'] },
  { table: 'ciba_requests', key: ['auth_req_id_hash'] },
  { table: 'login_transactions', key: ['id'] },
  { table: 'external_logins', key: ['state_hash'] },
  { table: 'pins', key: ['id'] },
  { table: 'pin_mailboxes', key: ['mail_key'] },
  { table: 'pin_failures', key: ['mail_key'] },
  { table: 'sign_in_openings', key: ['user_id'] },
  { table: 'sign_in_tries', key: ['id'] },
  { table: 'sign_in_lines', key: ['try_id', 'position'] },
  { table: 'passkey_challenges', key: ['subject'] },
  { table: 'saml_sessions', key: ['session_hash'] },
  { table: 'saml_request_ids', key: ['request_hash'] },
  { table: 'held_deliveries', key: ['id'] },
  { table: 'activity_counts', key: ['id'] },
  { table: 'last_sign_ins', key: ['kind', 'id'] },
  { table: 'audit_events', key: ['id'] },
  { table: 'event_feeds', key: [] },
  { table: 'webhooks', key: ['id'] },
  { table: 'webhook_positions', key: ['webhook_id'] },
  { table: 'webhook_deliveries', key: ['id'] },
  { table: 'ssf_streams', key: ['id'] },
  { table: 'ssf_deliveries', key: ['stream_id'] },
  { table: 'ssf_removed_subjects', key: ['stream_id', 'user_id'] },
  { table: 'ssf_events', key: ['id'] },
  { table: 'email_changes', key: ['user_id', 'version'] },
  { table: 'connectors', key: ['id'] },
  { table: 'connector_states', key: ['connector_id'] },
  { table: 'connector_links', key: ['connector_id', 'local_id'] },
  { table: 'connector_members', key: ['connector_id', 'group_id', 'user_id'] },
  { table: 'directories', key: ['id'] },
  { table: 'directory_states', key: ['directory_id'] },
  { table: 'directory_links', key: ['directory_id', 'remote_id'] },
];

const queued = 'held_deliveries has its rows while a tenant is closed';

/** Tables with a tenant_id that stay behind, and why. */
export const leftTables: Readonly<Record<string, string>> = {
  sent_forms: 'forms of a console session of this deployment',
  console_tasks: 'what an administrator has in hand at the console of this deployment',
  console_task_items: 'as console_tasks',
  first_steps: 'what was shown to work at this deployment',
  operator_entries: 'of the root tenant, which does not move',
  config_epochs: 'each deployment counts its own changes of configuration',
  directory_counts: 'triggers count the rows as they are inserted',
  user_search_rows: 'of the embedded database; triggers make it as rows are inserted',
  email_search_rows: 'of the embedded database; triggers make it as rows are inserted',
  ...Object.fromEntries(deliveryQueues.filter(({ tenant }) => tenant === 'tenant_id').map(({ table }) => [table, queued])),
};

/** A page of a tenant's rows in the order of their keys, after the row given. */
export async function readMovedRows(
  queries: Queries,
  tenant: TenantId,
  { table, key }: MovedRows,
  after: Cells | undefined,
  limit: number,
): Promise<readonly Cells[]> {
  const columns = sql.join(key.map((column) => sql.ref(column)));
  const rest = after === undefined || key.length === 0 ? sql`` : sql` AND (${columns}) > (${sql.join(key.map((column) => after[column]))})`;
  const order = key.length === 0 ? sql`` : sql` ORDER BY ${columns}`;
  const { rows } = await sql<Cells>`SELECT * FROM ${sql.table(table)} WHERE tenant_id = ${tenant}${rest}${order} LIMIT ${limit}`.execute(
    queries,
  );
  return rows;
}
