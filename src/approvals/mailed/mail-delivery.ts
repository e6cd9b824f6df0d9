// The mail queue: queueMail writes a mail in the transaction of what it is about, and the engine of deliveries hands it to SMTP
// afterwards, so no answer waits for a mail server and a mail is never lost or sent for something that was rolled back. Delivery is at
// least once, under one Message-ID. Until then what it says is sealed. A tenant's own server has its own lane. Without SMTP the rows are the outbox.
import type { KeyEncryption } from '../../crypto/key-encryption.ts';
import type { Attempted, Carrier } from '../../deliveries/carrier.ts';
import type { MailServer } from '../../domain/appearance/mail-server.ts';
import type { TenantId, TransactionId } from '../../domain/ids.ts';
import type { MailFault } from '../../domain/sign-in/sign-in-try.ts';
import type { Tenant } from '../../domain/tenant/tenant.ts';
import { composeMessage } from '../../mails/compose.ts';
import type { Letter } from '../../mails/letter.ts';
import type { MailTemplate } from '../../mails/template.ts';
import type { Clock } from '../../platform/clock.ts';
import { type Mail, type Message, smtpTimeoutMs } from '../../platform/mail/mail.ts';
import { type SmtpOutcome, sendBySmtp } from '../../platform/mail/tenant-mail.ts';
import type { Outbound } from '../../platform/net/outbound.ts';
import { uuidV7 } from '../../platform/random.ts';
import type { Queries } from '../../storage/engine/database.ts';
import { insertOutboxMessage, type OutboxMessage } from '../../storage/records/outbox-messages.ts';
import { findCustomization } from '../../storage/registry/customizations.ts';
import type { TenantDirectory } from '../../storage/registry/tenant-directory.ts';
import { noteOnTry } from '../../storage/sign-in/sign-in-tries.ts';
import { openMailToSend, sealQueuedMail } from '../../tokens/queued-mail.ts';
import { openMailPassword } from '../../tokens/secret-settings.ts';

export interface MailDeps {
  readonly mail: Pick<Mail, 'transport'>;
  readonly clock: Clock;
  readonly encryption: KeyEncryption;
}

interface QueueOptions {
  readonly forNobody: boolean;
  /** Whose code the mail has: where it cannot be delivered, the try says so. */
  readonly signIn?: TransactionId | undefined;
  /** One of many: those that somebody waits for go before it, in a lane of their own. */
  readonly isOneOfMany?: boolean;
}

const manyLane = 'many';

/** Whether mails of a lane go by the server of the deployment. */
export const isLaneOfDeployment = (lane: string): boolean => lane === '' || lane === manyLane;

/**
 * Queues a mail as the tenant words it, or as it is built in. `forNobody` does the same work for an address nobody has, and never
 * sends.
 */
export async function queueMail(
  queries: Queries,
  deps: MailDeps,
  tenant: Tenant,
  letter: Letter,
  options: QueueOptions = { forNobody: false },
): Promise<void> {
  const own = await findCustomization(queries, tenant.id, { kind: 'mail', name: `${letter.kind}.${letter.language}` });
  const published = own?.published ?? null;
  const template = published === null ? undefined : (JSON.parse(published) as MailTemplate); // checked when it was written
  await queueMessage(queries, deps, tenant, await composeMessage(letter, tenant, template), options);
}

/** Queues a message that is made already. */
export async function queueMessage(
  queries: Queries,
  { mail, clock, encryption }: MailDeps,
  tenant: Tenant,
  message: Message,
  { forNobody, signIn, isOneOfMany = false }: QueueOptions = { forNobody: false },
): Promise<void> {
  const hasOwn = tenant.settings.smtp.server !== null;
  const state = forNobody ? 'discarded' : hasOwn || mail.transport === 'smtp' ? 'waiting' : 'kept';
  const id = uuidV7(clock.nowMs());
  const sealed = sealQueuedMail(encryption, tenant.id, id, { ...message, signIn });
  await insertOutboxMessage(
    queries,
    tenant.id,
    { id, to: message.to, sealed, lane: [...(hasOwn ? [tenant.id] : []), ...(isOneOfMany ? [manyLane] : [])].join(' ') },
    state,
  );
}

