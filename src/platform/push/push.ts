// What every way of pushing has in common: the notice, what became of it, and one function a vendor that sends to one token. A push
// says only that something waits; the phone fetches the rest over its signed channel.

export interface PushNotice {
  readonly type: 'approval' | 'recovery' | 'test';
  /** The approval's or recovery's id; a test has one of its own. */
  readonly id: string;
  /** A fixed text in the person's language. */
  readonly sentence: string;
  /** Epoch milliseconds; of no use afterwards. */
  readonly expiresAtMs: number;
}

export type PushOutcome =
  | 'sent'
  /** The token is dead: forget it. */
  | 'gone'
  /** The vendor does not take our credentials. */
  | 'refused'
  /** The vendor does not take this push; it would not take it again. */
  | 'rejected'
  /** Try again later. */
  | 'failed';

export interface PushResult {
  readonly outcome: PushOutcome;
  /** The vendor's word for it, or ours where it said nothing. */
  readonly reason?: string;
}

/** Sends a notice to one token with the credentials of an account, and gives up when the signal says so; never throws. */
export type PushSend<Account> = (account: Account, token: string, notice: PushNotice, signal: AbortSignal) => Promise<PushResult>;

/** For everything together. */
export const pushTimeoutMs = 5000;
/** What is read of a vendor's answer. */
export const pushAnswerBytesMax = 16 * 1024;
const reasonCharsMax = 100;

/** The first text that is one, cut to what a row and a page can take. */
export function reasonOf(...words: readonly unknown[]): string {
  const word = words.find((candidate) => typeof candidate === 'string' && candidate !== '') ?? 'unknown';
  return String(word)
    .replace(/[^\x20-\x7e]/g, ' ')
    .slice(0, reasonCharsMax);
}

/** An object of JSON; empty where the text is none. */
export function parseAnswer(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
  } catch {
    return {};
  }
}

/** A text member of an account file or setting. @throws Error that names the member */
export function accountMember(fields: Readonly<Record<string, unknown>>, provider: string, name: string): string {
  const value = fields[name];
  if (typeof value !== 'string' || value === '') throw new Error(`${provider}: expected "${name}" in the account, found none`);
  return value;
}
