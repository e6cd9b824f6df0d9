// The endpoints of the OIDC surface, one line each. All share one body type, one limit and the OAuth envelope.
import type { FastifyInstance } from 'fastify';
import { bodyBytesMax } from '../contract/limits.ts';
import type { Services } from '../http/services.ts';
import { registerSurface } from '../http/surface.ts';
import { introspect } from './introspection.ts';
import { showKeys } from './jwks.ts';
import { revoke } from './revocation.ts';
import { issueTokens } from './token.ts';

export function registerOidc(app: FastifyInstance, services: Services): void {
  registerSurface(
    app,
    services,
    {
      name: 'oidc',
      envelope: 'oauth',
      prefix: '/v1/idp/oidc',
      bodies: { 'application/x-www-form-urlencoded': 'form' },
      bodyBytesMax,
      ofTenant: true,
    },
    (route) => {
      route('/jwks', { GET: showKeys(services) });
      route('/token', { POST: issueTokens(services) });
      route('/introspect', { POST: introspect(services) });
      route('/revoke', { POST: revoke(services) });
    },
  );
}
