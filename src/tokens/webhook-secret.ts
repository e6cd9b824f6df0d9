// The secrets webhooks are signed with, under the master key (R7). Made here, shown once, sealed for the webhook they belong to.
import type { KeyEncryption } from '../crypto/key-encryption.ts';
import { webhookSecretPurpose } from '../crypto/sealed-columns.ts';
import { secretText } from '../domain/extending/webhook.ts';
import type { TenantId } from '../domain/ids.ts';
import { takeRandom } from '../platform/random.ts';

const secretBytes = 32;

/** A new secret, as receivers take it. */
export const makeWebhookSecret = (): string => secretText(takeRandom(secretBytes));

export const sealWebhookSecret = (encryption: KeyEncryption, tenant: TenantId, id: string, secret: string): string =>
  encryption.encrypt(secret, webhookSecretPurpose(tenant, id));

/** The secret as it was given; throws when it was not sealed for this webhook. */
export const openWebhookSecret = (encryption: KeyEncryption, tenant: TenantId, id: string, sealed: string): string =>
  encryption.decrypt(sealed, webhookSecretPurpose(tenant, id)).toString();
