// Clients that have every capability of before have those of organisations too: they may still do what asks for all of them.
import type { TenantId } from '../../../../../domain/ids.ts';
import type { Queries } from '../../../database.ts';
import { addCapabilities } from '../0200/0222-recover-capability.ts';
import { before } from './0500-sign-in-capabilities.ts';

export const addOrganizationCapabilities = (queries: Queries, tenant: TenantId, rows: number): Promise<number> =>
  addCapabilities(queries, tenant, {
    before: [...before, 'sign-in:read', 'sign-in:write'],
    added: ['organizations:read', 'organizations:write'],
    rows,
  });
