// GET /v1/idp/oidc/jwks: the tenant's public keys, the next one already among them so that a rotation surprises nobody.
import type { Endpoint } from '../http/endpoint.ts';
import type { Services } from '../http/services.ts';

export function showKeys(services: Services): Endpoint {
  return async (request, reply) => {
    const { jwks } = await services.keyRings.of(request.tenant.id);
    reply.headers({ 'cache-control': 'public, max-age=300', 'content-type': 'application/json; charset=utf-8' });
    return JSON.stringify(jwks);
  };
}
