// The management API of a tenant and the system API of the deployment (design 02): who may call, and where endpoints come from.
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { reject } from '../contract/contract-error.ts';
import { managementBodyBytesMax, tenantImportPartBytesMax } from '../contract/limits.ts';
import { verifySecret } from '../crypto/secret-hash.ts';
import { capabilities } from '../domain/people/capabilities.ts';
import { operatorTokenKey, rootTenantSlug } from '../domain/tenant/tenant.ts';
import { enforceRateLimit } from '../http/budgets/rate-limits.ts';
import type { Services } from '../http/services.ts';
import { type Handler, registerSurface, type SurfaceDefinition } from '../http/surface.ts';
import { tenantNameOf } from '../http/tenant-name.ts';
import { pictureTypes } from '../platform/images/picture.ts';
import { findInstanceValue } from '../storage/engine/instance.ts';
import { type BearerDependencies, bearerTokenOf, verifyBearer } from '../tokens/bearer.ts';
import { isEntrySecret, verifyOperatorEntry } from '../tokens/operator-entry.ts';
import { type Api, type Caller, createDispatch } from './dispatch.ts';

const surface = {
  envelope: 'management',
  bodyBytesMax: managementBodyBytesMax,
  shedding: 'first',
} as const satisfies Partial<SurfaceDefinition>;
const metadataTypes = ['application/xml', 'text/xml', 'application/samlmetadata+xml'];
const managementPrefix = '/v1/management';
const systemPrefix = '/v1/system';

/** `{base_url}/v1/management`, bearer access tokens of the tenant. */
export function registerManagement(app: FastifyInstance, services: Services): void {
  const definition: SurfaceDefinition = {
    ...surface,
    name: 'management',
    prefix: managementPrefix,
    bodies: {
      'application/json': 'json',
      ...Object.fromEntries([...metadataTypes, ...pictureTypes].map((type) => [type, 'raw' as const])),
    },
    ofTenant: true,
  };
  registerSurface(app, services, definition, (route) => {
    route('/openapi.json', {
      GET: async (request, reply) => {
        const { openApiDocument } = await import('./openapi.ts');
        return reply.type('application/json; charset=utf-8').send(await openApiDocument(request.tenant));
      },
    });
    route('/*', everyMethod(createDispatch(services, managementApi(services))));
  });
}

/** `<public-url>/v1/system`, the operator's token. Its refusals are recorded in the root tenant's trail. */
export function registerSystem(app: FastifyInstance, services: Services): void {
  const definition: SurfaceDefinition = {
    ...surface,
    name: 'system',
    prefix: systemPrefix,
    bodies: { 'application/json': 'json' },
    ofTenant: false,
  };
  const api = systemApi(services);
  registerSurface(app, services, definition, (route) => {
    route('/*', everyMethod(createDispatch(services, api)));
  });
  registerImports(app, services, definition, api);
}

/**
 * Tenants that come from another group, which has the same operator token: what `gatehouse tenant move` speaks with itself, and no
 * reference says. Parts of tenants are long: nobody but the operator has the server read one.
 */
function registerImports(app: FastifyInstance, services: Services, system: SurfaceDefinition, api: Api): void {
  const definition: SurfaceDefinition = {
    ...system,
    name: 'tenant-imports',
    prefix: `${systemPrefix}/tenant-imports`,
    bodies: { 'application/json': 'json', 'application/octet-stream': 'raw' },
    bodyBytesMax: tenantImportPartBytesMax,
    beforeBody: async (request) => void (await api.authenticate(request)),
  };
  const load: Api['load'] = async () => (await import('./tenant/tenant-imports.ts')).tenantImportEndpoints;
  const dispatch = createDispatch(services, { ...api, load });
  registerSurface(app, services, definition, (route) => {
    route('', everyMethod(dispatch));
    route('/*', everyMethod(dispatch));
  });
}

function managementApi(services: Services): Api {
  return {
    prefix: managementPrefix,
    load: async () => (await import('./endpoints.ts')).managementEndpoints,
    authenticate: (request) => authenticateManager(services, request),
    limit: limitManagement(services),
  };
}

/** Who calls the management API: with a token for it, or as an operator who entered the tenant. */
async function authenticateManager(services: Services, request: FastifyRequest): Promise<Caller> {
  const presented = bearerTokenOf(request.headers.authorization);
  if (!isEntrySecret(presented)) return authenticateBearer(services, request);
  const verified = await verifyOperatorEntry(services, request.tenant, presented);
  if (!verified.ok) throw reject('management.unauthorized', verified.reason);
  const { actor, scopes } = verified.operator;
  return { actor, scopes, isAdministrator: false, key: actor };
}

/** Who calls with a token for the management API of the tenant. */
export async function authenticateBearer(
  services: BearerDependencies,
  { tenant, headers }: Pick<FastifyRequest, 'tenant' | 'headers'>,
): Promise<Caller> {
  const bearer = await verifyBearer(services, tenant, headers.authorization, tenant.managementApi);
  if (!bearer.ok) throw reject('management.unauthorized', bearer.reason);
  const { token, scopes, actor } = bearer;
  return { actor, scopes, isAdministrator: token.sid !== undefined, key: token.clientId };
}

/** The limit of a client on calls with such tokens. */
export const limitManagement =
  ({ rateLimiter }: Pick<Services, 'rateLimiter'>): Api['limit'] =>
  (request, { key }) =>
    enforceRateLimit(rateLimiter, request.tenant, 'management', 'management_requests_per_client', key);

function systemApi(services: Services): Api {
  return {
    prefix: systemPrefix,
    load: async () => (await import('./endpoints.ts')).systemEndpoints,
    authenticate: async (request) => {
      const name = tenantNameOf(request.raw, services);
      if (name.kind === 'slug' && name.slug !== rootTenantSlug) throw reject('management.not_found', 'no_such_path');
      const root = await services.tenants.bySlug(rootTenantSlug);
      if (root !== undefined) request.tenant = root;
      const presented = bearerTokenOf(request.headers.authorization);
      const stored = await services.database.systemRead((queries) => findInstanceValue(queries, operatorTokenKey));
      if (!verifySecret(presented ?? '', stored) || presented === undefined)
        throw reject('management.unauthorized', presented === undefined ? 'missing_token' : 'wrong_operator_token');
      return { actor: 'operator', scopes: capabilities, isAdministrator: false, key: 'operator' };
    },
    limit: async () => undefined,
  };
}

export function everyMethod(handler: Handler): Readonly<Record<'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'OPTIONS', Handler>> {
  return { GET: handler, POST: handler, PUT: handler, PATCH: handler, DELETE: handler, OPTIONS: handler };
}
