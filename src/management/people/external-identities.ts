// Who people are at other providers (design 14, 2): an administrator sees and removes links; only the person themselves makes one.
import Type from 'typebox';
import { unlinkIdentity } from '../../approvals/link-identity.ts';
import type { TenantId, UserId } from '../../domain/ids.ts';
import type { Queries } from '../../storage/engine/database.ts';
import { findLiveUser } from '../../storage/people/users.ts';
import { listExternalIdentities, type NamedIdentity } from '../../storage/sign-in/external-identities.ts';
import { conflict, type Endpoint, endpoint, isoTime, type Json, notFound } from '../endpoint.ts';
import { dateTime, listAnswer, nullable } from '../schemas.ts';

const identityAnswer = Type.Object({
  id: Type.String(),
  user_id: Type.String(),
  provider_id: Type.String(),
  provider: Type.String({ description: 'its alias' }),
  issuer: Type.String(),
  subject: Type.String(),
  email: nullable(Type.String({ description: 'as the provider told it when the link was made' })),
  created_at: dateTime,
  last_used_at: nullable(dateTime),
});

export const externalIdentityEndpoints: readonly Endpoint[] = [
  endpoint({
    method: 'GET',
    path: '/users/:id/external-identities',
    capability: 'users:read',
    summary: 'List who a user is at other providers, oldest first',
    answer: listAnswer(identityAnswer),
    status: 200,
    handle: async ({ services, tenant, params }) =>
      services.database.read(tenant.id, async (queries) => {
        const userId = await loadUserId(queries, tenant.id, params['id']!);
        return { items: (await listExternalIdentities(queries, tenant.id, userId)).map(describe) };
      }),
  }),
  endpoint({
    method: 'DELETE',
    path: '/users/:id/external-identities/:identity_id',
    capability: 'users:write',
    summary: 'Remove a link for good; the last way in a user has stays',
    answer: undefined,
    status: 204,
    handle: async ({ services, tenant, params, actor, requestId }) => {
      const outcome = await services.database.write(tenant.id, async (queries) => {
        const link = { userId: await loadUserId(queries, tenant.id, params['id']!), id: params['identity_id']! };
        return unlinkIdentity(queries, services, tenant, link, { actor, requestId });
      });
      if (outcome === 'unknown') throw notFound('unknown_external_identity');
      if (outcome === 'last_way') throw conflict('identity_id', 'It is the only way in this person has: give them another first.');
    },
  }),
];

async function loadUserId(queries: Queries, tenant: TenantId, id: string): Promise<UserId> {
  const user = await findLiveUser(queries, tenant, id);
  if (user === undefined) throw notFound('unknown_user');
  return user.id;
}

const describe = (row: NamedIdentity): Json => ({
  id: row.id,
  user_id: row.user_id,
  provider_id: row.provider_id,
  provider: row.provider_alias,
  issuer: row.issuer,
  subject: row.subject,
  email: row.email,
  created_at: isoTime(row.created_at),
  last_used_at: row.used_at === null ? null : isoTime(row.used_at),
});
