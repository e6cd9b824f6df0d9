// Whether a role lets whoever holds it manage the organisation (design 19).
import { addColumn, type MigrationContext } from '../../table.ts';

export const managersOfOrganizations = (context: MigrationContext): Promise<void> =>
  addColumn(context, 'organization_roles', 'manage', 'integer=0');
