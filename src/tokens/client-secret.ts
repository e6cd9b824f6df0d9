// The secret of a client_secret_jwt client: kept under the master key, because verifying an HMAC needs the secret itself (R7).
// Written by whoever registers clients, opened by client authentication.
import type { KeyEncryption } from '../crypto/key-encryption.ts';
import { clientSecretPurpose } from '../crypto/sealed-columns.ts';
import type { TenantId } from '../domain/ids.ts';

/** What goes into `secretEncrypted` of a client_secret_jwt client. */
export const encryptClientSecret = (encryption: KeyEncryption, tenant: TenantId, clientId: string, secret: string): string =>
  encryption.encrypt(secret, clientSecretPurpose(tenant, clientId));

/** The secret's bytes; throws when the value was not encrypted for this client. */
export const decryptClientSecret = (encryption: KeyEncryption, tenant: TenantId, clientId: string, encrypted: string): Buffer =>
  encryption.decrypt(encrypted, clientSecretPurpose(tenant, clientId));
