// The SAML endpoints and their methods (design 06, "Endpoints"). No single logout of any kind.
import type { FastifyInstance } from 'fastify';
import { reject } from '../contract/contract-error.ts';
import { samlBodyBytesMax } from '../contract/limits.ts';
import type { Services } from '../http/services.ts';
import { type Handler, registerSurface, type SurfaceDefinition } from '../http/surface.ts';
import { presentErrorPage } from '../pages/status-page.ts';
import { samlPrefix } from './idp.ts';
import { answerPostback } from './postback.ts';
import { answerCertificate, answerMetadata, answerProviderMetadata } from './published.ts';
import { answerSso } from './sso.ts';

// What cannot be a session or a kid is none: the same answer as for one that does not exist.
const nulErrors: Readonly<Record<string, () => Error>> = {
  [`${samlPrefix}/postback`]: () => reject('saml.session_not_found', 'session_malformed'),
  [`${samlPrefix}/certificate`]: () => reject('saml.certificate_not_found', 'kid_malformed'),
};

const definition: SurfaceDefinition = {
  name: 'saml',
  envelope: 'oauth',
  prefix: samlPrefix,
  bodies: { 'application/x-www-form-urlencoded': 'form' },
  bodyBytesMax: samlBodyBytesMax,
  bodyTooLarge: () => reject('saml.invalid_request', { reason: 'body_too_large', expected: samlBodyBytesMax }),
  ofTenant: true,
  published: ['/metadata', '/certificate'],
  nulInQuery: (path) => nulErrors[path]?.(),
  present: presentErrorPage,
};

export function registerSaml(app: FastifyInstance, services: Services): void {
  const sso: Handler = (request, reply) => answerSso(services, withoutHead(request), reply);
  const postback: Handler = (request, reply) => answerPostback(services, withoutHead(request), reply);
  registerSurface(app, services, definition, (route) => {
    route('/sso', { GET: sso, POST: sso });
    route('/postback', { GET: postback, POST: postback });
    route('/metadata/:id', { GET: (request, reply) => answerProviderMetadata(services, request, reply) });
    route('/metadata', { GET: (request, reply) => answerMetadata(services, request, reply) });
    route('/certificate', { GET: (request, reply) => answerCertificate(services, request, reply) });
  });
}

// A HEAD is routed as the GET it asks about; these two have effects a HEAD must not have.
function withoutHead(request: Parameters<Handler>[0]): Parameters<Handler>[0] {
  if (request.method === 'HEAD') throw reject('oauth.method_not_allowed', 'method', { allow: 'GET, POST' });
  return request;
}
