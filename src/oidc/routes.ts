// The endpoints of the OIDC surface, one line each. All share one body type, one limit and the OAuth envelope.
import type { FastifyInstance } from 'fastify';
import { bodyBytesMax } from '../contract/limits.ts';
import type { Services } from '../http/services.ts';
import { type Handler, registerSurface } from '../http/surface.ts';
import { authorize, refuseUnauthorized } from './authorize/authorize.ts';
import { pushRequest, refusePusher } from './authorize/pushed-request.ts';
import { authenticateBackchannel } from './ciba/backchannel-authentication.ts';
import { refuseClient } from './client/client-authentication.ts';
import { unlessDeleted } from './client/deleted-client.ts';
import { crossOrigin, preflight } from './cross-origin.ts';
import { authorizeDevice } from './device-grant/device-authorization.ts';
import { showKeys } from './discovery/jwks.ts';
import { presentError } from './error-page.ts';
import { introspect } from './introspection.ts';
import { logout, signOutOfBrowser } from './logout.ts';
import { revoke } from './revocation.ts';
import { issueTokens } from './token.ts';

export function registerOidc(app: FastifyInstance, services: Services): void {
  const ofClient = (handler: Handler): Handler => unlessDeleted(services, handler, refuseClient);
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
      published: ['/jwks'],
      present: presentError,
    },
    (route) => {
      const authorizing = unlessDeleted(services, authorize(services), refuseUnauthorized);
      route('/authorize', { GET: authorizing, POST: authorizing });
      route('/par', { POST: crossOrigin(unlessDeleted(services, pushRequest(services), refusePusher)), OPTIONS: preflight('POST') });
      route('/jwks', { GET: crossOrigin(showKeys(services)), OPTIONS: preflight('GET') });
      route('/token', { POST: crossOrigin(ofClient(issueTokens(services))), OPTIONS: preflight('POST') });
      route('/logout/browser', { POST: signOutOfBrowser(services) });
      route('/logout', { GET: logout(services), POST: logout(services) });
      route('/bc-authorize', { POST: ofClient(authenticateBackchannel(services)) });
      route('/device-authorization', { POST: crossOrigin(ofClient(authorizeDevice(services))), OPTIONS: preflight('POST') });
      route('/introspect', { POST: introspect(services) });
      route('/revoke', { POST: crossOrigin(revoke(services)), OPTIONS: preflight('POST') });
    },
  );
}
