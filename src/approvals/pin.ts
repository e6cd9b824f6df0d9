// The PIN engine (contract 7.17, design 05): sends PINs by mail and verifies them. Serves sign-in and the device plane, each
// with its own purpose and subject. Order in verifying: expired, locked, compare. Attempts are counted and committed before
// the PIN is compared; only success refills the day's failures. A mailbox nobody has costs the same and receives nothing.
import { createHmac } from 'node:crypto';
import type { KeyEncryption } from '../crypto/key-encryption.ts';
import { equalText } from '../crypto/secret-hash.ts';
import type { UserId } from '../domain/ids.ts';
import { fail, type Outcome } from '../domain/outcome.ts';
import type { Tenant } from '../domain/tenant/tenant.ts';
import { mails } from '../mails/registry.ts';
import { randomDigits, randomId } from '../platform/random.ts';
import type { ConfigCache } from '../storage/engine/config-cache.ts';
import type { Database, Queries } from '../storage/engine/database.ts';
import {
  consumePin,
  findActivePin,
  type PinPurpose,
  refillFailures,
  replacePin,
  takeFailure,
  takePinAttempt,
  takeSend,
} from '../storage/sign-in/pins.ts';
import { loadTenantKey } from '../tokens/tenant-secret.ts';
import { type MailDeps, queueMail } from './mail-delivery.ts';
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

export interface PinToSend extends PinSubject {
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

export interface SentPin {
  readonly expiresAtMs: number;
  readonly resendAfterSeconds: number;
  /** True: the mailbox was sent enough under other names, so no mail went out. */
  readonly isCapped: boolean;
}

/**
 * Makes a new PIN the active one of its subject and queues its mail, in the caller's transaction.
 * A number instead of `ok`: the cooldown or the hour's sends of what was typed, or of the mailbox where nobody typed another name
 * for it; answer `pin.cooldown_active` with it. A mailbox that got its sends under other names gets no mail, in silence.
 */
export async function sendPin(
  queries: Queries,
  deps: MailDeps,
  tenant: Tenant,
  pepper: Buffer,
  request: PinToSend,
): Promise<({ readonly ok: true } & SentPin) | { readonly ok: false; readonly reason: 'cooldown'; readonly retryAfterSeconds: number }> {
  const { pin: settings } = tenant.settings;
  const limits = {
    cooldownSeconds: request.isFirst === true ? 0 : settings.resend_cooldown_seconds,
    sendsPerHourMax: settings.sends_per_hour_max,
  };
  const asked = request.askedKey === undefined ? 'taken' : await takeSend(queries, tenant.id, `asked:${request.askedKey}`, limits);
  if (asked !== 'taken') return { ok: false, reason: 'cooldown', retryAfterSeconds: asked };
  // Under several names only the hour's sum counts: who typed another name of theirs would wait for nothing they can see.
  const sent = await takeSend(
    queries,
    tenant.id,
    request.mailKey,
    request.askedKey === undefined ? limits : { ...limits, cooldownSeconds: 0 },
  );
  if (sent !== 'taken' && request.askedKey === undefined) return { ok: false, reason: 'cooldown', retryAfterSeconds: sent };
  const isCapped = sent !== 'taken';
  const id = randomId();
  const pin = randomDigits(settings.length);
  const made = {
    id,
    purpose: request.purpose,
    subject_id: request.subjectId,
    mail_key: request.mailKey,
    pin_hmac: hmacPin(pepper, id, pin),
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
  await queueMail(queries, deps, tenant, message, { forNobody: request.to === undefined || isCapped });
  return { ok: true, expiresAtMs, resendAfterSeconds: settings.resend_cooldown_seconds, isCapped: isCapped && request.to !== undefined };
}

export type PinVerdict =
  | { readonly ok: true; readonly pinId: string; readonly mailKey: string; readonly budget: string }
  /** `isSpent`: this very code spent the day's budget, once; the caller tells the person. */
  | { readonly ok: false; readonly reason: 'expired' | 'locked'; readonly isSpent?: boolean }
  | { readonly ok: false; readonly reason: 'wrong'; readonly attemptsLeft: number };

/**
 * Checks a presented PIN. The attempt is committed first, in a transaction of its own, so call it outside one. The day's wrong PINs are
 * counted under `budget`, else under the mailbox: who is known, or was given an enrolment token, has twenty that strangers cannot spend.
 * `ok` only says the PIN is right: the caller redeems it with redeemPin in the transaction of its effect.
 */
export async function examinePin(
  deps: PinDeps,
  tenant: Tenant,
  subject: PinSubject,
  presented: string,
  budget?: string,
): Promise<PinVerdict> {
  const { failures_per_day_max: failuresMax } = tenant.settings.pin;
  const pepper = await loadPinPepper(deps, tenant);
  const counted = await deps.database.write(tenant.id, async (queries) => {
    const pin = await findActivePin(queries, tenant.id, subject.purpose, subject.subjectId);
    if (pin === undefined) return fail('expired');
    const attempts = await takePinAttempt(queries, tenant.id, pin.id);
    if (attempts === undefined) {
      // Its attempts are spent, unless it was used or replaced a moment ago.
      const still = await findActivePin(queries, tenant.id, subject.purpose, subject.subjectId);
      return still?.id === pin.id ? fail('locked') : fail('expired');
    }
    const failures = await takeFailure(queries, tenant.id, budget ?? pin.mail_key, failuresMax);
    if (failures === undefined) return fail('locked');
    const attemptsLeft = Math.min(pin.attempts_max - attempts, failuresMax - failures);
    return { ok: true as const, pin, attemptsLeft, isSpent: failures === failuresMax };
  });
  if (!counted.ok) return counted;
  const { pin, attemptsLeft, isSpent } = counted;
  const { id: pinId, mail_key: mailKey } = pin;
  if (equalText(hmacPin(pepper, pinId, presented), pin.pin_hmac)) return { ok: true, pinId, mailKey, budget: budget ?? mailKey };
  return attemptsLeft > 0 ? { ok: false, reason: 'wrong', attemptsLeft } : { ok: false, reason: 'locked', isSpent };
}

/** Uses up a right PIN and refills the failures it was counted with. `used`: another request was first. */
export async function redeemPin(
  queries: Queries,
  tenant: Tenant,
  pin: { readonly pinId: string; readonly budget: string },
): Promise<Outcome<object, 'used'>> {
  if (!(await consumePin(queries, tenant.id, pin.pinId))) return fail('used');
  await refillFailures(queries, tenant.id, pin.budget);
  return { ok: true };
}

/** Tells the person of a mailbox that its day of wrong codes is spent; nobody, at the same cost, for a decoy. */
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
