// POST /device-authorization (RFC 8628 3.1): a device without a browser asks for a code that a person types elsewhere. Order:
// the tenant offers it, client, its grant, target, scope. 404 while the tenant has it off.
import type { FastifyRequest } from 'fastify';
import { reject } from '../../contract/contract-error.ts';
import { deviceCodeIntervalSeconds, deviceCodeSeconds, userAgentCharsMax } from '../../contract/limits.ts';
import { hashSecret } from '../../crypto/secret-hash.ts';
import type { Client } from '../../domain/client/client.ts';
import { deviceCodeGrantType } from '../../domain/oidc/grant-types.ts';
import { shownUserCode, userCodeLength, userCodeLetters } from '../../domain/sign-in/user-code.ts';
import { enforceRateLimit } from '../../http/budgets/rate-limits.ts';
import { addressBlock } from '../../http/client-address.ts';
import type { Handler } from '../../http/surface.ts';
import { randomLetters, randomSecret, uuidV7 } from '../../platform/random.ts';
import { insertDeviceAuthorization } from '../../storage/oidc/device-authorizations.ts';
import { findAuthorizationFault } from '../authorize/authorization-checks.ts';
import { authenticateClient, type ClientAuthDeps } from '../client/client-authentication.ts';
import { parametersFailureText, parseForm, type RequestParameters } from '../parameters.ts';
import { parseScopes, requestedResource } from '../scopes.ts';

export function authorizeDevice(services: ClientAuthDeps): Handler {
  return async (request, reply) => {
    const { tenant } = request;
    if (!tenant.settings.extra_grants.includes(deviceCodeGrantType)) throw reject('oauth.not_found', 'device_grant_off');
    const parameters = parametersOf(request);
    const client = await authenticateClient(services, request, reply, parameters);
    if (!client.grantTypes.includes(deviceCodeGrantType))
      throw reject('device_grant.unauthorized_client', 'grant_not_allowed', { text: 'This client may not use this grant.' });
    if (client.type === 'public')
      await enforceRateLimit(services.rateLimiter, tenant, 'oauth', 'login_starts_per_ip', addressBlock(request.clientAddress));
    const fault = findAuthorizationFault('deviceAuthorization', { client, parameters, isPushed: false, isSigned: false });
    if (fault !== undefined) throw fault;
    const { deviceCode, userCode } = await store(services, request, client, parameters);
    const verificationUri = `${tenant.baseUrl}/device`;
    return reply.headers({ 'cache-control': 'no-store', 'content-type': 'application/json; charset=utf-8' }).send(
      JSON.stringify({
        device_code: deviceCode,
        user_code: shownUserCode(userCode),
        verification_uri: verificationUri,
        verification_uri_complete: `${verificationUri}?user_code=${shownUserCode(userCode)}`,
        expires_in: deviceCodeSeconds,
        interval: deviceCodeIntervalSeconds,
      }),
    );
  };
}

function parametersOf(request: FastifyRequest): RequestParameters {
  const parsed = parseForm(request);
  if (parsed.ok) return parsed.parameters;
  throw reject(
    'device_grant.invalid_request',
    { reason: parsed.reason, received: parsed.parameter },
    { text: parametersFailureText[parsed.reason] },
  );
}

/** A user code that is taken is drawn again; of 25 milliards hardly any is. */
const drawsMax = 5;

async function store(
  { clock, database }: Pick<ClientAuthDeps, 'clock' | 'database'>,
  request: FastifyRequest,
  client: Client,
  parameters: RequestParameters,
): Promise<{ readonly deviceCode: string; readonly userCode: string }> {
  const { tenant } = request;
  const deviceCode = randomSecret();
  for (let draw = 0; draw < drawsMax; draw += 1) {
    const userCode = randomLetters(userCodeLetters, userCodeLength);
    const authorization = {
      device_code_hash: hashSecret(deviceCode),
      id: uuidV7(clock.nowMs()),
      user_code: userCode,
      client_id: client.clientId,
      scope: (parseScopes(parameters.get('scope')) ?? []).join(' '),
      resource: requestedResource(client, parameters) ?? null,
      initiated_ip: request.clientAddress,
      initiated_user_agent: request.headers['user-agent']?.slice(0, userAgentCharsMax) ?? null,
      interval_seconds: deviceCodeIntervalSeconds,
    };
    const isStored = await database.write(tenant.id, (queries) =>
      insertDeviceAuthorization(queries, tenant.id, authorization, deviceCodeSeconds),
    );
    if (isStored) return { deviceCode, userCode };
  }
  throw new Error('no user code was free');
}
