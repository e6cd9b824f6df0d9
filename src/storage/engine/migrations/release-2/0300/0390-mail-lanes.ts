// Whose server a mail goes to, so that one that hangs delays nobody else's mails: the tenant with a server of its own, empty for the
// deployment's. Release 0.1.0 leaves it empty.
import { addColumn, type MigrationContext } from '../../table.ts';

export async function mailLanes(context: MigrationContext): Promise<void> {
  await addColumn(context, 'outbox_messages', 'lane', "text=''");
}
