// The endpoint of a CIBA notification, a logout notice and a push, so that deliveries to one that hangs delay no other. Release 0.1.0 leaves
// it empty: those share a lane.
import { addColumn, type MigrationContext } from '../../table.ts';

export async function deliveryLanes(context: MigrationContext): Promise<void> {
  for (const table of ['ciba_deliveries', 'logout_notices', 'push_messages']) await addColumn(context, table, 'lane', "text=''");
}
