// How somebody signed in, in words: used by the pages that show a session.
import type { AccountTexts } from '../texts/account/account-texts.ts';

/** A phone and a passkey are both hardware-secured keys (RFC 8176) and told apart by the level they give. */
export function methodText(words: AccountTexts, amr: readonly string[], acr: string | undefined): string {
  if (amr.includes('fed')) return words.byProvider;
  if (amr.includes('recovery')) return words.byRecoveryCode;
  if (amr.includes('otp')) return words.byEmailCode;
  return acr === 'phr' ? words.byPasskey : words.byPhone;
}
