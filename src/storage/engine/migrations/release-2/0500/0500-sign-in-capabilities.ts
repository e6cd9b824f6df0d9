// Clients that have every capability of before have those of sign-in too: they may still do what asks for all of them. Whoever had
// `settings:write` and not everything gains nothing.
import type { TenantId } from '../../../../../domain/ids.ts';
import type { Queries } from '../../../database.ts';
import { addCapabilities, capabilitiesBefore } from '../0200/0222-recover-capability.ts';

const since = ['branding', 'mail', 'domain', 'administrators', 'invitations', 'webhooks', 'connectors'];
export const before = [
  ...capabilitiesBefore,
  ...since.flatMap((resource) => [`${resource}:read`, `${resource}:write`]),
  ...['users:recover', 'ssf.read', 'ssf.manage'],
];

export const addSignInCapabilities = (queries: Queries, tenant: TenantId, rows: number): Promise<number> =>
  addCapabilities(queries, tenant, { before, added: ['sign-in:read', 'sign-in:write'], rows });
