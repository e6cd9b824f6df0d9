// PINs sent by mail, and the budgets of each mailbox: sends an hour, cooldown, wrong PINs an hour and a day (contract 7.17, design 05).
// The engine is approvals/mailed/pin.ts; it serves sign-in and the device plane. Attempts are counted in SQL before anything is
// compared. A mailbox is a folded email, or the identifier nobody has: both cost the same.

import { sql } from 'kysely';
import { pinAttemptsMax } from '../../contract/limits.ts';
import type { TenantId } from '../../domain/ids.ts';
import type { Queries } from '../engine/database.ts';
import { databaseNowMs } from '../engine/instance.ts';
import { compilable, type Row, statement } from '../engine/statement.ts';

export type PinPurpose = 'login' | 'registration' | 'signup' | 'enrollment' | 'ciba';

export interface PinTable {
  tenant_id: TenantId;
  id: string;
  purpose: string;
  /** What the PIN opens: a login transaction, a registration. */
  subject_id: string;
  mail_key: string;
  pin_hmac: string;
  digits: number;
  attempts: number;
  attempts_max: number;
  created_at: number;
  expires_at: number;
  replaced_at: number | null;
  used_at: number | null;
}

export interface PinMailboxTable {
  tenant_id: TenantId;
  mail_key: string;
  last_sent_at: number | null;
  sends: number;
  /** Start of the hour the sends are counted in. */
  sends_since: number;
  failures: number;
  /** Start of the day the failures are counted in. */
  failures_since: number;
  expires_at: number;
}

type NewPin = Pick<PinTable, 'id' | 'subject_id' | 'mail_key' | 'pin_hmac' | 'digits' | 'attempts_max'> & {
  readonly purpose: PinPurpose;
};

/** Makes this the one active PIN of its subject. Gives when it expires, epoch milliseconds. */
export async function replacePin(queries: Queries, tenant: TenantId, pin: NewPin, lifetimeSeconds: number): Promise<number> {
  await replaceActive(queries, { tenant, purpose: pin.purpose, subject: pin.subject_id });
  const { rows } = await insertPin(queries, { ...pin, tenant_id: tenant, lifetime_ms: lifetimeSeconds * 1000 });
  return rows[0]!.expires_at; // RETURNING of the row inserted
}

type SubjectValues = {
  readonly tenant: TenantId;
  readonly purpose: PinPurpose;
  readonly subject: string;
};

const replaceActive = statement((queries, { tenant, purpose, subject }: SubjectValues) =>
  queries
    .updateTable('pins')
    .set({ replaced_at: databaseNowMs })
    .where('tenant_id', '=', tenant)
    .where('purpose', '=', purpose)
    .where('subject_id', '=', subject)
    .where('replaced_at', 'is', null),
);

const insertPin = statement((queries, { lifetime_ms, ...pin }: Row<NewPin & { tenant_id: TenantId; lifetime_ms: number }>) =>
  queries
    .insertInto('pins')
    .values({ ...pin, attempts: 0, created_at: databaseNowMs, expires_at: sql<number>`${databaseNowMs} + ${lifetime_ms}` })
    .returning('expires_at'),
);

const selectActive = statement((queries, { tenant, purpose, subject }: SubjectValues) =>
  queries
    .selectFrom('pins')
    .selectAll()
    .where('tenant_id', '=', tenant)
    .where('purpose', '=', purpose)
    .where('subject_id', '=', subject)
    .where('replaced_at', 'is', null)
    .where('used_at', 'is', null)
    .where('expires_at', '>', databaseNowMs),
);

/** The active PIN of a subject: the last one sent, unused and within its lifetime. Spent attempts do not matter here. */
export async function findActivePin(
  queries: Queries,
  tenant: TenantId,
  purpose: PinPurpose,
  subjectId: string,
): Promise<PinTable | undefined> {
  return (await selectActive(queries, { tenant, purpose, subject: subjectId })).rows[0];
}

type PinKey = {
  readonly tenant: TenantId;
  readonly id: string;
};

const countAttempt = statement((queries, { tenant, id }: PinKey) =>
  queries
    .updateTable('pins')
    .set((eb) => ({ attempts: eb('attempts', '+', 1) }))
    .where('tenant_id', '=', tenant)
    .where('id', '=', id)
    .whereRef('attempts', '<', 'attempts_max')
    .where('attempts', '<', pinAttemptsMax) // of one sent before there was a bound, too
    .where('used_at', 'is', null)
    .where('replaced_at', 'is', null)
    .returning('attempts'),
);

/** Counts one attempt before the PIN is compared. Gives the attempts so far, or undefined when none is left (R1). */
export async function takePinAttempt(queries: Queries, tenant: TenantId, pinId: string): Promise<number | undefined> {
  return (await countAttempt(queries, { tenant, id: pinId })).rows[0]?.attempts;
}

const usePin = statement((queries, { tenant, id }: PinKey) =>
  queries
    .updateTable('pins')
    .set({ used_at: databaseNowMs })
    .where('tenant_id', '=', tenant)
    .where('id', '=', id)
    .where('used_at', 'is', null)
    .where('replaced_at', 'is', null)
    .returning('id'),
);

/** A compared and right PIN is used once: false for every caller but the first (R1). */
export async function consumePin(queries: Queries, tenant: TenantId, pinId: string): Promise<boolean> {
  return (await usePin(queries, { tenant, id: pinId })).rows.length === 1;
}

export const hourMs = 3600 * 1000;
export const dayMs = 24 * hourMs;

interface SendLimits {
  readonly cooldownSeconds: number;
  readonly sendsPerHourMax: number;
}

