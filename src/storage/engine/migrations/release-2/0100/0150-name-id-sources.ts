// What the NameIDs of a service provider are made of, by format.
import { addColumn, type MigrationContext } from '../../table.ts';

export async function nameIdSources(context: MigrationContext): Promise<void> {
  await addColumn(context, 'service_providers', 'name_id_sources', "text='{}'");
}
