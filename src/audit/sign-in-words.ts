// What a line of a try to sign in means, and what an administrator does about it: the same words in the console, on the command line and in
// the Management API.
import type { TryCheck, TryType } from '../domain/sign-in/sign-in-try.ts';

interface CheckWords {
  readonly says: string;
  /** What to do. */
  readonly advice: string;
}

// biome-ignore format: a table, one check a line
const checkWords: Readonly<Record<TryCheck, CheckWords>> = {
  unknown_person: { says: 'No person has this name or email', advice: 'Look for a typing error. If the person should get in, invite them.' },
  user_suspended: { says: 'This person is suspended', advice: 'Activate the person if they should get in again.' },
  not_assigned: { says: 'The application lets in only people who are assigned to it, and this person isn’t', advice: 'Assign the person, or a group of theirs, on the application’s tab Access.' },
  application_disabled: { says: 'The application is disabled', advice: 'Enable the application if people should get in.' },
  code_wrong: { says: 'The code was wrong', advice: 'Ask the person to type the code of the newest mail. Codes of earlier mails no longer work.' },
  code_locked: { says: 'Too many wrong codes', advice: 'Ask the person to wait an hour, or to use a passkey or their phone. If it was not them, nobody got in.' },
  code_expired: { says: 'The code was no longer valid', advice: 'Ask the person to have a new code sent, and to type it within the time the mail says.' },
  too_many_codes: { says: 'No code was mailed, because the mailbox was sent too many', advice: 'Ask the person to wait an hour, or to use a passkey or their phone.' },
  mail_not_delivered: { says: 'The mail with the code was not delivered', advice: 'Check the address of the person, and the mail server under Mail.' },
  passkey_refused: { says: 'The passkey was not accepted', advice: 'Ask the person to try another passkey, or another way. An old passkey can be deleted on the person’s page.' },
  provider_does_not_answer: { says: 'The other provider does not answer', advice: 'Check the provider under Other providers, and whether this server reaches it.' },
  provider_refused: { says: 'The other provider did not sign the person in, or what it said was not accepted', advice: 'Check the provider under Other providers: its client, its keys, and whether it may create people.' },
  strength: { says: 'The application asks for a stronger sign-in than this one', advice: 'Ask the person to use a passkey or their phone, and give them one if they have none.' },
  other_account: { says: 'The application asked for another person', advice: 'Ask the person to sign out at the application, and to sign in with the account it asks for.' },
  not_a_member: { says: 'The application asked for an organisation this person is not in, or that is disabled', advice: 'Make the person a member of the organisation if they should get in.' },
  own_provider: { says: 'The organisation has its people come by its own provider, and this person came another way', advice: 'Check that the provider of the organisation is enabled, and that the person’s address is of one of its proven domains.' },
  hook_denied: { says: 'A hook of yours said no', advice: 'Look at what the hook answered: it decides.' },
  hook_failed: { says: 'A hook of yours did not answer', advice: 'Check the hook: sign-ins wait for it.' },
  denied: { says: 'Somebody said no on the phone', advice: 'Ask the person whether it was them. If not, somebody else knows their name, and did not get in.' },
};

const typeWords: Readonly<Record<TryType, string>> = {
  'login.started': 'Said who they are',
  'code.sent': 'A code was mailed',
  'code.wrong': 'A code was not accepted',
  'mail.failed': 'The mail was not delivered',
  'login.refused': 'Not let in',
  'login.finished': 'Signed in',
  'login.cancelled': 'Gave up',
};

/** A code that is asked for a name whose mail goes to nobody is none. */
const nobodysCode = 'A code was asked for, and none was mailed';
const mailFaults: Readonly<Record<string, string>> = {
  deferred: 'the mail server put it off',
  bounced: 'the mail server refused it',
  server_silent: 'the mail server does not answer',
};

/** A line in a sentence, without its check. */
export function typeSays(type: string, check: string | null, detail: string | null): string {
  if (type === 'code.sent' && check !== null) return nobodysCode;
  const words = Object.hasOwn(typeWords, type) ? typeWords[type as TryType] : type;
  return type === 'mail.failed' && detail !== null && Object.hasOwn(mailFaults, detail) ? `${words}: ${mailFaults[detail]}` : words;
}

/** Which check failed, in a sentence, and what to do about it; undefined where none did. */
export const checkSays = (check: string | null): CheckWords | undefined =>
  check !== null && Object.hasOwn(checkWords, check) ? checkWords[check as TryCheck] : undefined;
