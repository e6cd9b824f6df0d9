// `/scim-tokens`, and those of each organisation: what a directory that wants one fixed bearer token provisions with (Okta, JumpCloud,
// Google). It opens SCIM of the tenant or of that organisation and nothing else, for a time or without end, is shown once, and ends at once when it is deleted.
import Type from 'typebox';
import { makeScimToken } from '../../administration/clients/scim-tokens.ts';
import { capabilitiesOfNewcomers } from '../../administration/organizations.ts';
import { nameCharsMax, scimTokenDaysMax, scimTokensMax } from '../../contract/limits.ts';
import type { Directory } from '../../domain/organizations/directory.ts';
import type { Capability } from '../../domain/people/capabilities.ts';
import type { Queries } from '../../storage/engine/database.ts';
import { deleteScimToken, listScimTokens, type ScimToken } from '../../storage/registry/scim-tokens.ts';
import {
  audit,
  byOf,
  type Call,
  conflict,
  type Endpoint,
  endpoint,
  isoTime,
  type Json,
  notFound,
  requireCapabilities,
} from '../endpoint.ts';
import { requireOrganization } from '../people/organizations.ts';
import { closed, dateTime, listAnswer, nullable } from '../schemas.ts';

const tokenAnswer = Type.Object({
  id: Type.String(),
  name: Type.String(),
  created_by: Type.String({ description: 'who made it' }),
  created_at: dateTime,
  expires_at: nullable(dateTime),
  last_used_at: nullable(dateTime),
});

/** Where tokens of one sort of directory are made, listed and revoked. */
interface Place {
  readonly path: string;
  /** How a path names a token. */
  readonly token: string;
  readonly read: Capability;
  readonly write: Capability;
  /** Behind a summary: whose SCIM it is. */
  readonly of: string;
  directoryOf(queries: Queries, call: Pick<Call<unknown, unknown>, 'params' | 'tenant'>): Promise<Directory>;
}

const places: readonly Place[] = [
  {
    path: '/scim-tokens',
    token: 'id',
    read: 'clients:read',
    write: 'clients:write',
    of: '',
    directoryOf: async (_queries, { tenant }) => ({ tenant: tenant.id }),
  },
  {
    path: '/organizations/:id/scim-tokens',
    token: 'token_id',
    read: 'organizations:read',
    write: 'organizations:write',
    of: ' of an organisation',
    directoryOf: async (queries, { tenant, params }) => {
      const { id } = await requireOrganization(queries, tenant.id, params['id']!);
      return { tenant: tenant.id, organization: id };
    },
  },
];

export const scimTokenEndpoints: readonly Endpoint[] = places.flatMap(({ path, token, read, write, of, directoryOf }) => [
  endpoint({
    method: 'POST',
    path,
    capability: write,
    summary: `Make a bearer token for SCIM${of} alone, shown once; \`expires_in_days\` null: without end. Needs \`scim:read\` and \`scim:write\` too`,
    body: closed({
      name: Type.String({ minLength: 1, maxLength: nameCharsMax }),
      expires_in_days: nullable(Type.Integer({ minimum: 1, maximum: scimTokenDaysMax })),
    }),
    answer: Type.Object({ ...tokenAnswer.properties, token: Type.String() }),
    status: 201,
    handle: (call) => make(call, (queries) => directoryOf(queries, call)),
  }),
  endpoint({
    method: 'GET',
    path,
    capability: read,
    summary: `List the tokens for SCIM${of}, newest first, without themselves; \`last_used_at\` is to the minute`,
    answer: listAnswer(tokenAnswer),
    status: 200,
    handle: async (call) => {
      const { services, tenant } = call;
      const rows = await services.database.read(tenant.id, async (queries) => listScimTokens(queries, await directoryOf(queries, call)));
      return { items: rows.map(tokenToJson) };
    },
  }),
  endpoint({
    method: 'DELETE',
    path: `${path}/:${token}`,
    capability: write,
    summary: `Revoke a token for SCIM${of}: its next request is refused`,
    answer: undefined,
    status: 204,
    handle: async (call) => {
      const { services, tenant, params } = call;
      const id = params[token]!;
      await services.database.write(tenant.id, async (queries) => {
        const directory = await directoryOf(queries, call);
        if (!(await deleteScimToken(queries, directory, id))) throw notFound('unknown_scim_token');
        await audit(call, queries, { type: 'scim_token.deleted', target: `scim_token:${id}`, data: toldOf(directory) });
      });
    },
  }),
]);

type Asked = Call<undefined, { readonly name: string; readonly expires_in_days: number | null }>;

async function make(call: Asked, directoryOf: (queries: Queries) => Promise<Directory>): Promise<Json> {
  const { services, tenant, body, scopes } = call;
  requireCapabilities(['scim:read', 'scim:write'], scopes);
  return services.database.write(tenant.id, async (queries) => {
    const directory = await directoryOf(queries);
    requireCapabilities(await capabilitiesOfNewcomers(queries, tenant.id, directory.organization), scopes);
    const made = await makeScimToken(queries, services, directory, { name: body.name, days: body.expires_in_days }, byOf(call));
    if (made !== 'full') return { ...tokenToJson(made.row), token: made.token };
    const whose = directory.organization === undefined ? 'A tenant' : 'An organisation';
    throw conflict('name', `${whose} has ${scimTokensMax} tokens at most: delete one that is not used.`);
  });
}

const toldOf = ({ organization }: Directory) => (organization === undefined ? {} : { organization });

const tokenToJson = ({ id, name, created_by, created_at, expires_at, last_used_at }: ScimToken): Json => ({
  id,
  name,
  created_by,
  created_at: isoTime(created_at),
  expires_at: expires_at === null ? null : isoTime(expires_at),
  last_used_at: last_used_at === null ? null : isoTime(last_used_at),
});
