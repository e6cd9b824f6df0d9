// `/initial-access-tokens`: what lets clients register themselves (RFC 7591, design 14, 6), and as what. The fields are in
// domain/client/registration-policy.ts; the registration itself is in management/registration/.
import Type from 'typebox';
import { createInitialAccessToken, removeInitialAccessToken, type WantedToken } from '../../administration/clients/client-registration.ts';
import { propertiesOf } from '../../administration/schema-pieces.ts';
import { initialAccessTokenFields, policyFields } from '../../domain/client/registration-policy.ts';
import { overlay, toJson, valueFault } from '../../domain/field.ts';
import { capabilitiesIn } from '../../domain/people/capabilities.ts';
import {
  findInitialAccessToken,
  type InitialAccessToken,
  listInitialAccessTokens,
} from '../../storage/registry/clients/client-registrations.ts';
import { type Endpoint, endpoint, invalidField, isoTime, type Json, notFound, requireCapabilities } from '../endpoint.ts';
import { answerSearched } from '../paging.ts';
import { closed, dateTime, listAnswer, nullable, searchQuery } from '../schemas.ts';

const { count, expires_in_seconds: expiresInSeconds } = propertiesOf({
  count: initialAccessTokenFields.count,
  expires_in_seconds: initialAccessTokenFields.expiresInSeconds,
});
const policy = closed(propertiesOf(policyFields));
const tokenAnswer = Type.Object({
  id: Type.String(),
  count: count!,
  used: Type.Integer(),
  policy,
  created_by: nullable(Type.String({ description: 'who made it' })),
  created_at: dateTime,
  expires_at: dateTime,
});

const unknownToken = (): Error => notFound('unknown_initial_access_token');

interface Asked {
  readonly count: number;
  readonly expires_in_seconds: number;
  readonly policy: Json;
}

export const initialAccessTokenEndpoints: readonly Endpoint[] = [
  endpoint({
    method: 'POST',
    path: '/initial-access-tokens',
    capability: 'clients:write',
    summary: 'Make a token with which so many clients may register themselves within its policy; it is shown once',
    body: closed({ count: count!, expires_in_seconds: expiresInSeconds!, policy }),
    answer: Type.Object({ id: Type.String(), token: Type.String() }),
    status: 201,
    handle: async ({ services, tenant, body, scopes: own, actor, requestId }) => {
      const asked = body as Asked; // checked by the schema of the same fields
      const fault = valueFault(policyFields, asked.policy);
      if (fault !== undefined) throw invalidField(`policy.${fault.field}`, `This field ${fault.text}.`);
      const wanted: WantedToken = {
        count: asked.count,
        expiresInSeconds: asked.expires_in_seconds,
        policy: overlay(policyFields, asked.policy),
      };
      requireCapabilities(capabilitiesIn(wanted.policy.scopes), own);
      const { made, token } = await createInitialAccessToken(services, tenant.id, wanted, { actor, requestId });
      return { id: made.id, token };
    },
  }),
  endpoint({
    method: 'GET',
    path: '/initial-access-tokens',
    capability: 'clients:read',
    summary: 'List initial access tokens, oldest first; `search` is a part of a host',
    query: searchQuery,
    answer: listAnswer(tokenAnswer),
    status: 200,
    handle: (call) =>
      answerSearched(call, listInitialAccessTokens, {
        key: (token) => token.id,
        texts: (token) => token.policy.hosts,
        json: tokenToJson,
      }),
  }),
  endpoint({
    method: 'GET',
    path: '/initial-access-tokens/:id',
    capability: 'clients:read',
    summary: 'Read an initial access token, without the token itself',
    answer: tokenAnswer,
    status: 200,
    handle: async ({ services, tenant, params }) => {
      const found = await services.database.read(tenant.id, (queries) => findInitialAccessToken(queries, tenant.id, params['id']!));
      if (found === undefined) throw unknownToken();
      return tokenToJson(found);
    },
  }),
  endpoint({
    method: 'DELETE',
    path: '/initial-access-tokens/:id',
    capability: 'clients:write',
    summary: 'Take an initial access token back; clients that registered with it stay',
    answer: undefined,
    status: 204,
    handle: async ({ services, tenant, params, actor, requestId }) => {
      if (!(await removeInitialAccessToken(services, tenant.id, params['id']!, { actor, requestId }))) throw unknownToken();
    },
  }),
];

const tokenToJson = ({ id, count: uses, used, policy: allowed, createdBy, createdAtMs, expiresAtMs }: InitialAccessToken): Json => ({
  id,
  count: uses,
  used,
  policy: toJson(policyFields, allowed),
  created_by: createdBy ?? null,
  created_at: isoTime(createdAtMs),
  expires_at: isoTime(expiresAtMs),
});
