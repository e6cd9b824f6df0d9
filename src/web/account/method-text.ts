// How somebody signed in, in words: used by the pages that show a session.
import type { AccountWords } from './words.ts';

/** A phone and a passkey are both hardware-secured keys (RFC 8176) and told apart by the level they give. */
export function methodText(words: AccountWords, amr: readonly string[], acr: string | undefined): string {
  if (amr.includes('otp')) return words.byEmailCode;
  return acr === 'phr' ? words.byPasskey : words.byPhone;
}
