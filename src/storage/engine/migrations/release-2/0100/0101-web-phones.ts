// How a device keeps its uv key, from the evidence of its enrolment; null for devices of before.
import { addColumn, type MigrationContext } from '../../table.ts';

export async function webPhones(context: MigrationContext): Promise<void> {
  await addColumn(context, 'devices', 'key_protection', 'text?');
}
