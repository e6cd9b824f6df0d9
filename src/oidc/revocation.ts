// POST /v1/idp/oidc/revoke (RFC 7009, contract 7.6): an access token goes on the deny-list, a refresh token ends its family
// and the access tokens of its grant. Anything else, another client's token included, is an empty 200 and nothing happens.

import type { FastifyRequest } from 'fastify';
import { reject } from '../contract/contract-error.ts';
import type { EventData } from '../contract/events.ts';
import { hashSecret } from '../crypto/secret-hash.ts';
import type { Client } from '../domain/client/client.ts';
import type { Parts } from '../http/services.ts';
import type { Handler } from '../http/surface.ts';
import type { Queries } from '../storage/engine/database.ts';
import { revokeGrant } from '../storage/oidc/grants.ts';
import { findRefreshToken } from '../storage/oidc/refresh-tokens.ts';
import { insertRevokedToken } from '../storage/oidc/revoked-tokens.ts';
import { insertAuditEvent } from '../storage/records/audit-events.ts';
import { verifyAccessToken } from '../tokens/access-token.ts';
import { authenticateClient, type ClientAuthDeps } from './client/client-authentication.ts';
import { parametersFailureText, parseForm } from './parameters.ts';

export function revoke(services: ClientAuthDeps & Parts<'keyRings'>): Handler {
  return async (request, reply) => {
    const parsed = parseForm(request);
    if (!parsed.ok)
      throw reject(
        'revoke.invalid_request',
        { reason: parsed.reason, received: parsed.parameter },
        { text: parametersFailureText[parsed.reason] },
      );
    const client = await authenticateClient(services, request, reply, parsed.parameters);
    const token = parsed.parameters.get('token');
    if (token === undefined) throw reject('revoke.invalid_request', 'token_missing', { text: 'token is required.' });
    await revokeToken(services, request, client, token);
    return reply.header('cache-control', 'no-store').send();
  };
}

async function revokeToken(
  services: Parts<'clock' | 'database' | 'keyRings'>,
  request: FastifyRequest,
  client: Client,
  token: string,
): Promise<void> {
  const { tenant } = request;
  const { clock, database } = services;
  const verified = verifyAccessToken(tenant, await services.keyRings.of(tenant.id), clock, token);
  const audited = (queries: Queries, target: string, data: EventData<'token.revoked'>): Promise<void> =>
    insertAuditEvent(queries, tenant.id, clock.nowMs(), {
      type: 'token.revoked',
      requestId: request.id,
      actor: `client:${client.clientId}`,
      target,
      data,
    });
  if (verified.ok) {
    const { clientId, jti, expiresAtSeconds } = verified.token;
    if (clientId !== client.clientId) return;
    await database.write(tenant.id, async (queries) => {
      const isNew = await insertRevokedToken(queries, tenant.id, jti, expiresAtSeconds);
      if (isNew) await audited(queries, `access_token:${jti}`, {});
    });
    return;
  }
  const stored = await database.read(tenant.id, (queries) => findRefreshToken(queries, tenant.id, hashSecret(token)));
  if (stored === undefined || stored.grant.clientId !== client.clientId) return;
  await database.write(tenant.id, async (queries) => {
    const isNew = await revokeGrant(queries, tenant.id, stored.grant.id, 'revoked_by_client');
    if (isNew) await audited(queries, `grant:${stored.grant.id}`, { user: stored.grant.userId });
  });
}
