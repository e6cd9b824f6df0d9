// What a mail says while it is queued, under the master key (R7): codes and links that let whoever reads them in. Sealed for the row it
// waits in and with whom it goes to, so that nobody with the database alone reads it or has it sent to another address.
import type { KeyEncryption } from '../crypto/key-encryption.ts';
import { queuedMailPurpose } from '../crypto/sealed-columns.ts';
import type { TenantId, TransactionId } from '../domain/ids.ts';
import type { Message } from '../platform/mail/mail.ts';
import type { OutboxMessage } from '../storage/records/outbox-messages.ts';

/** A mail, and the sign-in whose code it has. */
interface QueuedMail extends Message {
  readonly signIn?: TransactionId | undefined;
}

export const sealQueuedMail = (
  encryption: KeyEncryption,
  tenant: TenantId,
  id: string,
  { to, subject, text, html, signIn }: QueuedMail,
): string => encryption.encrypt(JSON.stringify({ to, subject, text, html, signIn }), queuedMailPurpose(tenant, id));

/** What was sealed before `to` was, goes to the address of its row. */
type Sealed = Omit<QueuedMail, 'to'> & Partial<Pick<QueuedMail, 'to'>>;

/** The mail to be shown; throws when it was not sealed for its row. What release 0.1.0 queued is in clear. */
export function openQueuedMail(encryption: KeyEncryption, row: OutboxMessage): Message {
  const { to, subject, text, html } = openMailToSend(encryption, row);
  return { to, subject, text, html };
}

/** The same for whoever sends it. */
export function openMailToSend(encryption: KeyEncryption, row: OutboxMessage): QueuedMail {
  const { tenant_id: tenant, id, recipient: to, message_encrypted: sealed, subject, text, html } = row;
  if (sealed === null) return { to, subject, text, html };
  const opened = JSON.parse(encryption.decrypt(sealed, queuedMailPurpose(tenant, id)).toString()) as Sealed; // sealed above
  return { to, ...opened };
}
