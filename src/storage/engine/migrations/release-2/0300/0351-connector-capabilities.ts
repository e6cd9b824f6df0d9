// Clients that have every capability of before have those of connectors too: they may still do what asks for all of them.
import type { TenantId } from '../../../../../domain/ids.ts';
import type { Queries } from '../../../database.ts';
import { addCapabilities, capabilitiesBefore } from '../0200/0222-recover-capability.ts';

export const addConnectorCapabilities = (queries: Queries, tenant: TenantId, rows: number): Promise<number> =>
  addCapabilities(queries, tenant, {
    before: [...capabilitiesBefore, 'users:recover'],
    added: ['connectors:read', 'connectors:write'],
    rows,
  });
