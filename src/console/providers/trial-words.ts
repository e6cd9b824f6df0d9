// Why another provider does not answer, or why trying it came to nothing: what that means, and what to look at. The name of the check stays
// in the tooltip.
import { outboundWords } from '../../platform/net/outbound-words.ts';

const otherIssuer = 'its metadata is not that of this issuer';

/** Why it does not answer: as calls of ours say it, `host: reason`. */
export function silenceWords(reason: string): string {
  if (reason === otherIssuer)
    return 'The host answers, but not with the discovery document of this issuer. Copy the issuer from its own page, letter for letter.';
  const [, host, status, failure = ''] = /^(\S+): (?:status (\d+)|(\w+))$/.exec(reason) ?? [];
  if (status !== undefined) return `${host} answered ${status}. Try again later, or check the address.`;
  return Object.hasOwn(outboundWords, failure) ? outboundWords[failure as keyof typeof outboundWords] : reason;
}

const clientUnknown = 'It does not accept this client ID with this client secret. Copy both again.';
const tryAgain = 'Try it again from this page.';
const wrongMetadata = 'Its metadata here is not that of who answered. Paste its newest metadata.';
const wrongAddress = 'It answered for another address than ours. Copy the address above there again, and for SAML the entity ID too.';

// biome-ignore format: a table, one check a line
const words: Readonly<Record<string, string>> = {
  invalid_client: clientUnknown,
  OAUTH_WWW_AUTHENTICATE_CHALLENGE: clientUnknown,
  OAUTH_RESPONSE_IS_NOT_CONFORM: 'It gave no token. Copy client ID and client secret again.',
  unauthorized_client: 'It does not let this client sign people in with a code. Its side says which grants a client may use.',
  access_denied: 'You, or it, said no.',
  invalid_scope: 'It does not give one of the scopes that are asked for.',
  invalid_grant: 'It did not take back the code that it had given. Try it again, and check that the client is the same on both sides.',
  code_not_accepted: 'It did not take back the code that it had given. Copy client ID and client secret again.',
  OAUTH_JWT_CLAIM_COMPARISON_FAILED: 'Its token is for somebody else: another client, issuer or request. Check issuer and client ID.',
  OAUTH_JWT_TIMESTAMP_CHECK_FAILED: 'Its token is too old or not valid yet. Compare the clocks of both sides.',
  directory_not_listed: 'You are of a directory that is not listed. Add its ID to the directories, if its people should sign in.',
  no_answer: `The answer was incomplete. ${tryAgain}`,
  answer_used_expired_or_of_another_browser: `The answer was used before, came too late, or came by another browser. ${tryAgain}`,
  state_of_another_sign_in: `The answer was for another sign-in. ${tryAgain}`,
  of_another_session: `It was tried in another session. ${tryAgain}`,
  changed_meanwhile: 'The provider was changed while you were there. Try it again.',
  no_response: 'It sent no SAML response.',
  issuer: wrongMetadata,
  signature_mismatch: wrongMetadata,
  unsolicited: `It answered without being asked. ${tryAgain}`,
  in_response_to: `It answered another request. ${tryAgain}`,
  signature_missing: 'Its assertion is not signed. Have it sign assertions.',
  audience: wrongAddress,
  recipient: wrongAddress,
  destination: wrongAddress,
  decryption_failed: 'Its answer is encrypted for another key. Give it our metadata again.',
  no_name_id: 'It does not say who you are: the name ID is missing.',
  transient_name_id: 'It calls people differently each time (a transient name ID). Have it send a persistent one.',
  session_expired: 'Your session there had ended.',
};

/** Why a try came to nothing. */
export function failureWords(reason: string): string {
  const [check = ''] = reason.split(' ', 1);
  if (Object.hasOwn(words, check)) return words[check]!;
  if (check === 'encryption_algorithm') return 'Its answer is encrypted in a way that is not safe any more. Have it encrypt with AES-GCM.';
  if (check.startsWith('status_')) return 'It said that the sign-in failed on its side. Its log says why.';
  const silence = silenceWords(reason);
  return silence === reason ? 'What it answered is not accepted.' : silence;
}
