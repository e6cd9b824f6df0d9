// The endpoints of the OIDC surface, one line each. All share one body type, one limit and the OAuth envelope.
import type { FastifyInstance } from 'fastify';
import { bodyBytesMax } from '../contract/limits.ts';
import type { Services } from '../http/services.ts';
import { registerSurface } from '../http/surface.ts';
import { authorize } from './authorize.ts';
import { authenticateBackchannel } from './backchannel-authentication.ts';
import { crossOrigin, preflight } from './cross-origin.ts';
import { presentError } from './error-page.ts';
import { introspect } from './introspection.ts';
import { showKeys } from './jwks.ts';
import { logout } from './logout.ts';
import { pushRequest } from './pushed-request.ts';
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
      present: presentError,
    },
    (route, plain) => {
      route('/authorize', { GET: authorize(services), POST: authorize(services) });
      route('/par', { POST: plain('POST', '/par', pushRequest(services)) });
      route('/jwks', { GET: plain('GET', '/jwks', crossOrigin(showKeys(services))), OPTIONS: preflight('GET') });
      route('/token', { POST: plain('POST', '/token', crossOrigin(issueTokens(services))), OPTIONS: preflight('POST') });
      route('/logout', { GET: logout(services), POST: logout(services) });
      route('/bc-authorize', { POST: plain('POST', '/bc-authorize', authenticateBackchannel(services)) });
      route('/introspect', { POST: plain('POST', '/introspect', introspect(services)) });
      route('/revoke', { POST: plain('POST', '/revoke', revoke(services)) });
    },
  );
}
