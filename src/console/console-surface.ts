// {base_url}/console: the tenant's administrators at work (design 04, Console). Its pages are loaded at the first request.
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { consoleBodyBytesMax } from '../contract/limits.ts';
import { registerLazySurface } from '../http/lazy-surface.ts';
import type { Services } from '../http/services.ts';
import { presentErrorPage } from '../pages/status-page.ts';
import { type Html, html } from '../platform/html.ts';
import { consolePath } from './frame/navigation.ts';
import type { Viewing } from './organizations/organization-routes.ts';
import type { Trying } from './providers/provider-routes.ts';

/** `loadTrying` gives how signing in tries another provider, `loadViewing` how the account page shows an organisation: of rooms beside this one. */
export function registerConsole(
  app: FastifyInstance,
  services: Services,
  loadTrying: () => Promise<Trying>,
  loadViewing: () => Promise<Viewing>,
): void {
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
      isPages: true,
      present: (answer, request) => presentErrorPage(answer, request, { action: wayBack(request) }),
    },
    async () => (await import('./console-routes.ts')).consoleRoutes(app, services, await loadTrying(), await loadViewing()),
  );
}

/** From an address that is none, or a form that was refused: to the overview. Nothing before the tenant is known. */
function wayBack({ tenant }: FastifyRequest): Html | undefined {
  return tenant === null ? undefined : html`<p><a class="button" id="back" href="${consolePath(tenant, '')}">Back to the console</a></p>`;
}
