// The mail queue: a row is written in the transaction of what the mail is about, and sent after it (platform/mail delivers).
// Without SMTP the rows stay and the operator reads them (GET /v1/system/outbox). A `discarded` row was never meant to be
// sent: the same work is done for an address nobody has. The one table with a tenant_id that is read across tenants.
import { sql } from 'kysely';
import { foldKey } from '../domain/fold.ts';
import type { TenantId } from '../domain/ids.ts';
import { uuidV7 } from '../platform/random.ts';
import type { Queries } from './database.ts';
import { databaseNowMs } from './instance.ts';
import { type Row, statement } from './statement.ts';

export interface OutboxMessageTable {
  tenant_id: TenantId;
  /** UUID version 7: sorts by time. */
  id: string;
  recipient: string;
  recipient_key: string;
  subject: string;
  text: string;
  html: string;
  /** waiting: to be sent; kept: for the outbox's readers; discarded: for nobody. */
  state: string;
  attempts: number;
  next_attempt_at: number;
  created_at: number;
  expires_at: number;
}

export interface NewMessage {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

const outboxKeepMs = 24 * 3600 * 1000;
const discardedKeepMs = 60 * 1000;

/** Writes a mail in the caller's transaction. `state`: `waiting` with SMTP, `kept` for the outbox, `discarded` for a decoy. */
export async function insertOutboxMessage(
  queries: Queries,
  tenant: TenantId,
  nowMs: number,
  message: NewMessage,
  state: 'waiting' | 'kept' | 'discarded',
): Promise<void> {
  const keepMs = state === 'discarded' ? discardedKeepMs : outboxKeepMs;
  await insertStatement(queries, {
    tenant_id: tenant,
    id: uuidV7(nowMs),
    recipient: message.to,
    recipient_key: foldKey(message.to),
    subject: message.subject,
    text: message.text,
    html: message.html,
    state,
    keep_ms: keepMs,
  });
}

type InsertedMessage = Omit<OutboxMessageTable, 'attempts' | 'next_attempt_at' | 'created_at' | 'expires_at'> & { keep_ms: number };

const insertStatement = statement((queries, { keep_ms, ...row }: Row<InsertedMessage>) =>
  queries.insertInto('outbox_messages').values({
    ...row,
    attempts: 0,
    next_attempt_at: databaseNowMs,
    created_at: databaseNowMs,
    expires_at: sql<number>`${databaseNowMs} + ${keep_ms}`,
  }),
);

/** Messages of the outbox, oldest first, after an id and for one recipient when given. */
export async function listOutboxMessages(
  queries: Queries,
  filter: { readonly to?: string | undefined; readonly after?: string | undefined; readonly limit: number },
): Promise<readonly OutboxMessageTable[]> {
  let query = queries.selectFrom('outbox_messages').selectAll().where('state', '=', 'kept').where('expires_at', '>', databaseNowMs);
  if (filter.to !== undefined) query = query.where('recipient_key', '=', foldKey(filter.to));
  if (filter.after !== undefined) query = query.where('id', '>', filter.after);
  return query.orderBy('id').limit(filter.limit).execute();
}

/**
 * Takes the next messages to send and puts their next attempt off by `leaseMs`, so that another process leaves them alone.
 * A message whose sender dies is sent again after the lease: mail is delivered at least once.
 */
export async function claimOutboxMessages(queries: Queries, limit: number, leaseMs: number): Promise<readonly OutboxMessageTable[]> {
  const due = await queries
    .selectFrom('outbox_messages')
    .select('id')
    .where('state', '=', 'waiting')
    .where('next_attempt_at', '<=', databaseNowMs)
    .where('expires_at', '>', databaseNowMs)
    .orderBy('next_attempt_at')
    .limit(limit)
    .execute();
  if (due.length === 0) return [];
  return queries
    .updateTable('outbox_messages')
    .set((eb) => ({ attempts: eb('attempts', '+', 1), next_attempt_at: sql<number>`${databaseNowMs} + ${leaseMs}` }))
    .where(
      'id',
      'in',
      due.map((row) => row.id),
    )
    .where('state', '=', 'waiting')
    .where('next_attempt_at', '<=', databaseNowMs)
    .returningAll()
    .execute();
}

/** A sent message is gone at once: it may hold a PIN. */
export async function deleteOutboxMessage(queries: Queries, id: string): Promise<void> {
  await queries.deleteFrom('outbox_messages').where('id', '=', id).execute();
}

/** Puts a message off after a failed attempt. */
export async function deferOutboxMessage(queries: Queries, id: string, waitMs: number): Promise<void> {
  await queries
    .updateTable('outbox_messages')
    .set({ next_attempt_at: sql<number>`${databaseNowMs} + ${waitMs}` })
    .where('id', '=', id)
    .execute();
}

/** Deletes up to `limit` messages past their time (R8). */
export async function purgeOutboxMessages(queries: Queries, limit: number): Promise<number> {
  const rows = await queries
    .deleteFrom('outbox_messages')
    .where('id', 'in', (eb) => eb.selectFrom('outbox_messages').select('id').where('expires_at', '<', databaseNowMs).limit(limit))
    .returning('id')
    .execute();
  return rows.length;
}
