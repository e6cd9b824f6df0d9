// The secrets of hooks, as Standard Webhooks write them, under the master key (R7). Made and rotated by administration/, opened by
// hooks/ to sign.
import type { KeyEncryption } from '../crypto/key-encryption.ts';
import { hookSecretPurpose } from '../crypto/sealed-columns.ts';
import type { TenantId } from '../domain/ids.ts';
import { takeRandom } from '../platform/random.ts';

/** Standard Webhooks: base64 of 24 to 64 random bytes. */
export const hookSecretSyntax = '^whsec_(?:[A-Za-z0-9+/]{4}){8,21}(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$';

export const makeHookSecret = (): string => `whsec_${takeRandom(32).toString('base64')}`;

export const sealHookSecret = (encryption: KeyEncryption, tenant: TenantId, hookId: string, secret: string): string =>
  encryption.encrypt(secret, hookSecretPurpose(tenant, hookId));

/** The secret as it was made; throws when it was not sealed for this hook. */
export const openHookSecret = (encryption: KeyEncryption, tenant: TenantId, hookId: string, sealed: string): string =>
  encryption.decrypt(sealed, hookSecretPurpose(tenant, hookId)).toString();
