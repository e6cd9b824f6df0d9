// What protects people from strangers who guess or ask for them: wrong codes of a mailbox over the year, the digits a code has, and who
// asked for an approval. Of before: six digits, the fewest, and nobody.
import { addColumn, createTable, type MigrationContext } from '../../table.ts';

export async function budgets(context: MigrationContext): Promise<void> {
  await createTable(context, 'pin_failures', {
    columns: {
      tenant_id: 'text',
      mail_key: 'text',
      of_day: 'integer',
      day_since: 'integer',
      of_year: 'integer',
      year_since: 'integer',
      in_row: 'integer',
      expires_at: 'integer',
    },
    primaryKey: ['tenant_id', 'mail_key'],
    indexes: [{ columns: ['tenant_id', 'expires_at'] }],
  });
  await addColumn(context, 'pins', 'digits', 'integer=6');
  await addColumn(context, 'approvals', 'asked_by', 'text?');
}
