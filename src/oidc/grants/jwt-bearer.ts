// jwt-bearer (RFC 7523 2.1; design 18, part 3): a program gets a token of an API of the tenant by a JWT it made of itself with a key it is
// registered with, or by one that its platform gave it. The assertion may stand for the authentication of the client too. What a program
// made is used up once all else is right. Assertions of other providers, of people, are cross-app.ts.
import type { FastifyRequest } from 'fastify';
import { type Cause, type ContractError, reject } from '../../contract/contract-error.ts';
import type { Client } from '../../domain/client/client.ts';
import { findCachedClient, peekClient, touchClient } from '../../storage/registry/clients/clients.ts';
import { findGrantFault, type PresentedAssertion, readNamed, useAssertion } from '../client/client-assertion.ts';
import { authenticateClient, type ClientAuthDeps } from '../client/client-authentication.ts';
import { countFailure } from '../client/client-failures.ts';
import { readCrossApp } from '../client/cross-app-assertion.ts';
import { findWorkloadClient, type PresentedWorkload, readWorkload } from '../client/workload-token.ts';
import type { RequestParameters } from '../parameters.ts';
import { apiAskedFor, apisOf, scopesOf } from './api-of-client.ts';
import { examineCrossApp } from './cross-app.ts';
import type { TokenGrant } from './grant.ts';

const refused = (cause: Cause): ContractError => reject('jwt_bearer.assertion_invalid', cause);

export const jwtBearerGrant: TokenGrant = {
  repeatsNonce: false,
  denied: refused,
  identify: async (services, request, parameters) =>
    // An assertion of a person says nothing of who shows it; the certificate of the connection does.
    request.clientCertificate !== undefined && readCrossApp(parameters.get('assertion')) !== undefined
      ? authenticateClient(services, request, undefined, parameters)
      : (await verified(services, request, parameters)).client,
  examine: async (tokenRequest) => {
    const { services, request, tenant, client, parameters } = tokenRequest;
    const vouched = readCrossApp(parameters.get('assertion'));
    if (vouched !== undefined) return examineCrossApp(tokenRequest, vouched, (cause) => refuse(services, request, cause));
    const own = await verified(services, request, parameters);
    if (own.client.clientId !== client.clientId)
      throw refused({ reason: 'assertion_of_another_client', received: own.client.clientId, expected: client.clientId });
    return {
      grant: undefined,
      scopes: scopesOf(client),
      resource: apiAskedFor(apisOf(tenant, client), parameters),
      refusal: 'jwt_bearer.assertion_invalid',
      userState: undefined,
      redeem: async () => {
        const fault = own.assertion && (await useAssertion(services, tenant, own.assertion));
        if (fault !== undefined) throw refused(fault);
        return undefined;
      },
    };
  },
};

interface Verified {
  readonly client: Client;
  /** Of its own making; absent for a token of its platform, which it may use again. */
  readonly assertion?: PresentedAssertion;
}

/** Assertions that were verified for a request: the client it names and the grant it is are one look. */
const verifiedOf = new WeakMap<FastifyRequest, Verified>();

async function verified(services: ClientAuthDeps, request: FastifyRequest, parameters: RequestParameters): Promise<Verified> {
  const known = verifiedOf.get(request);
  if (known !== undefined) return known;
  const found = await verify(services, request, parameters);
  verifiedOf.set(request, found);
  return found;
}

async function verify(services: ClientAuthDeps, request: FastifyRequest, parameters: RequestParameters): Promise<Verified> {
  const { tenant } = request;
  const text = parameters.get('assertion');
  if (text === undefined) throw reject('token.invalid_request', 'assertion_missing', { text: 'assertion is required.' });
  const workload = await readWorkload(services, tenant, text);
  if (workload !== undefined) return verifyWorkload(services, request, parameters, workload);
  const assertion = readNamed(parameters, text);
  if ('reason' in assertion) return refuse(services, request, assertion);
  const { clientId } = assertion;
  const known = peekClient(services.cache, tenant.id, clientId);
  const client = known === undefined ? await findCachedClient(services.cache, tenant.id, clientId) : known.value;
  const usable = client?.enabled === true ? client : undefined;
  const fault = await findGrantFault(services, tenant, usable, assertion);
  if (usable === undefined || fault !== undefined) {
    // A cached look-up reads the database all the same: a refusal costs the same for known, unknown, cached and new ids.
    if (known !== undefined) await services.database.read(tenant.id, (queries) => touchClient(queries, tenant.id, clientId));
    return refuse(
      services,
      request,
      usable === client ? (fault ?? { reason: 'unknown_client' }) : { reason: 'client_disabled', received: clientId },
    );
  }
  request.auditActor = `client:${clientId}`;
  return { client: usable, assertion };
}

async function verifyWorkload(
  services: ClientAuthDeps,
  request: FastifyRequest,
  parameters: RequestParameters,
  workload: PresentedWorkload,
): Promise<Verified> {
  const found = await findWorkloadClient(services, request.tenant, workload);
  if ('reason' in found) return refuse(services, request, found);
  const named = parameters.get('client_id');
  if (named !== undefined && named !== found.clientId)
    return refuse(services, request, { reason: 'client_id_mismatch', received: named, expected: found.clientId });
  request.auditActor = `client:${found.clientId}`;
  return { client: found };
}

/** A wrong assertion is a failed authentication of its address. */
async function refuse({ rateLimiter }: ClientAuthDeps, request: FastifyRequest, cause: Cause): Promise<never> {
  await countFailure(rateLimiter, request.tenant, request.clientAddress);
  throw refused(cause);
}
