// `/scim-tokens`: what a directory that wants one fixed bearer token provisions with (Okta, JumpCloud, Google). It opens SCIM and nothing
// else, for a time or without end, is shown once, and ends at once when it is deleted.
import Type from 'typebox';
import { nameCharsMax, scimTokenDaysMax, scimTokensPerTenantMax } from '../../contract/limits.ts';
import { hashSecret } from '../../crypto/secret-hash.ts';
import { scimTokenPrefix } from '../../domain/people/scim-token.ts';
import { randomSecret, uuidV7 } from '../../platform/random.ts';
import { deleteScimToken, insertScimToken, listScimTokens, type ScimToken } from '../../storage/registry/scim-tokens.ts';
import { lockTenantSettings } from '../../storage/registry/tenants.ts';
import { audit, conflict, type Endpoint, endpoint, isoTime, type Json, notFound, requireCapabilities } from '../endpoint.ts';
import { closed, dateTime, listAnswer, nullable } from '../schemas.ts';

const dayMs = 24 * 3600 * 1000;

const tokenAnswer = Type.Object({
  id: Type.String(),
  name: Type.String(),
  created_by: Type.String({ description: 'who made it' }),
  created_at: dateTime,
  expires_at: nullable(dateTime),
  last_used_at: nullable(dateTime),
});

export const scimTokenEndpoints: readonly Endpoint[] = [
  endpoint({
    method: 'POST',
    path: '/scim-tokens',
    capability: 'clients:write',
    summary: 'Make a bearer token for SCIM alone, shown once; `expires_in_days` null: without end. Needs `scim:read` and `scim:write` too',
    body: closed({
      name: Type.String({ minLength: 1, maxLength: nameCharsMax }),
      expires_in_days: nullable(Type.Integer({ minimum: 1, maximum: scimTokenDaysMax })),
    }),
    answer: Type.Object({ ...tokenAnswer.properties, token: Type.String() }),
    status: 201,
    handle: async (call) => {
      const { services, tenant, body, actor, scopes } = call;
      requireCapabilities(['scim:read', 'scim:write'], scopes);
      const token = `${scimTokenPrefix}${randomSecret()}`;
      const days = body.expires_in_days;
      const made = await services.database.write(tenant.id, async (queries) => {
        await lockTenantSettings(queries, services.database.dialect, tenant.id); // whoever makes one more waits for others who do
        if ((await listScimTokens(queries, tenant.id)).length >= scimTokensPerTenantMax)
          throw conflict('name', `A tenant has ${scimTokensPerTenantMax} tokens at most: delete one that is not used.`);
        const row = await insertScimToken(queries, tenant.id, {
          id: uuidV7(services.clock.nowMs()),
          name: body.name,
          token_hash: hashSecret(token),
          created_by: actor,
          lifetimeMs: days === null ? undefined : days * dayMs,
        });
        await audit(call, queries, {
          type: 'scim_token.created',
          target: `scim_token:${row.id}`,
          data: { name: row.name, days: days ?? 0 },
        });
        return row;
      });
      return { ...tokenToJson(made), token };
    },
  }),
  endpoint({
    method: 'GET',
    path: '/scim-tokens',
    capability: 'clients:read',
    summary: 'List the tokens for SCIM, newest first, without themselves; `last_used_at` is to the minute',
    answer: listAnswer(tokenAnswer),
    status: 200,
    handle: async ({ services, tenant }) => {
      const rows = await services.database.read(tenant.id, (queries) => listScimTokens(queries, tenant.id));
      return { items: rows.map(tokenToJson) };
    },
  }),
  endpoint({
    method: 'DELETE',
    path: '/scim-tokens/:id',
    capability: 'clients:write',
    summary: 'Revoke a token for SCIM: its next request is refused',
    answer: undefined,
    status: 204,
    handle: async (call) => {
      const { services, tenant, params } = call;
      const id = params['id']!;
      await services.database.write(tenant.id, async (queries) => {
        if (!(await deleteScimToken(queries, tenant.id, id))) throw notFound('unknown_scim_token');
        await audit(call, queries, { type: 'scim_token.deleted', target: `scim_token:${id}`, data: {} });
      });
    },
  }),
];

const tokenToJson = ({ id, name, created_by, created_at, expires_at, last_used_at }: ScimToken): Json => ({
  id,
  name,
  created_by,
  created_at: isoTime(created_at),
  expires_at: expires_at === null ? null : isoTime(expires_at),
  last_used_at: last_used_at === null ? null : isoTime(last_used_at),
});
