// The mail queue: a row is written in the transaction of what the mail is about, and sent after it (deliveries/engine.ts).
// Without SMTP the rows stay and the operator reads them (GET /v1/system/outbox). A `discarded` row was never meant to be
// sent: the same work is done for an address nobody has. Read across tenants; what a mail says is sealed (tokens/queued-mail.ts).
import { type Generated, type Selectable, sql } from 'kysely';
import { foldKey } from '../../domain/fold.ts';
import type { TenantId } from '../../domain/ids.ts';
import { noteQueued } from '../engine/after-commit.ts';
import type { Queries } from '../engine/database.ts';
import { databaseNowMs } from '../engine/instance.ts';
import { type Row, statement } from '../engine/statement.ts';

export interface OutboxMessageTable {
  tenant_id: TenantId;
  /** UUID version 7: sorts by time. */
  id: string;
  recipient: string;
  recipient_key: string;
  /** What it says: subject, text and html, JSON under the master key. Null in rows of release 0.1.0. */
  message_encrypted: string | null;
  /** In clear, in rows of release 0.1.0; empty since. */
  subject: string;
  text: string;
  html: string;
  /** waiting: to be sent, a row of release 0.1.0; kept: for the outbox's readers, unless it waits; discarded: for nobody. */
  state: string;
  /** 1: sealed and to be sent. Its state is `kept`, so that release 0.1.0 does not send what it cannot read. */
  waits: Generated<number>;
  /** The tenant whose own server it goes to; empty for that of the deployment. */
  lane: Generated<string>;
  attempts: number;
  next_attempt_at: number;
  created_at: number;
  expires_at: number;
}

export type OutboxMessage = Readonly<Selectable<OutboxMessageTable>>;

interface NewMessage {
  /** UUID version 7, which the message is sealed for. */
  readonly id: string;
  readonly to: string;
  readonly sealed: string;
  /** Of the tenant's own server; the deployment's without. */
  readonly lane?: string;
}

const outboxKeepMs = 24 * 3600 * 1000;
const discardedKeepMs = 60 * 1000;

/** Writes a mail in the caller's transaction. `state`: `waiting` with SMTP, `kept` for the outbox, `discarded` for a decoy. */
export async function insertOutboxMessage(
  queries: Queries,
  tenant: TenantId,
  message: NewMessage,
  state: 'waiting' | 'kept' | 'discarded',
): Promise<void> {
  if (state === 'waiting') noteQueued(queries);
  const keepMs = state === 'discarded' ? discardedKeepMs : outboxKeepMs;
  await insertStatement(queries, {
    tenant_id: tenant,
    id: message.id,
    recipient: message.to,
    recipient_key: foldKey(message.to),
    message_encrypted: message.sealed,
    subject: '',
    text: '',
    html: '',
    state: state === 'waiting' ? 'kept' : state,
    waits: state === 'waiting' ? 1 : 0,
    lane: message.lane ?? '',
    keep_ms: keepMs,
  });
}

type InsertedMessage = Omit<OutboxMessage, 'attempts' | 'next_attempt_at' | 'created_at' | 'expires_at'> & { keep_ms: number };

const insertStatement = statement((queries, { keep_ms, ...row }: Row<InsertedMessage>) =>
  queries.insertInto('outbox_messages').values({
    ...row,
    attempts: 0,
    next_attempt_at: databaseNowMs,
    created_at: databaseNowMs,
    expires_at: sql<number>`${databaseNowMs} + ${keep_ms}`,
  }),
);

/** PageTexts of the outbox, oldest first, after an id and for one recipient when given. */
export async function listOutboxMessages(
  queries: Queries,
  filter: { readonly to?: string | undefined; readonly after?: string | undefined; readonly limit: number },
): Promise<readonly OutboxMessage[]> {
  let query = keptMessages(queries);
  if (filter.to !== undefined) query = query.where('recipient_key', '=', foldKey(filter.to));
  if (filter.after !== undefined) query = query.where('id', '>', filter.after);
  return query.orderBy('id').limit(filter.limit).execute();
}

/** The newest mails of the outbox, newest first. */
export async function listLatestOutboxMessages(queries: Queries, limit: number): Promise<readonly OutboxMessage[]> {
  return keptMessages(queries).orderBy('id', 'desc').limit(limit).execute();
}

const keptMessages = (queries: Queries) =>
  queries
    .selectFrom('outbox_messages')
    .selectAll()
    .where('state', '=', 'kept')
    .where('waits', '=', 0)
    .where('expires_at', '>', databaseNowMs);
