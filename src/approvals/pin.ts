// The PIN engine (contract 7.17, design 05): sends PINs by mail and verifies them. Serves sign-in and the device plane, each
// with its own purpose and subject. Order in verifying: expired, locked, compare. Attempts are counted and committed before
// the PIN is compared; only success refills the day's failures. A mailbox nobody has costs the same and receives nothing.
import { createHmac } from 'node:crypto';
import type { KeyEncryption } from '../crypto/key-encryption.ts';
import { equalText } from '../crypto/secret-hash.ts';
import { fail, type Outcome } from '../domain/outcome.ts';
import type { Tenant } from '../domain/tenant.ts';
import { randomDigits, randomId } from '../platform/random.ts';
import type { ConfigCache } from '../storage/config-cache.ts';
import type { Database, Queries } from '../storage/database.ts';
import {
  consumePin,
  findActivePin,
  type PinPurpose,
  refillFailures,
  replacePin,
  takeFailure,
  takePinAttempt,
  takeSend,
} from '../storage/pins.ts';
import { loadTenantKey } from '../tokens/tenant-secret.ts';
import { type MailDeps, queueMail } from './mail-delivery.ts';
import { pinMail } from './pin-mail.ts';

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
}

/**
 * Makes a new PIN the active one of its subject and queues its mail, in the caller's transaction.
 * A number instead of `ok`: the cooldown or the hour's sends of the mailbox; answer `pin.cooldown_active` with it.
 */
export async function sendPin(
  queries: Queries,
  deps: MailDeps,
  tenant: Tenant,
  pepper: Buffer,
  request: PinToSend,
): Promise<({ readonly ok: true } & SentPin) | { readonly ok: false; readonly reason: 'cooldown'; readonly retryAfterSeconds: number }> {
  const { pin: settings } = tenant.settings;
  const sent = await takeSend(queries, tenant.id, request.mailKey, {
    cooldownSeconds: request.isFirst === true ? 0 : settings.resend_cooldown_seconds,
    sendsPerHourMax: settings.sends_per_hour_max,
  });
  if (sent !== 'taken') return { ok: false, reason: 'cooldown', retryAfterSeconds: sent };
  const id = randomId();
  const pin = randomDigits(settings.length);
  const expiresAtMs = await replacePin(queries, tenant.id, {
    id,
    purpose: request.purpose,
    subjectId: request.subjectId,
    mailKey: request.mailKey,
    pinHmac: hmacPin(pepper, id, pin),
    attemptsMax: settings.attempts_max,
    lifetimeSeconds: settings.lifetime_seconds,
  });
  const message = pinMail(
    {
      pin,
      tenantName: tenant.name,
      purposeName: request.purposeName,
      lifetimeSeconds: settings.lifetime_seconds,
      language: request.language,
    },
    request.to ?? 'nobody@invalid',
  );
  await queueMail(queries, deps, tenant, message, { forNobody: request.to === undefined });
  return { ok: true, expiresAtMs, resendAfterSeconds: settings.resend_cooldown_seconds };
}

export type PinVerdict =
  | { readonly ok: true; readonly pinId: string; readonly mailKey: string }
  | { readonly ok: false; readonly reason: 'expired' | 'locked' }
  | { readonly ok: false; readonly reason: 'wrong'; readonly attemptsLeft: number };

/**
 * Checks a presented PIN. The attempt is committed first, in a transaction of its own, so call it outside one.
 * `ok` only says the PIN is right: the caller redeems it with redeemPin in the transaction of its effect.
 */
export async function examinePin(deps: PinDeps, tenant: Tenant, subject: PinSubject, presented: string): Promise<PinVerdict> {
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
    const failures = await takeFailure(queries, tenant.id, pin.mail_key, failuresMax);
    if (failures === undefined) return fail('locked');
    return { ok: true as const, pin, attemptsLeft: Math.min(pin.attempts_max - attempts, failuresMax - failures) };
  });
  if (!counted.ok) return counted;
  const { pin, attemptsLeft } = counted;
  if (equalText(hmacPin(pepper, pin.id, presented), pin.pin_hmac)) return { ok: true, pinId: pin.id, mailKey: pin.mail_key };
  return attemptsLeft > 0 ? { ok: false, reason: 'wrong', attemptsLeft } : fail('locked');
}

/** Uses up a right PIN and refills the mailbox's failures. `used`: another request was first. */
export async function redeemPin(
  queries: Queries,
  tenant: Tenant,
  pin: { readonly pinId: string; readonly mailKey: string },
): Promise<Outcome<object, 'used'>> {
  if (!(await consumePin(queries, tenant.id, pin.pinId))) return fail('used');
  await refillFailures(queries, tenant.id, pin.mailKey);
  return { ok: true };
}

const hmacPin = (pepper: Buffer, id: string, pin: string): string =>
  createHmac('sha256', pepper).update(`${id}\0${pin}`).digest('base64url');
