// What we keep secret about other providers, under the master key (R7): their client secrets, and what a sign-in that went there
// must find again. Written by whoever registers providers or sends people there.
import type { KeyEncryption } from '../crypto/key-encryption.ts';
import { externalAnswerPurpose, externalLoginPurpose, providerSecretPurpose } from '../crypto/sealed-columns.ts';
import type { GrantId, TenantId, UserId } from '../domain/ids.ts';

export const sealProviderSecret = (encryption: KeyEncryption, tenant: TenantId, providerId: string, secret: string): string =>
  encryption.encrypt(secret, providerSecretPurpose(tenant, providerId));

/** The secret as it was given; throws when it was not sealed for this provider. */
export const openProviderSecret = (encryption: KeyEncryption, tenant: TenantId, providerId: string, sealed: string): string =>
  encryption.decrypt(sealed, providerSecretPurpose(tenant, providerId)).toString();

/** What a person was sent away with. */
export interface SentWith {
  readonly nonce: string;
  readonly verifier: string;
  /** False: not the person's own computer. */
  readonly keepsSession: boolean;
  /** Of somebody who links an account from their account page. */
  readonly link?: LinkFor | undefined;
}

/** The person who links, and the session they do it in. */
export interface LinkFor {
  readonly userId: UserId;
  readonly grantId: GrantId;
}

export const sealSentWith = (encryption: KeyEncryption, tenant: TenantId, stateHash: string, sent: SentWith): string =>
  encryption.encrypt(JSON.stringify(sent), externalLoginPurpose(tenant, stateHash));

export const openSentWith = (encryption: KeyEncryption, tenant: TenantId, stateHash: string, sealed: string): SentWith =>
  JSON.parse(encryption.decrypt(sealed, externalLoginPurpose(tenant, stateHash)).toString());

/** The form a provider's answer came in, until the browser of the sign-in fetches it. */
export const sealAnswer = (encryption: KeyEncryption, tenant: TenantId, stateHash: string, form: string): string =>
  encryption.encrypt(form, externalAnswerPurpose(tenant, stateHash));

export const openAnswer = (encryption: KeyEncryption, tenant: TenantId, stateHash: string, sealed: string): string =>
  encryption.decrypt(sealed, externalAnswerPurpose(tenant, stateHash)).toString();
