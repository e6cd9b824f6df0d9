// Mapping rules for what another provider says of people (design 16, 1).
import { addColumn, type MigrationContext } from '../../table.ts';

export const inboundMappings = (context: MigrationContext): Promise<void> =>
  addColumn(context, 'identity_providers', 'mappings', "text='[]'");
