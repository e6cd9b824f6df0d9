// {base_url}/console: the tenant's administrators at work (design 04, Console). Its pages are loaded at the first request.
import type { FastifyInstance } from 'fastify';
import { consoleBodyBytesMax } from '../../contract/limits.ts';
import { registerLazySurface } from '../../http/lazy-surface.ts';
import { presentErrorPage } from '../../http/pages/status-page.ts';
import type { Services } from '../../http/services.ts';

export function registerConsole(app: FastifyInstance, services: Services): void {
  registerLazySurface(
    app,
    services,
    {
      name: 'console',
      envelope: 'management',
      prefix: '/console',
      bodies: { 'application/x-www-form-urlencoded': 'form', 'multipart/form-data': 'raw' },
      bodyBytesMax: consoleBodyBytesMax,
      ofTenant: true,
      present: presentErrorPage,
    },
    async () => (await import('./console-routes.ts')).consoleRoutes(app, services),
  );
}
