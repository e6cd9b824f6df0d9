// GET /v1/idp/oidc/jwks: the tenant's public keys, the next one already among them so that a rotation surprises nobody.
import type { Services } from '../http/services.ts';
import type { Handler } from '../http/surface.ts';

export function showKeys(services: Services): Handler {
  return async (request, reply) => {
    const { jwks } = await services.keyRings.of(request.tenant.id);
    return reply.header('cache-control', 'public, max-age=300').type('application/json').send(JSON.stringify(jwks));
  };
}
