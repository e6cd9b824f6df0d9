// {base_url}/handed-over/<link>: the page that is sent to whoever runs a SAML application. Whoever has the link sees what the application
// needs of us, which is public, and whether anybody has signed in to it; nothing can be done there.
import type { FastifyInstance } from 'fastify';
import { registerLazySurface } from '../../http/lazy-surface.ts';
import type { Services } from '../../http/services.ts';
import { presentErrorPage } from '../../pages/status-page.ts';
import { handedOverPrefix } from './handed-over-link.ts';

export function registerHandedOver(app: FastifyInstance, services: Services): void {
  registerLazySurface(
    app,
    services,
    {
      name: 'handed-over',
      envelope: 'management',
      prefix: handedOverPrefix,
      bodies: {},
      bodyBytesMax: 0,
      ofTenant: true,
      isPages: true,
      present: (answer, request) => presentErrorPage(answer, request),
    },
    async () => (await import('./handed-over-routes.ts')).handedOverRoutes(app, services),
  );
}
