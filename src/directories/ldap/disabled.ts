// Whether a person may no longer sign in there: disabled, expired or locked by an administrator. A lock by wrong passwords goes by itself, and is
// none. Pure.
import type { RawEntry } from './answers.ts';
import { textsOf } from './entry.ts';

/** What is asked for, whatever the server is: those it does not know it does not say. */
export const disablingAttributes = ['userAccountControl', 'accountExpires', 'nsAccountLock', 'pwdAccountLockedTime'] as const;

/** ADS_UF_ACCOUNTDISABLE. */
const disabledBit = 0x2n;
/** Of accountExpires. */
const never = new Set([0n, 0x7fff_ffff_ffff_ffffn]);
/** OpenLDAP's overlay for passwords: by an administrator, until one ends it. */
const lockedForGood = '000001010000Z';

/** Hundreds of nanoseconds since 1601 (MS-DTYP 2.3.3). */
export const fileTimeOf = (ms: number): bigint => (BigInt(Math.floor(ms)) + 11_644_473_600_000n) * 10_000n;

export function isDisabled(entry: RawEntry, nowMs: number): boolean {
  const [control] = numbersOf(entry, 'useraccountcontrol');
  const [expires] = numbersOf(entry, 'accountexpires');
  if (control !== undefined && (control & disabledBit) !== 0n) return true;
  if (expires !== undefined && !never.has(expires) && expires <= fileTimeOf(nowMs)) return true;
  if (textsOf(entry, 'nsaccountlock').some((text) => text.toLowerCase() === 'true')) return true;
  return textsOf(entry, 'pwdaccountlockedtime').includes(lockedForGood);
}

const numbersOf = (entry: RawEntry, type: string): readonly bigint[] =>
  textsOf(entry, type).flatMap((text) => (/^-?\d{1,20}$/.test(text) ? [BigInt(text)] : []));
