// Passkeys of users (design 02, 04): an administrator sees and revokes them; only the person themselves adds one.
import Type from 'typebox';
import { revokePasskey } from '../../approvals/passkeys/passkey-registration.ts';
import { listPasskeysOfUser, type Passkey } from '../../storage/sign-in/passkeys.ts';
import { type Endpoint, endpoint, isoTime, type Json, notFound } from '../endpoint.ts';
import { dateTime, listAnswer, nullable } from '../schemas.ts';
import { loadUser } from './user-of-path.ts';

const passkeyAnswer = Type.Object({
  id: Type.String(),
  user_id: Type.String(),
  name: Type.String(),
  transports: Type.Array(Type.String()),
  backup_eligible: Type.Boolean({ description: 'may be synced to other devices' }),
  backed_up: Type.Boolean({ description: 'was synced when last seen' }),
  aaguid: Type.String({ description: 'the model of the authenticator; zeros where it does not say' }),
  created_at: dateTime,
  last_used_at: nullable(dateTime),
});

export const passkeyEndpoints: readonly Endpoint[] = [
  endpoint({
    method: 'GET',
    path: '/users/:id/passkeys',
    capability: 'devices:read',
    summary: 'List the passkeys of a user, oldest first',
    answer: listAnswer(passkeyAnswer),
    status: 200,
    handle: async ({ services, tenant, params }) =>
      services.database.read(tenant.id, async (queries) => {
        const { id: userId } = await loadUser(queries, tenant.id, params['id']!);
        return { items: (await listPasskeysOfUser(queries, tenant.id, userId)).map(describe) };
      }),
  }),
  endpoint({
    method: 'DELETE',
    path: '/users/:id/passkeys/:passkey_id',
    capability: 'devices:write',
    summary: 'Revoke a passkey for good',
    answer: undefined,
    status: 204,
    handle: async ({ services, tenant, params, actor, requestId }) => {
      await services.database.write(tenant.id, async (queries) => {
        const passkey = { userId: (await loadUser(queries, tenant.id, params['id']!)).id, id: params['passkey_id']! };
        if (!(await revokePasskey(queries, services, tenant, passkey, { actor, requestId }))) throw notFound('unknown_passkey');
      });
    },
  }),
];

function describe(passkey: Passkey): Json {
  return {
    id: passkey.id,
    user_id: passkey.user_id,
    name: passkey.name,
    transports: JSON.parse(passkey.transports) as unknown,
    backup_eligible: passkey.backup_eligible === 1,
    backed_up: passkey.backed_up === 1,
    aaguid: passkey.aaguid,
    created_at: isoTime(passkey.created_at),
    last_used_at: passkey.last_used_at === null ? null : isoTime(passkey.last_used_at),
  };
}