type SendValues = {
  readonly tenant: TenantId;
  readonly mailKey: string;
  readonly cooldownMs: number;
  readonly sendsMax: number;
};

const countSend = statement((queries, { tenant, mailKey, cooldownMs, sendsMax }: SendValues) =>
  compilable(
    queries,
    sql<{ sends: number }>`
    INSERT INTO pin_mailboxes (tenant_id, mail_key, last_sent_at, sends, sends_since, failures, failures_since, expires_at)
    VALUES (${tenant}, ${mailKey}, ${databaseNowMs}, 1, ${databaseNowMs}, 0, 0, ${databaseNowMs} + ${dayMs})
    ON CONFLICT (tenant_id, mail_key) DO UPDATE SET
      last_sent_at = excluded.last_sent_at,
      sends = CASE WHEN pin_mailboxes.sends_since <= excluded.last_sent_at - ${hourMs} THEN 1 ELSE pin_mailboxes.sends + 1 END,
      sends_since = CASE WHEN pin_mailboxes.sends_since <= excluded.last_sent_at - ${hourMs} THEN excluded.last_sent_at ELSE pin_mailboxes.sends_since END,
      expires_at = excluded.expires_at
    WHERE (CAST(${cooldownMs} AS bigint) = 0 OR pin_mailboxes.last_sent_at IS NULL OR pin_mailboxes.last_sent_at <= excluded.last_sent_at - ${cooldownMs})
      AND (pin_mailboxes.sends_since <= excluded.last_sent_at - ${hourMs} OR pin_mailboxes.sends < ${sendsMax})
    RETURNING sends`,
  ),
);

/**
 * Takes one send of a mailbox, or gives the seconds until the next one is allowed. One conditional statement decides. Without a cooldown
 * times are not compared: a request that began before one that was counted first is no repetition of it.
 */
export async function takeSend(queries: Queries, tenant: TenantId, mailKey: string, limits: SendLimits): Promise<'taken' | number> {
  const cooldownMs = limits.cooldownSeconds * 1000;
  const { rows } = await countSend(queries, { tenant, mailKey, cooldownMs, sendsMax: limits.sendsPerHourMax });
  if (rows.length === 1) return 'taken';
  const box = await queries
    .selectFrom('pin_mailboxes')
    .select(['last_sent_at', 'sends', 'sends_since', databaseNowMs.as('now_ms')])
    .where('tenant_id', '=', tenant)
    .where('mail_key', '=', mailKey)
    .executeTakeFirstOrThrow();
  const afterCooldownMs = (box.last_sent_at ?? 0) + cooldownMs;
  const afterHourMs = box.sends >= limits.sendsPerHourMax ? box.sends_since + hourMs : 0;
  return Math.max(1, Math.ceil((Math.max(afterCooldownMs, afterHourMs) - box.now_ms) / 1000));
}

const uncountSend = statement((queries, { tenant, mailKey }: { readonly tenant: TenantId; readonly mailKey: string }) =>
  queries
    .updateTable('pin_mailboxes')
    .set((eb) => ({ sends: eb('sends', '-', 1) }))
    .where('tenant_id', '=', tenant)
    .where('mail_key', '=', mailKey)
    .where('sends', '>', 0),
);

/** Gives back a send that another budget refused, in the transaction that took it. */
export async function returnSend(queries: Queries, tenant: TenantId, mailKey: string): Promise<void> {
  await uncountSend(queries, { tenant, mailKey });
}

type FailureValues = {
  readonly tenant: TenantId;
  readonly mailKey: string;
  readonly failuresMax: number;
  readonly periodMs: number;
};

const countFailure = statement((queries, { tenant, mailKey, failuresMax, periodMs }: FailureValues) =>
  compilable(
    queries,
    sql<{ failures: number }>`
    INSERT INTO pin_mailboxes (tenant_id, mail_key, last_sent_at, sends, sends_since, failures, failures_since, expires_at)
    VALUES (${tenant}, ${mailKey}, NULL, 0, 0, 1, ${databaseNowMs}, ${databaseNowMs} + ${dayMs})
    ON CONFLICT (tenant_id, mail_key) DO UPDATE SET
      failures = CASE WHEN pin_mailboxes.failures_since <= excluded.failures_since - ${periodMs} THEN 1 ELSE pin_mailboxes.failures + 1 END,
      failures_since = CASE WHEN pin_mailboxes.failures_since <= excluded.failures_since - ${periodMs} THEN excluded.failures_since ELSE pin_mailboxes.failures_since END,
      expires_at = excluded.expires_at
    WHERE pin_mailboxes.failures_since <= excluded.failures_since - ${periodMs} OR pin_mailboxes.failures < ${failuresMax}
    RETURNING failures`,
  ),
);

/** Counts one failure before the PIN is compared. Gives the failures of the day, or undefined when they are spent. */
export async function takeFailure(
  queries: Queries,
  tenant: TenantId,
  mailKey: string,
  failuresMax: number,
  periodMs: number = dayMs,
): Promise<number | undefined> {
  return (await countFailure(queries, { tenant, mailKey, failuresMax, periodMs })).rows[0]?.failures;
}

const clearFailures = statement((queries, { tenant, mailKey }: { readonly tenant: TenantId; readonly mailKey: string }) =>
  queries
    .updateTable('pin_mailboxes')
    .set({ failures: 0, failures_since: 0 })
    .where('tenant_id', '=', tenant)
    .where('mail_key', '=', mailKey),
);

/** Success refills the failures of a budget, and nothing else does. */
export async function refillFailures(queries: Queries, tenant: TenantId, mailKey: string): Promise<void> {
  await clearFailures(queries, { tenant, mailKey });
}
