// The secrets by which connectors sign in at their targets, under the master key (R7), sealed for the connector they belong to.
import type { KeyEncryption } from '../crypto/key-encryption.ts';
import { connectorSecretPurpose } from '../crypto/sealed-columns.ts';
import type { TenantId } from '../domain/ids.ts';

export const sealConnectorSecret = (encryption: KeyEncryption, tenant: TenantId, id: string, secret: string): string =>
  encryption.encrypt(secret, connectorSecretPurpose(tenant, id));

/** The secret as it was given; throws when it was not sealed for this connector. */
export const openConnectorSecret = (encryption: KeyEncryption, tenant: TenantId, id: string, sealed: string): string =>
  encryption.decrypt(sealed, connectorSecretPurpose(tenant, id)).toString();
