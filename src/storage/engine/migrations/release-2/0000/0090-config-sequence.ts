// The sequence of configuration changes, set by a trigger so that every release that writes keeps it.
import { addColumn, type MigrationContext } from '../../table.ts';

export async function configSequence(context: MigrationContext): Promise<void> {
  await addColumn(context, 'config_epochs', 'sequence', 'integer=0');
  if (context.dialect === 'sqlite') {
    for (const event of ['INSERT', 'UPDATE OF version'])
      await context.execute(`CREATE TRIGGER config_epochs_sequence_${event.split(' ', 1)[0]!.toLowerCase()} AFTER ${event} ON config_epochs
        BEGIN UPDATE config_epochs SET sequence = (SELECT max(sequence) + 1 FROM config_epochs) WHERE tenant_id = NEW.tenant_id; END`);
    return;
  }
  await context.execute(`CREATE FUNCTION config_epochs_sequence() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN NEW.sequence := pg_current_xact_id()::text::bigint; RETURN NEW; END $$`);
  await context.execute(
    'CREATE TRIGGER config_epochs_sequence BEFORE INSERT OR UPDATE ON config_epochs FOR EACH ROW EXECUTE FUNCTION config_epochs_sequence()',
  );
}