/** What sends mails: the server of the deployment, and what it takes to reach those of tenants. */
interface MailWays {
  readonly mail: Mail;
  readonly tenants: Pick<TenantDirectory, 'byId'>;
  readonly encryption: KeyEncryption;
  readonly outbound: Pick<Outbound, 'admit'>;
}

/** Hands a queued mail to the tenant's own server, else to that of the deployment; its id is that of the row. */
export const createMailCarrier =
  (ways: () => MailWays): Carrier<OutboxMessage> =>
  () => {
    const signIns = new Map<string, TransactionId>();
    return {
      prepare: async (row) => {
        const { tenant_id: tenantId, id } = row;
        const { mail, tenants, encryption, outbound } = ways();
        const tenant = await tenants.byId(tenantId);
        const { signIn, ...message } = openMailToSend(encryption, row);
        if (signIn !== undefined) signIns.set(id, signIn);
        const server = tenant?.settings.smtp.server ?? null;
        return {
          send: async (signal) => {
            if (server !== null) return judged(await sendByServer({ encryption, outbound }, tenantId, server, { id, message, signal }));
            if (mail.transport !== 'smtp') return { result: 'failed', reason: 'no_mail_server' };
            await mail.send(message, id, signal);
            return { result: 'taken' };
          },
        };
      },
      note: async (queries, tenant, made) => {
        for (const { row, attempted, state } of made) {
          const signIn = signIns.get(row.id);
          const isNews = row.attempts <= notedAttemptsMax || state !== 'waits';
          if (signIn !== undefined && isNews) await noteMail(queries, tenant, { signIn, attempts: row.attempts, attempted });
        }
        return undefined;
      },
    };
  };

/** Further attempts say the same. */
const notedAttemptsMax = 3;

interface MailAttempt {
  readonly signIn: TransactionId;
  /** With this one. */
  readonly attempts: number;
  readonly attempted: Attempted;
}

/** Has the try of a sign-in say that its code was not delivered; and that it was after all. */
async function noteMail(queries: Queries, tenant: TenantId, { signIn, attempts, attempted }: MailAttempt): Promise<void> {
  if (attempted.result !== 'taken')
    await noteOnTry(queries, tenant, signIn, {
      type: 'mail.failed',
      check: 'mail_not_delivered',
      detail: faultOf(attempted),
      requestId: undefined,
    });
  else if (attempts > 1) await noteOnTry(queries, tenant, signIn, { type: 'code.sent', requestId: undefined });
}

/** What a mail server's answer means (RFC 5321 4.2.1): 4yz may be otherwise later, 5yz not. */
function faultOf({ result, reason, error }: Attempted): MailFault {
  const { responseCode, response } = (typeof error === 'object' && error !== null ? error : {}) as {
    readonly responseCode?: unknown;
    readonly response?: unknown;
  };
  const said = String(responseCode ?? response ?? (typeof error === 'string' ? error : ''));
  if (result === 'timeout' || reason === 'network' || reason === 'unresolved' || !/^[45]/.test(said)) return 'server_silent';
  return said.startsWith('5') ? 'bounced' : 'deferred';
}

/** Hands a message to a server of the tenant at once. */
export function sendByServer(
  { encryption, outbound }: Pick<MailWays, 'encryption' | 'outbound'>,
  tenant: TenantId,
  server: MailServer,
  { id, message, signal }: { readonly id: string; readonly message: Message; readonly signal: AbortSignal },
): Promise<SmtpOutcome> {
  const { host, port, security, username, from } = server;
  const credentials = username === null ? undefined : { user: username, pass: openMailPassword(encryption, tenant, server) ?? '' };
  return sendBySmtp(outbound, { host, port, security, credentials, from }, message, {
    id,
    share: tenant,
    signal,
    timeoutMs: smtpTimeoutMs,
  });
}

/** What a server says may change: a mail is tried until it is of no more use. */
const judged = (outcome: SmtpOutcome): Attempted =>
  outcome.ok
    ? { result: 'taken' }
    : { result: outcome.reason === 'timeout' ? 'timeout' : 'failed', reason: outcome.reason, error: outcome.answer };
