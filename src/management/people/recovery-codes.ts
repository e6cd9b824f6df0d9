// Recovery codes of users (design 14, 3): administrators see how many are left and since when; only the person makes or sees them.
import Type from 'typebox';
import { countRecoveryCodes } from '../../storage/sign-in/recovery-codes.ts';
import { type Endpoint, endpoint, isoTime } from '../endpoint.ts';
import { dateTime, nullable } from '../schemas.ts';
import { loadUser } from './user-of-path.ts';

export const recoveryCodeEndpoints: readonly Endpoint[] = [
  endpoint({
    method: 'GET',
    path: '/users/:id/recovery-codes',
    capability: 'devices:read',
    summary: 'How many recovery codes a user has left, and when they were made',
    answer: Type.Object({ remaining: Type.Integer(), made_at: nullable(dateTime) }),
    status: 200,
    handle: async ({ services, tenant, params }) =>
      services.database.read(tenant.id, async (queries) => {
        const { id } = await loadUser(queries, tenant.id, params['id']!);
        const { remaining, madeAtMs } = await countRecoveryCodes(queries, tenant.id, id);
        return { remaining, made_at: madeAtMs === undefined ? null : isoTime(madeAtMs) };
      }),
  }),
];
