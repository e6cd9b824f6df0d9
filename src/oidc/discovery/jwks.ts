// GET /v1/idp/oidc/jwks: the tenant's public keys, the next one already among them so that a rotation surprises nobody.

import type { Handler } from '../../http/surface.ts';
import type { KeyRings } from '../../tokens/key-rings.ts';

export function showKeys({ keyRings }: { readonly keyRings: KeyRings }): Handler {
  return async (request, reply) => {
    const { jwks } = await keyRings.of(request.tenant.id);
    reply.headers({ 'cache-control': 'public, max-age=300', 'content-type': 'application/json; charset=utf-8' });
    return JSON.stringify(jwks);
  };
}
