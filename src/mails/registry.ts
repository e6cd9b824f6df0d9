// Every mail there is, a file a mail: what it says in each language, and how it is made. Whoever sends one takes it from here.
import { approvalMail, approvalMailCatalogs } from './approval-mail.ts';
import { deviceAddedMail, deviceMailCatalogs } from './device-mail.ts';
import { externalIdentityMail, externalIdentityMailCatalogs } from './external-identity-mail.ts';
import { invitationMail, invitationMailCatalogs } from './invitation-mail.ts';
import { organizationInvitationMail, organizationInvitationMailCatalogs } from './organization-invitation-mail.ts';
import { passkeyMail, passkeyMailCatalogs } from './passkey-mail.ts';
import { pinMail, pinMailCatalogs } from './pin-mail.ts';
import { recoveryCodeMail, recoveryCodeMailCatalogs } from './recovery-code-mail.ts';
import { recoveryMail, recoveryMailCatalogs } from './recovery-mail.ts';
import { reportedMail, reportedMailCatalogs } from './reported-mail.ts';
import { stoppedMail, stoppedMailCatalogs } from './stopped-mail.ts';
import { trialMail, trialMailCatalogs } from './trial-mail.ts';
import { webhookDisabledMail, webhookDisabledMailCatalogs } from './webhook-disabled-mail.ts';
import { wrongCodesMail, wrongCodesMailCatalogs } from './wrong-codes-mail.ts';

export const mails = {
  /** A code to sign in with. */
  pin: { catalogs: pinMailCatalogs, make: pinMail },
  /** A CIBA request to decide on a page. */
  approval: { catalogs: approvalMailCatalogs, make: approvalMail },
  deviceAdded: { catalogs: deviceMailCatalogs, make: deviceAddedMail },
  /** The link by which somebody comes to their first passkey or phone. */
  invitation: { catalogs: invitationMailCatalogs, make: invitationMail },
  /** The link by which somebody joins an organisation. */
  organizationInvitation: { catalogs: organizationInvitationMailCatalogs, make: organizationInvitationMail },
  /** A passkey was added or revoked. */
  passkey: { catalogs: passkeyMailCatalogs, make: passkeyMail },
  /** Another provider may sign the person in, or no longer. */
  externalIdentity: { catalogs: externalIdentityMailCatalogs, make: externalIdentityMail },
  /** An administrator lets the person in again: the link, and the notice that lets them stop it. */
  recovery: { catalogs: recoveryMailCatalogs, make: recoveryMail },
  /** A recovery code was used, or new ones were made. */
  recoveryCode: { catalogs: recoveryCodeMailCatalogs, make: recoveryCodeMail },
  /** The person said that a sign-in was not theirs. */
  reported: { catalogs: reportedMailCatalogs, make: reportedMail },
  /** A connector rests, a directory cannot be read, or one of them waits for approval. */
  stopped: { catalogs: stoppedMailCatalogs, make: stoppedMail },
  /** An administrator looks whether mails arrive. */
  trial: { catalogs: trialMailCatalogs, make: trialMail },
  /** We disabled a webhook. */
  webhookDisabled: { catalogs: webhookDisabledMailCatalogs, make: webhookDisabledMail },
  /** The day's wrong codes of a mailbox are spent. */
  wrongCodes: { catalogs: wrongCodesMailCatalogs, make: wrongCodesMail },
} as const;
