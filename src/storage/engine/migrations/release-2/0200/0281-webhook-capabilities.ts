// Clients that have every capability of before have those of webhooks too: they may still do what asks for all of them.
import type { TenantId } from '../../../../../domain/ids.ts';
import type { Queries } from '../../../database.ts';
import { addCapabilities, capabilitiesBefore } from './0222-recover-capability.ts';

export const addWebhookCapabilities = (queries: Queries, tenant: TenantId, rows: number): Promise<number> =>
  addCapabilities(queries, tenant, { before: [...capabilitiesBefore, 'users:recover'], added: ['webhooks:read', 'webhooks:write'], rows });
