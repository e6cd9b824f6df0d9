// {base_url}/v1/idp/oidc/register: clients that register and manage themselves (RFC 7591, RFC 7592). Its own surface, because its
// bodies are JSON; the registration is the Management API's. Loaded at the first request.
import type { FastifyInstance } from 'fastify';
import { bodyBytesMax } from '../../contract/limits.ts';
import { registerLazySurface } from '../../http/lazy-surface.ts';
import type { Services } from '../../http/services.ts';

export function registerClientRegistration(app: FastifyInstance, services: Services): void {
  registerLazySurface(
    app,
    services,
    {
      name: 'registration',
      envelope: 'oauth',
      prefix: '/v1/idp/oidc/register',
      bodies: { 'application/json': 'json' },
      bodyBytesMax,
      ofTenant: true,
      shedding: 'first',
    },
    async () => (await import('./registration-routes.ts')).registrationRoutes(services),
  );
}
