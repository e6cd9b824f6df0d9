// The management API of a tenant and the system API of the deployment (design 02): who may call, and where endpoints come from.
import type { FastifyInstance } from 'fastify';
import { reject } from '../contract/contract-error.ts';
import { managementBodyBytesMax } from '../contract/limits.ts';
import { verifySecret } from '../crypto/secret-hash.ts';
import { operatorTokenKey, rootTenantSlug } from '../domain/tenant.ts';
import { enforceRateLimit } from '../http/rate-limits.ts';
import type { Services } from '../http/services.ts';
import { type Handler, registerSurface, type SurfaceDefinition } from '../http/surface.ts';
import { tenantNameOf } from '../http/tenant-name.ts';
import { findInstanceValue } from '../storage/instance.ts';
import { findUser } from '../storage/users.ts';
import { bearerTokenOf, verifyBearer } from '../tokens/bearer.ts';
import { type Api, createDispatch } from './dispatch.ts';

const surface = { envelope: 'management', bodyBytesMax: managementBodyBytesMax } as const satisfies Partial<SurfaceDefinition>;
const managementPrefix = '/v1/management';
const systemPrefix = '/v1/system';

/** `{base_url}/v1/management`, bearer access tokens of the tenant. */
export function registerManagement(app: FastifyInstance, services: Services): void {
  const definition: SurfaceDefinition = {
    ...surface,
    name: 'management',
    prefix: managementPrefix,
    bodies: { 'application/json': 'json', 'application/xml': 'raw', 'text/xml': 'raw', 'application/samlmetadata+xml': 'raw' },
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
  registerSurface(app, services, definition, (route) => {
    route('/*', everyMethod(createDispatch(services, systemApi(services))));
  });
}

function managementApi(services: Services): Api {
  return {
    prefix: managementPrefix,
    load: async () => (await import('./endpoints.ts')).managementEndpoints,
    authenticate: async ({ tenant, headers }) => {
      const bearer = await verifyBearer(services, tenant, headers.authorization, tenant.managementApi);
      if (!bearer.ok) throw reject('management.unauthorized', bearer.reason);
      const { token, actor } = bearer;
      if (token.sid !== undefined) await requireAdministrator(services, tenant.id, token.sub);
      return { actor, scopes: token.scopes, isAdministrator: token.sid !== undefined, key: token.clientId };
    },
    limit: (request, { key }) =>
      enforceRateLimit(services.rateLimiter, request.tenant, 'management', 'management_requests_per_client', key),
  };
}

/** People come with tokens of the console; only administrators manage, whatever scope a token carries. */
async function requireAdministrator(services: Services, tenant: Parameters<typeof findUser>[1], sub: string): Promise<void> {
  const user = await services.database.read(tenant, (queries) => findUser(queries, tenant, sub));
  if (user?.role !== 'admin') throw reject('management.unauthorized', 'not_an_administrator');
}

function systemApi(services: Services): Api {
  return {
    prefix: systemPrefix,
    load: async () => (await import('./endpoints.ts')).systemEndpoints,
    authenticate: async (request) => {
      const name = tenantNameOf(request.raw, services.publicUrl);
      if (name.kind === 'slug' && name.slug !== rootTenantSlug) throw reject('management.not_found', 'no_such_path');
      const root = await services.tenants.bySlug(rootTenantSlug);
      if (root !== undefined) request.tenant = root;
      const presented = bearerTokenOf(request.headers.authorization);
      const stored = await services.database.systemRead((queries) => findInstanceValue(queries, operatorTokenKey));
      if (!verifySecret(presented ?? '', stored) || presented === undefined)
        throw reject('management.unauthorized', presented === undefined ? 'missing_token' : 'wrong_operator_token');
      return { actor: 'operator', scopes: [], isAdministrator: false, key: 'operator' };
    },
    limit: async () => undefined,
  };
}

function everyMethod(handler: Handler): Readonly<Record<'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'OPTIONS', Handler>> {
  return { GET: handler, POST: handler, PUT: handler, PATCH: handler, DELETE: handler, OPTIONS: handler };
}
