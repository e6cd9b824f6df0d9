// The PIN engine (contract 7.17, design 05): sends PINs by mail and verifies them. Serves sign-in and the device plane, each
// with its own purpose and subject. Order in verifying: expired, locked, compare. Attempts are counted and committed before
// the PIN is compared; only success refills failures. A mailbox nobody has costs the same and receives nothing.
import { createHmac } from 'node:crypto';
import { farTimesNear, ownTimesNear } from '../../contract/limits.ts';
import type { KeyEncryption } from '../../crypto/key-encryption.ts';
import { equalText } from '../../crypto/secret-hash.ts';
import type { TransactionId, UserId } from '../../domain/ids.ts';
import { fail, type Outcome } from '../../domain/outcome.ts';
import type { Tenant } from '../../domain/tenant/tenant.ts';
import { mails } from '../../mails/registry.ts';
import { randomDigits, randomId } from '../../platform/random.ts';
import type { ConfigCache } from '../../storage/engine/config/config-cache.ts';
import type { Database, Queries } from '../../storage/engine/database.ts';
import {
  consumePin,
  findActivePin,
  type PinPurpose,
  replacePin,
  returnSend,
  takePinAttempt,
  takeSend,
} from '../../storage/sign-in/pins.ts';
import { loadTenantKey } from '../../tokens/tenant-secret.ts';
import type { Asking } from '../asker.ts';
import { reportAttack, timesFarNow } from '../attack.ts';
import { type MailDeps, queueMail } from './mail-delivery.ts';
import { countGuess, forgiveGuesses, type Guesser, judgeDigits, type SpentBudget } from './pin-failures.ts';
import { mailUser } from './user-mail.ts';

export interface PinDeps extends MailDeps {
  readonly database: Database;
  readonly cache: ConfigCache;
  readonly encryption: KeyEncryption;
}

/** The key PINs are hashed under; load it before a transaction, so that the transaction waits for nothing else. */
export const loadPinPepper = (deps: Pick<PinDeps, 'cache' | 'encryption'>, tenant: Tenant): Promise<Buffer> =>
  loadTenantKey(deps.cache, deps.encryption, tenant.id, 'gatehouse pin pepper v1');

export interface PinSubject {
  readonly purpose: PinPurpose;
  /** What the PIN opens: a login transaction's id, a registration's. */
  readonly subjectId: string;
}

export interface PinToSend extends PinSubject, Asking {
  /** foldKey of the email, or of the identifier nobody has. */
  readonly mailKey: string;
  /** The subject that was typed, when it may be another name of the mailbox's person: cooldowns are told by it. */
  readonly askedKey?: string | undefined;
  /** Undefined: a decoy, nothing is sent. */
  readonly to: string | undefined;
  /** What the mail is for: the name of the client or of the tenant. */
  readonly purposeName: string;
  /** BCP 47; the nearest catalog is used. */
  readonly language: string;
  /** The first mail of its subject: it counts among the hour's sends, but waits for no cooldown. */
  readonly isFirst?: boolean;
}

interface SentPin {
  readonly expiresAtMs: number;
  readonly resendAfterSeconds: number;
  readonly digits: number;
  /** True: the mailbox was sent enough under other names, so no mail went out. */
  readonly isCapped: boolean;
}

/** No mail: answer `pin.cooldown_active`. `budget` says what is spent. */
interface SendRefusal {
  readonly ok: false;
  readonly budget: 'near' | 'own' | 'far' | 'far_row';
  readonly retryAfterSeconds: number;
}

/**
 * Makes a new PIN the active one of its subject and queues its mail, in the caller's transaction.
 * Refused: the cooldown or the hour's sends of what was typed, or of the mailbox where nobody typed another name for it. A mailbox that
 * got its sends under other names gets no mail, in silence.
 */
