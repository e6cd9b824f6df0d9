// The Authorization header a receiver of security events wants to see, under the master key (R7): written by the receiver, never shown.
import type { KeyEncryption } from '../crypto/key-encryption.ts';
import { streamHeaderPurpose } from '../crypto/sealed-columns.ts';
import type { TenantId } from '../domain/ids.ts';

export const sealStreamHeader = (encryption: KeyEncryption, tenant: TenantId, id: string, header: string): string =>
  encryption.encrypt(header, streamHeaderPurpose(tenant, id));

/** The header as it was given; throws when it was not sealed for this stream. */
export const openStreamHeader = (encryption: KeyEncryption, tenant: TenantId, id: string, sealed: string): string =>
  encryption.decrypt(sealed, streamHeaderPurpose(tenant, id)).toString();
