// GET /v1/idp/oidc/jwks: the tenant's public keys, the next one already among them so that a rotation surprises nobody.
import type { FastifyInstance } from 'fastify';
import type { Services } from '../http/services.ts';
import { registerSurface } from '../http/surface.ts';

export function registerKeys(app: FastifyInstance, services: Services): void {
  registerSurface(
    app,
    services,
    { name: 'oidc-keys', envelope: 'oauth', prefix: '/v1/idp/oidc', bodies: {}, bodyBytesMax: 0, ofTenant: true },
    (route) => {
      route('/jwks', {
        GET: async (request, reply) => {
          const { jwks } = await services.keyRings.of(request.tenant.id);
          return reply.header('cache-control', 'public, max-age=300').type('application/json').send(JSON.stringify(jwks));
        },
      });
    },
  );
}