export async function sendPin(
  queries: Queries,
  deps: MailDeps,
  tenant: Tenant,
  pepper: Buffer,
  request: PinToSend,
): Promise<({ readonly ok: true } & SentPin) | SendRefusal> {
  const { pin: settings } = tenant.settings;
  const judged = await judgeDigits(queries, tenant, request);
  const sent = judged.ok
    ? await countSend(queries, tenant, request)
    : ({ ok: false, budget: judged.reason, retryAfterSeconds: hourSeconds } as const);
  const spent = sent.ok ? sent.capped : sent.budget;
  if (spent === 'far' || spent === 'far_row') await reportAttack(queries, deps, tenant, request, 'codes');
  if (!judged.ok || !sent.ok) return sent as SendRefusal;
  const isCapped = sent.capped !== undefined;
  const { digits } = judged;
  const id = randomId();
  const pin = randomDigits(digits);
  const made = {
    id,
    purpose: request.purpose,
    subject_id: request.subjectId,
    mail_key: request.mailKey,
    pin_hmac: hmacPin(pepper, id, pin),
    digits,
    attempts_max: settings.attempts_max,
  };
  const expiresAtMs = await replacePin(queries, tenant.id, made, settings.lifetime_seconds);
  const message = mails.pin.make(
    {
      pin,
      tenantName: tenant.name,
      purposeName: request.purposeName,
      lifetimeSeconds: settings.lifetime_seconds,
      language: request.language,
    },
    request.to ?? 'nobody@invalid',
  );
  // The subject of a sign-in's code is its transaction.
  const signIn = request.purpose === 'login' ? (request.subjectId as TransactionId) : undefined;
  await queueMail(queries, deps, tenant, message, { forNobody: request.to === undefined || isCapped, signIn });
  const resendAfterSeconds = settings.resend_cooldown_seconds;
  return { ok: true, expiresAtMs, resendAfterSeconds, digits, isCapped: isCapped && request.to !== undefined };
}

const hourSeconds = 3600;

/** Counts one mail by what was typed, whose refusal is told, and by the mailbox where that is another: by whoever asks, then by all. */
async function countSend(
  queries: Queries,
  tenant: Tenant,
  { asker, userId, mailKey, askedKey, isFirst }: PinToSend,
): Promise<{ readonly ok: true; readonly capped?: 'near' | 'far' } | SendRefusal> {
  if (tenant.areLimitsLifted) return { ok: true };
  const { resend_cooldown_seconds: cooldown, sends_per_hour_max: sendsPerHourMax } = tenant.settings.pin;
  const take = (key: string, times: number, cooldownSeconds: number) =>
    takeSend(queries, tenant.id, key, { cooldownSeconds, sendsPerHourMax: sendsPerHourMax * times });
  const cooldownSeconds = isFirst === true ? 0 : cooldown;
  if (!asker.isStranger) {
    const own = await take(`${asker.key}:${mailKey}`, ownTimesNear, cooldownSeconds);
    return own === 'taken' ? { ok: true } : { ok: false, budget: 'own', retryAfterSeconds: own };
  }
  const typed = askedKey === undefined ? mailKey : `asked:${askedKey}`;
  const takeFar = async (key: string) => {
    const taken = await take(key, farTimesNear, 0);
    const times = taken === 'taken' ? 1 : await timesFarNow(queries, tenant, userId);
    return times === 1 ? taken : take(key, farTimesNear * times, 0);
  };
  // Far first: without a cooldown it can be given back whole.
  const far = await takeFar(typed);
  if (far !== 'taken') return { ok: false, budget: 'far', retryAfterSeconds: far };
  const near = await take(`${asker.key}:${typed}`, 1, cooldownSeconds);
  if (near !== 'taken') {
    await returnSend(queries, tenant.id, typed);
    return { ok: false, budget: 'near', retryAfterSeconds: near };
  }
  if (askedKey === undefined) return { ok: true };
  // Under several names only the hour's sum counts: who typed another name of theirs would wait for nothing they can see.
  if ((await take(`${asker.key}:${mailKey}`, 1, 0)) !== 'taken') return { ok: true, capped: 'near' };
  return (await takeFar(mailKey)) === 'taken' ? { ok: true } : { ok: true, capped: 'far' };
}

