// The secret of a client_secret_jwt client: kept under the master key, because verifying an HMAC needs the secret itself (R7).
// Written by whoever registers clients, opened by client authentication.
import type { KeyEncryption } from '../crypto/key-encryption.ts';
import type { TenantId } from '../domain/ids.ts';

const purposeOf = (tenant: TenantId, clientId: string): string => `client-secret:${tenant}:${clientId}`;

/** What goes into `secretEncrypted` of a client_secret_jwt client. */
export const encryptClientSecret = (encryption: KeyEncryption, tenant: TenantId, clientId: string, secret: string): string =>
  encryption.encrypt(secret, purposeOf(tenant, clientId));

/** The secret's bytes; throws when the value was not encrypted for this client. */
export const decryptClientSecret = (encryption: KeyEncryption, tenant: TenantId, clientId: string, encrypted: string): Buffer =>
  encryption.decrypt(encrypted, purposeOf(tenant, clientId));
