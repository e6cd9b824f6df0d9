// The mail queue: queueMail writes a mail in the transaction of what it is about, and the engine of deliveries hands it to SMTP
// afterwards, so no answer waits for a mail server and a mail is never lost or sent for something that was rolled back. Delivery is at
// least once, under one Message-ID. A tenant's own server has its own lane. Without SMTP the rows are the outbox.
import type { KeyEncryption } from '../crypto/key-encryption.ts';
import { type Attempted, type Carrier, eachAlone } from '../deliveries/carrier.ts';
import type { MailServer } from '../domain/appearance/mail-server.ts';
import type { TenantId } from '../domain/ids.ts';
import type { Tenant } from '../domain/tenant/tenant.ts';
import { composeMessage } from '../mails/compose.ts';
import type { Letter } from '../mails/letter.ts';
import type { MailTemplate } from '../mails/template.ts';
import type { Clock } from '../platform/clock.ts';
import { type Mail, type Message, smtpTimeoutMs } from '../platform/mail.ts';
import type { Outbound } from '../platform/outbound.ts';
import { type SmtpOutcome, sendBySmtp } from '../platform/tenant-mail.ts';
import type { Queries } from '../storage/engine/database.ts';
import { insertOutboxMessage, type OutboxMessage } from '../storage/records/outbox-messages.ts';
import { findCustomization } from '../storage/registry/customizations.ts';
import type { TenantDirectory } from '../storage/registry/tenant-directory.ts';
import { openMailPassword } from '../tokens/secret-settings.ts';

export interface MailDeps {
  readonly mail: Pick<Mail, 'transport'>;
  readonly clock: Clock;
}

interface QueueOptions {
  readonly forNobody: boolean;
}

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
  { mail, clock }: MailDeps,
  tenant: Tenant,
  message: Message,
  { forNobody }: QueueOptions = { forNobody: false },
): Promise<void> {
  const hasOwn = tenant.settings.smtp.server !== null;
  const state = forNobody ? 'discarded' : hasOwn || mail.transport === 'smtp' ? 'waiting' : 'kept';
  await insertOutboxMessage(queries, tenant.id, clock.nowMs(), { ...message, lane: hasOwn ? tenant.id : '' }, state);
}

/** What sends mails: the server of the deployment, and what it takes to reach those of tenants. */
export interface MailWays {
  readonly mail: Mail;
  readonly tenants: Pick<TenantDirectory, 'byId'>;
  readonly encryption: KeyEncryption;
  readonly outbound: Pick<Outbound, 'admit'>;
}

/** Hands a queued mail to the tenant's own server, else to that of the deployment; its id is that of the row. */
export const createMailCarrier = (ways: () => MailWays): Carrier<OutboxMessage> =>
  eachAlone(async ({ tenant_id: tenantId, id, recipient: to, subject, text, html }) => {
    const { mail, tenants, encryption, outbound } = ways();
    const tenant = await tenants.byId(tenantId);
    const message = { to, subject, text, html };
    const server = tenant?.settings.smtp.server ?? null;
    return {
      send: async (signal) => {
        if (server !== null) return judged(await sendByServer({ encryption, outbound }, tenantId, server, { id, message, signal }));
        if (mail.transport !== 'smtp') return { result: 'failed', reason: 'no_mail_server' };
        await mail.send(message, id, signal);
        return { result: 'taken' };
      },
    };
  });

/** Hands a message to a server of the tenant at once. */
export function sendByServer(
  { encryption, outbound }: Pick<MailWays, 'encryption' | 'outbound'>,
  tenant: TenantId,
  server: MailServer,
  { id, message, signal }: { readonly id: string; readonly message: Message; readonly signal: AbortSignal },
): Promise<SmtpOutcome> {
  const { host, port, security, username, from } = server;
  const credentials = username === null ? undefined : { user: username, pass: openMailPassword(encryption, tenant, server) ?? '' };
  return sendBySmtp(outbound, { host, port, security, credentials, from }, message, { id, signal, timeoutMs: smtpTimeoutMs });
}

/** What a server says may change: a mail is tried until it is of no more use. */
const judged = (outcome: SmtpOutcome): Attempted =>
  outcome.ok
    ? { result: 'taken' }
    : { result: outcome.reason === 'timeout' ? 'timeout' : 'failed', reason: outcome.reason, error: outcome.answer };
