// The cookie that binds a browser to one login transaction: not a session, one per transaction, so several tabs work at once.
// `__Host-` wherever the tenant is served by https; a plain name on http, where browsers refuse the prefix.
import { hashSecret, verifySecret } from '../../crypto/secret-hash.ts';
import { soleCookie } from '../../platform/cookies.ts';
import { randomSecret } from '../../platform/random.ts';

const namePrefix = 'gh-tx-';
const idPrefixChars = 10;
/** The cookie outlives the transaction a little, so that the page can say that it expired. */
const graceSeconds = 900;

interface TransactionCookie {
  /** The whole Set-Cookie value. */
  readonly setCookie: string;
  /** What is stored: SHA-256 of the cookie's value. */
  readonly bindingHash: string;
}

const isHttps = (baseUrl: string): boolean => baseUrl.startsWith('https:');

function transactionCookieName(baseUrl: string, transactionId: string): string {
  return `${isHttps(baseUrl) ? '__Host-' : ''}${namePrefix}${transactionId.slice(0, idPrefixChars)}`;
}

/** Makes a fresh cookie for a transaction that lives for `lifetimeSeconds`. */
export function makeTransactionCookie(baseUrl: string, transactionId: string, lifetimeSeconds: number): TransactionCookie {
  const value = randomSecret();
  const name = transactionCookieName(baseUrl, transactionId);
  const secure = isHttps(baseUrl) ? '; Secure' : '';
  return {
    setCookie: `${name}=${value}; Path=/; Max-Age=${lifetimeSeconds + graceSeconds}; HttpOnly; SameSite=Lax${secure}`,
    bindingHash: hashSecret(value),
  };
}

/** True when the Cookie header carries the cookie of this transaction with the bound value. Does the same work for an unknown one. */
export function holdsTransactionCookie(
  cookieHeader: string | undefined,
  baseUrl: string,
  transactionId: string,
  bindingHash: string | undefined,
): boolean {
  const value = soleCookie(cookieHeader, transactionCookieName(baseUrl, transactionId));
  const verified = verifySecret(value ?? '', bindingHash);
  return value !== undefined && verified;
}
