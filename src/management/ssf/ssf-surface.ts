// The endpoints of a transmitter of security events (SSF 1.0) at `{base_url}/v1/ssf`: the steps of the management API, for receivers, which
// are OAuth clients that come with tokens of their own.
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { ContractError } from '../../contract/contract-error.ts';
import { managementBodyBytesMax } from '../../contract/limits.ts';
import type { Services } from '../../http/services.ts';
import { registerSurface, type SurfaceDefinition } from '../../http/surface.ts';
import { ssfPrefix } from '../../ssf/configuration.ts';
import type { Api } from '../dispatch.ts';
import { createDispatch } from '../dispatch.ts';
import { authenticateBearer, everyMethod, limitManagement } from '../surface.ts';

export function registerSsf(app: FastifyInstance, services: Services): void {
  const definition: SurfaceDefinition = {
    name: 'ssf',
    envelope: 'management',
    prefix: ssfPrefix,
    bodies: { 'application/json': 'json' },
    bodyBytesMax: managementBodyBytesMax,
    takesEmptyJson: true,
    challenge: challengeOf,
    ofTenant: true,
    shedding: 'first',
  };
  const api: Api = {
    prefix: ssfPrefix,
    load: async () => (await import('./endpoints.ts')).ssfEndpoints,
    authenticate: async (request) => {
      const caller = await authenticateBearer(services, request);
      return caller.scopes.includes('ssf.manage') ? { ...caller, scopes: [...caller.scopes, 'ssf.read'] } : caller;
    },
    limit: limitManagement(services),
  };
  registerSurface(app, services, definition, (route) => route('/*', everyMethod(createDispatch(services, api))));
}

/** RFC 6750 3, which RFC 8936 3 and the CAEP Interoperability Profile ask for: no error for a request without credentials. */
function challengeOf({ row, reason }: ContractError, { headers }: FastifyRequest): string | undefined {
  if (row === 'management.unauthorized') return headers.authorization === undefined ? 'Bearer' : 'Bearer error="invalid_token"';
  if (row !== 'management.forbidden') return undefined;
  const scope = reason.reason === 'missing_capability' ? `, scope="${reason.expected}"` : '';
  return `Bearer error="insufficient_scope"${scope}`;
}
