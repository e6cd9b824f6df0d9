// A try to sign in, as administrators find it: what happened in it, and which check failed. Outside all of this is opaque
// (contract 1); only whoever may read events sees it. audit/sign-in-words.ts has the words.

/** What a line of a try says. */
export const tryTypes = [
  'login.started',
  'code.sent',
  'code.wrong',
  'mail.failed',
  'login.refused',
  'login.finished',
  'login.cancelled',
] as const;
export type TryType = (typeof tryTypes)[number];

/** Why a try did not go on. */
export const tryChecks = [
  'unknown_person',
  'user_suspended',
  'not_assigned',
  'application_disabled',
  'code_wrong',
  'code_locked',
  'code_expired',
  'too_many_codes',
  'mail_not_delivered',
  'passkey_refused',
  'provider_does_not_answer',
  'provider_refused',
  'strength',
  'other_account',
  'not_a_member',
  'own_provider',
  'hook_denied',
  'hook_failed',
  'denied',
] as const;
export type TryCheck = (typeof tryChecks)[number];

/** How a mail failed: put off by the server, refused by it for good, or nobody answered there. */
export type MailFault = 'deferred' | 'bounced' | 'server_silent';
