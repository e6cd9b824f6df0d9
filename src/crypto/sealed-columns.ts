// What is encrypted under the master key in the database: which column, and the purpose it is bound to. Whoever writes or reads one of
// them takes its purpose from here, and so does the move of a tenant to a deployment with another master key.

export const tenantSecretPurpose = (tenant: string): string => `tenant-secret:${tenant}`;
export const signingKeyPurpose = (tenant: string, kid: string): string => `signing-key:${tenant}:${kid}`;
export const clientSecretPurpose = (tenant: string, clientId: string): string => `client-secret:${tenant}:${clientId}`;
const providerSecretPurpose = (tenant: string, id: string): string => `provider-secret:${tenant}:${id}`;
const hookSecretPurpose = (tenant: string, id: string): string => `hook-secret:${tenant}:${id}`;
export const externalLoginPurpose = (tenant: string, stateHash: string): string => `external-login:${tenant}:${stateHash}`;
export const externalAnswerPurpose = (tenant: string, stateHash: string): string => `external-answer:${tenant}:${stateHash}`;
export const pushTokenPurpose = (tenant: string, device: string): string => `push-token:${tenant}:${device}`;
export const vapidPurpose = (tenant: string): string => `vapid:${tenant}`;
export const cibaNotificationPurpose = (tenant: string, id: string): string => `ciba-notification:${tenant}:${id}`;
export const cibaPayloadPurpose = (tenant: string, id: string): string => `ciba-push:${tenant}:${id}`;
export const samlSessionPurpose = (tenant: string): string => `saml-session:${tenant}`;
const webhookSecretPurpose = (tenant: string, id: string): string => `webhook-secret:${tenant}:${id}`;
export const streamHeaderPurpose = (tenant: string, id: string): string => `stream-header:${tenant}:${id}`;
const connectorSecretPurpose = (tenant: string, id: string): string => `connector-secret:${tenant}:${id}`;
const directoryPasswordPurpose = (tenant: string, id: string): string => `directory-password:${tenant}:${id}`;
export const queuedMailPurpose = (tenant: string, id: string): string => `queued-mail:${tenant}:${id}`;
export const welcomePurpose = (tenant: string): string => `welcome-enrollment:${tenant}`;

interface SealedColumn {
  readonly table: string;
  readonly column: string;
  /** The column of the row that the purpose names beside the tenant; without one it names the tenant alone. */
  readonly of?: string;
  readonly purpose: (tenant: string, of: string) => string;
}

// biome-ignore format: a table, one row a line
export const sealedColumns: readonly SealedColumn[] = [
  { table: 'tenants', column: 'secret_encrypted', purpose: tenantSecretPurpose },
  { table: 'signing_keys', column: 'private_key_encrypted', of: 'kid', purpose: signingKeyPurpose },
  { table: 'clients', column: 'secret_encrypted', of: 'client_id', purpose: clientSecretPurpose },
  { table: 'identity_providers', column: 'client_secret', of: 'id', purpose: providerSecretPurpose },
  { table: 'hooks', column: 'secret_encrypted', of: 'id', purpose: hookSecretPurpose },
  { table: 'hooks', column: 'previous_secret_encrypted', of: 'id', purpose: hookSecretPurpose },
  { table: 'external_logins', column: 'sealed', of: 'state_hash', purpose: externalLoginPurpose },
  { table: 'external_logins', column: 'answer', of: 'state_hash', purpose: externalAnswerPurpose },
  { table: 'vapid_keys', column: 'private_key_encrypted', purpose: vapidPurpose },
  { table: 'devices', column: 'web_push_encrypted', of: 'id', purpose: pushTokenPurpose },
  { table: 'devices', column: 'push_token_encrypted', of: 'id', purpose: pushTokenPurpose },
  { table: 'ciba_requests', column: 'notification_encrypted', of: 'id', purpose: cibaNotificationPurpose },
  { table: 'ciba_requests', column: 'payload_encrypted', of: 'id', purpose: cibaPayloadPurpose },
  { table: 'login_transactions', column: 'saml_session_sealed', purpose: samlSessionPurpose },
  { table: 'invitations', column: 'enrollment_encrypted', purpose: welcomePurpose },
  { table: 'webhooks', column: 'secret', of: 'id', purpose: webhookSecretPurpose },
  { table: 'webhooks', column: 'previous_secret', of: 'id', purpose: webhookSecretPurpose },
  { table: 'ssf_streams', column: 'authorization_encrypted', of: 'id', purpose: streamHeaderPurpose },
  { table: 'connectors', column: 'secret', of: 'id', purpose: connectorSecretPurpose },
  { table: 'directories', column: 'bind_password', of: 'id', purpose: directoryPasswordPurpose },
  { table: 'outbox_messages', column: 'message_encrypted', of: 'id', purpose: queuedMailPurpose },
];

/** Encrypted, and not under the master key: the column, and under what. */
export const otherwiseSealed: Readonly<Record<string, string>> = {
  'refresh_tokens.successor_encrypted': 'the token before it',
};
