// {base_url}/try, the tester: a sign-in with a built-in public client that shows what an application would get. Its pages are loaded
// at the first request.
import type { FastifyInstance } from 'fastify';
import { bodyBytesMax } from '../../contract/limits.ts';
import { registerLazySurface } from '../../http/lazy-surface.ts';
import type { Services } from '../../http/services.ts';
import { presentErrorPage } from '../../pages/status-page.ts';

export function registerTester(app: FastifyInstance, services: Services): void {
  registerLazySurface(
    app,
    services,
    {
      name: 'try',
      envelope: 'management',
      prefix: '/try',
      bodies: {},
      bodyBytesMax,
      ofTenant: true,
      isPages: true,
      present: presentErrorPage,
    },
    async () => (await import('./tester-routes.ts')).testerRoutes(app, services),
  );
}