export type PinVerdict =
  | ({ readonly ok: true; readonly pinId: string } & Guesser)
  /** `isTold`: this very code spent a budget; the caller tells the person. `budget`: which one refused it. */
  | { readonly ok: false; readonly reason: 'expired' | 'locked'; readonly isTold?: boolean; readonly budget?: SpentBudget }
  | { readonly ok: false; readonly reason: 'wrong'; readonly attemptsLeft: number };

/** Thrown in a transaction that must leave nothing behind: a budget is spent. */
class BudgetSpent extends Error {
  readonly budget: SpentBudget;
  constructor(budget: SpentBudget) {
    super(budget);
    this.budget = budget;
  }
}

/**
 * Checks a presented PIN. The attempt is committed first, in a transaction of its own, so call it outside one; wrong PINs are counted by
 * who types them. `ok` only says the PIN is right: the caller redeems it with redeemPin in the transaction of its effect.
 */
export async function examinePin(
  deps: PinDeps,
  tenant: Tenant,
  subject: PinSubject,
  presented: string,
  asking: Asking,
): Promise<PinVerdict> {
  const pepper = await loadPinPepper(deps, tenant);
  const counting = deps.database.write(tenant.id, async (queries) => {
    const pin = await findActivePin(queries, tenant.id, subject.purpose, subject.subjectId);
    if (pin === undefined) return fail('expired');
    const attempts = await takePinAttempt(queries, tenant.id, pin.id);
    if (attempts === undefined) {
      // Its attempts are spent, unless it was used or replaced a moment ago.
      const still = await findActivePin(queries, tenant.id, subject.purpose, subject.subjectId);
      return still?.id === pin.id ? fail('locked') : fail('expired');
    }
    const guess = await countGuess(queries, tenant, { ...asking, mailKey: pin.mail_key }, pin.digits);
    if (!guess.ok) throw new BudgetSpent(guess.reason);
    return { ok: true as const, pin, attemptsLeft: Math.min(pin.attempts_max - attempts, guess.left), isTold: guess.isTold };
  });
  const counted = await counting.catch((error: unknown) => {
    if (error instanceof BudgetSpent) return { ...fail(error.budget === 'digits' ? 'expired' : 'locked'), budget: error.budget };
    throw error;
  });
  if (!counted.ok) {
    if ('budget' in counted && (counted.budget === 'far_day' || counted.budget === 'far_row'))
      await deps.database.write(tenant.id, (queries) => reportAttack(queries, deps, tenant, asking, 'wrong_codes'));
    return counted;
  }
  const { pin, attemptsLeft, isTold } = counted;
  const { id: pinId, mail_key: mailKey } = pin;
  if (equalText(hmacPin(pepper, pinId, presented), pin.pin_hmac)) return { ...asking, ok: true, pinId, mailKey };
  return attemptsLeft > 0 ? { ok: false, reason: 'wrong', attemptsLeft } : { ok: false, reason: 'locked', isTold };
}

/** Uses up a right PIN and refills the failures it was counted with. `used`: another request was first. */
export async function redeemPin(
  queries: Queries,
  tenant: Tenant,
  pin: Guesser & { readonly pinId: string },
): Promise<Outcome<object, 'used'>> {
  if (!(await consumePin(queries, tenant.id, pin.pinId))) return fail('used');
  await forgiveGuesses(queries, tenant, pin);
  return { ok: true };
}

/** Tells the person of a mailbox that a budget of wrong codes is spent; nobody, at the same cost, for a decoy. */
export async function mailBudgetSpent(
  queries: Queries,
  deps: MailDeps,
  tenant: Tenant,
  person: { readonly userId: UserId | undefined; readonly asked: string | undefined },
): Promise<void> {
  const { userId, asked } = person;
  const write = (to: string, language: string) => mails.wrongCodes.make({ tenantName: tenant.name, language }, to);
  if (userId !== undefined) await mailUser(queries, deps, tenant, { userId, asked }, write);
  else await queueMail(queries, deps, tenant, write('nobody@invalid', 'en'), { forNobody: true });
}

const hmacPin = (pepper: Buffer, id: string, pin: string): string =>
  createHmac('sha256', pepper).update(`${id}\0${pin}`).digest('base64url');
