// What a sign-in that went to another provider must find again, under the master key (R7). Written by whoever sends people there.
import type { KeyEncryption } from '../crypto/key-encryption.ts';
import { externalAnswerPurpose, externalLoginPurpose } from '../crypto/sealed-columns.ts';
import type { GrantId, TenantId, UserId } from '../domain/ids.ts';

/** What a person was sent away with. */
export interface SentWith {
  readonly nonce: string;
  readonly verifier: string;
  /** False: not the person's own computer. */
  readonly keepsSession: boolean;
  /** Of somebody who links an account from their account page. */
  readonly link?: LinkFor | undefined;
  /** Of somebody who tries a provider before people sign in by it. */
  readonly trial?: TrialFor | undefined;
}

/** Who tries a provider, and where they go on. */
export interface TrialFor {
  /** Who, and in what: the same alone take the answer. */
  readonly by: string;
  /** Below the base URL of the tenant. */
  readonly back: string;
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
