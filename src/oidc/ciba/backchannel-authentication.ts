// POST /v1/idp/oidc/bc-authorize (CIBA Core 7, contract 7.9): asks a user, who is elsewhere, for a decision.
// Order: client, registered for CIBA, parameters, target, scope, and the user last, because only that look-up tells of people.

import type { FastifyReply, FastifyRequest } from 'fastify';
import { type Cause, reject } from '../../contract/contract-error.ts';
import { bindingMessageCharsMax, notificationTokenCharsMax } from '../../contract/limits.ts';
import type { Client } from '../../domain/client/client.ts';
import { cibaGrantType } from '../../domain/oidc/grant-types.ts';
import type { Tenant } from '../../domain/tenant/tenant.ts';
import { enforceRateLimit } from '../../http/budgets/rate-limits.ts';
import type { Handler } from '../../http/surface.ts';
import { findAuthorizationFault } from '../authorize/authorization-checks.ts';
import { askedOrganization, unknownOrganizationText } from '../authorize/organization-parameter.ts';
import { readSignedCibaRequest } from '../authorize/request-object.ts';
import { authenticateClient, type ClientAuthDeps } from '../client/client-authentication.ts';
import { parametersFailureText, parseForm, type RequestParameters } from '../parameters.ts';
import { hintNames } from './ciba-hints.ts';
import { type CibaStartDeps, startCibaRequest } from './ciba-start.ts';

export function authenticateBackchannel(services: ClientAuthDeps & CibaStartDeps): Handler {
  return async (request, reply) => {
    const sent = parametersOf(request);
    const client = await authenticateClient(services, request, reply, sent);
    if (!isRegisteredForCiba(client))
      throw reject('ciba.unauthorized_client', 'not_registered_for_ciba', { text: 'This client is not registered for CIBA.' });
    await enforceRateLimit(services.rateLimiter, request.tenant, 'oauth', 'ciba_starts_per_client', client.clientId);
    const { parameters, isSigned, fault: objectFault } = await readSignedCibaRequest(services, request.tenant, client, sent);
    if (objectFault !== undefined) throw invalid(objectFault, 'The request object is not valid.');
    for (const check of checks) check(client, parameters);
    const fault = findAuthorizationFault('bcAuthorize', { client, parameters, isPushed: false, isSigned });
    if (fault !== undefined) throw fault;
    const lifetimeSeconds = requestedLifetime(request.tenant, parameters);
    const organization = await askedOrganization(services, request.tenant, parameters, sent);
    if (!organization.ok) throw invalid({ reason: organization.reason, received: organization.received }, unknownOrganizationText);
    const asked = { parameters, lifetimeSeconds, organizationId: organization.id };
    const started = await startCibaRequest(services, request, client, asked);
    return answer(reply, request.tenant, client, started, lifetimeSeconds);
  };
}

function parametersOf(request: FastifyRequest): RequestParameters {
  const parsed = parseForm(request);
  if (parsed.ok) return parsed.parameters;
  throw reject(
    'ciba.invalid_request',
    { reason: parsed.reason, received: parsed.parameter },
    { text: parametersFailureText[parsed.reason] },
  );
}

/** Public clients never are, whatever is stored. */
const isRegisteredForCiba = (client: Client): boolean =>
  client.type === 'confidential' && client.grantTypes.includes(cibaGrantType) && client.backchannelTokenDeliveryMode !== undefined;

const invalid = (cause: string | Cause, text: string): Error => reject('ciba.invalid_request', cause, { text });

/** What is special to this endpoint, in the order of contract 7.9; the shared checks follow. */
const checks: readonly ((client: Client, parameters: RequestParameters) => void)[] = [
  refuseWithoutOpenid,
  refuseOtherThanOneHint,
  refuseLongBindingMessage,
  refuseBadNotificationToken,
  refuseBadExpiry,
];

function refuseWithoutOpenid(_client: Client, parameters: RequestParameters): void {
  const scope = parameters.get('scope');
  if (scope?.split(' ').includes('openid') !== true)
    throw invalid({ reason: 'openid_missing', received: scope }, 'scope must include openid.');
}

function refuseOtherThanOneHint(_client: Client, parameters: RequestParameters): void {
  const given = hintNames.filter((name) => parameters.get(name) !== undefined);
  if (given.length !== 1)
    throw invalid(
      { reason: 'hints', received: given.join(' ') },
      'Exactly one of login_hint, login_hint_token and id_token_hint is required.',
    );
}

/** Characters are code points (contract 8). */
function refuseLongBindingMessage(_client: Client, parameters: RequestParameters): void {
  const message = parameters.get('binding_message') ?? '';
  const length = [...message].length;
  if (length > bindingMessageCharsMax)
    throw invalid(
      { reason: 'binding_message_too_long', received: length, expected: bindingMessageCharsMax },
      `binding_message is over ${bindingMessageCharsMax} characters.`,
    );
}

const bearerSyntax = /^[A-Za-z0-9\-._~+/]+=*$/;

/** CIBA Core 7.1: required for ping and push, b64token syntax (RFC 6750 2.1), at most 1024 characters. */
function refuseBadNotificationToken(client: Client, parameters: RequestParameters): void {
  if (client.backchannelTokenDeliveryMode === 'poll') return;
  const token = parameters.get('client_notification_token');
  if (token === undefined) throw invalid('client_notification_token_missing', 'client_notification_token is required.');
  if (token.length > notificationTokenCharsMax || !bearerSyntax.test(token))
    throw invalid({ reason: 'client_notification_token_malformed', received: token.length }, 'client_notification_token is malformed.');
}

const expirySyntax = /^[1-9][0-9]{0,8}$/;

function refuseBadExpiry(_client: Client, parameters: RequestParameters): void {
  const expiry = parameters.get('requested_expiry');
  if (expiry !== undefined && !expirySyntax.test(expiry))
    throw invalid({ reason: 'requested_expiry_malformed', received: expiry }, 'requested_expiry is not a positive number of seconds.');
}

/** Seconds: what the client asks for, at most the tenant's lifetime. */
function requestedLifetime({ settings }: Tenant, parameters: RequestParameters): number {
  const expiry = parameters.get('requested_expiry');
  return expiry === undefined ? settings.ciba_lifetime_seconds : Math.min(Number(expiry), settings.ciba_lifetime_seconds);
}

/** CIBA Core 7.3; a push client never polls, so it gets no interval. */
function answer(reply: FastifyReply, { settings }: Tenant, client: Client, authReqId: string, lifetimeSeconds: number): FastifyReply {
  const body = {
    auth_req_id: authReqId,
    expires_in: lifetimeSeconds,
    ...(client.backchannelTokenDeliveryMode === 'push' ? {} : { interval: settings.ciba_interval_seconds }),
  };
  return reply.header('cache-control', 'no-store').header('content-type', 'application/json; charset=utf-8').send(JSON.stringify(body));
}
