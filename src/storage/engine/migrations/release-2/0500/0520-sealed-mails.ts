// What a queued mail says, sealed (records/outbox-messages.ts), and which sealed ones are to be sent: release 0.1.0 would send what it
// cannot read, so the state it knows them by is another.
import { addColumn, type MigrationContext } from '../../table.ts';

export async function sealedMails(context: MigrationContext): Promise<void> {
  await addColumn(context, 'outbox_messages', 'message_encrypted', 'text?');
  await addColumn(context, 'outbox_messages', 'waits', 'integer=0');
}
