// What a person knows besides their own sign-in (design 17): clients whose secret they made, or whose keys they gave, last, and initial access
// tokens and tokens for SCIM they made. It all works on when they are suspended, until somebody makes another secret or takes the token back.
import Type from 'typebox';
import { listUsableTokensOf } from '../../storage/registry/clients/client-registrations.ts';
import { listClientsKnownTo } from '../../storage/registry/clients/clients.ts';
import { listScimTokensMadeBy } from '../../storage/registry/scim-tokens.ts';
import { type Endpoint, endpoint, isoTime } from '../endpoint.ts';
import { dateTime, listAnswer, oneOf } from '../schemas.ts';
import { loadUser } from './user-of-path.ts';

export const knownSecretEndpoints: readonly Endpoint[] = [
  endpoint({
    method: 'GET',
    path: '/users/:id/known-secrets',
    capability: 'clients:read',
    summary:
      'List what the person knows and what works on when they are suspended: clients whose secret they made or keys they gave last, and their initial access tokens and tokens for SCIM. Make another secret (`/clients/{id}/secret`), give other keys, delete the token',
    answer: listAnswer(
      Type.Object({
        kind: oneOf(['client', 'initial_access_token', 'scim_token']),
        id: Type.String(),
        name: Type.String(),
        since: dateTime,
      }),
    ),
    status: 200,
    handle: async ({ services, tenant, params }) =>
      services.database.read(tenant.id, async (queries) => {
        const actor = `user:${(await loadUser(queries, tenant.id, params['id']!)).id}`;
        const clients = await listClientsKnownTo(queries, tenant.id, actor);
        const tokens = await listUsableTokensOf(queries, tenant.id, actor);
        const nowMs = services.clock.nowMs();
        const isUsable = (at: number | null): boolean => at === null || at > nowMs;
        const scimTokens = (await listScimTokensMadeBy(queries, tenant.id, actor)).filter((one) => isUsable(one.expires_at));
        return {
          items: [
            ...clients.map(({ clientId, name, secretBy, createdAtMs }) => ({
              kind: 'client',
              id: clientId,
              name,
              since: isoTime(secretBy?.atMs ?? createdAtMs),
            })),
            ...tokens.map(({ id, policy, createdAtMs }) => ({
              kind: 'initial_access_token',
              id,
              name: policy.hosts.join(', '),
              since: isoTime(createdAtMs),
            })),
            ...scimTokens.map(({ id, name, created_at }) => ({ kind: 'scim_token', id, name, since: isoTime(created_at) })),
          ],
        };
      }),
  }),
];
