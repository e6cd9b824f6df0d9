// The mail queue: queueMail writes a mail in the transaction of what it is about, and a job hands it to SMTP afterwards, so
// no answer waits for a mail server and a mail is never lost or sent for something that was rolled back. Delivery is at least
// once, with growing pauses. Without SMTP the rows are the outbox.
import type { Tenant } from '../domain/tenant.ts';
import type { Clock } from '../platform/clock.ts';
import type { Job } from '../platform/jobs.ts';
import type { Log } from '../platform/log.ts';
import type { Mail, Message } from '../platform/mail.ts';
import type { Database, Queries } from '../storage/database.ts';
import {
  claimOutboxMessages,
  deferOutboxMessage,
  deleteOutboxMessage,
  insertOutboxMessage,
  type OutboxMessageTable,
} from '../storage/outbox-messages.ts';

export interface MailDeps {
  readonly mail: Mail;
  readonly clock: Clock;
}

const batchMax = 20;
const leaseMs = 60_000;
const pauseMs = 2000;
const pauseMaxMs = 10 * 60 * 1000;

/** Queues a mail. `forNobody` does the same work for an address nobody has, and never sends. */
export async function queueMail(
  queries: Queries,
  { mail, clock }: MailDeps,
  tenant: Tenant,
  message: Message,
  options: { readonly forNobody: boolean } = { forNobody: false },
): Promise<void> {
  const state = options.forNobody ? 'discarded' : mail.transport === 'smtp' ? 'waiting' : 'kept';
  await insertOutboxMessage(queries, tenant.id, clock.nowMs(), message, state);
}

/** Sends what waits; every process may run it. */
export function createMailDeliveryJob(database: Database, mail: Mail, log: Log): Job {
  return {
    name: 'mail-delivery',
    everyMs: 500,
    run: async (signal) => {
      if (mail.transport !== 'smtp') return;
      for (;;) {
        const messages = await database.system((queries) => claimOutboxMessages(queries, batchMax, leaseMs));
        for (const message of messages) {
          if (signal.aborted) return;
          await deliver(database, mail.send, message, log);
        }
        if (messages.length < batchMax || signal.aborted) return;
      }
    },
  };
}

async function deliver(
  database: Database,
  send: (message: Message) => Promise<void>,
  message: OutboxMessageTable,
  log: Log,
): Promise<void> {
  const { recipient: to, subject, text, html } = message;
  try {
    await send({ to, subject, text, html });
  } catch (error) {
    const waitMs = Math.min(pauseMaxMs, pauseMs * 2 ** (message.attempts - 1));
    log.warn(
      { err: error, message_id: message.id, attempts: message.attempts, retry_in_ms: waitMs },
      'a mail was not taken by the SMTP server',
    );
    await database.system((queries) => deferOutboxMessage(queries, message.id, waitMs));
    return;
  }
  await database.system((queries) => deleteOutboxMessage(queries, message.id));
}
