// {base_url}/organization-setup: where a set-up link leads. Its pages are loaded at the first request.
import type { FastifyInstance } from 'fastify';
import { organizationSetupBodyBytesMax } from '../contract/organization-limits.ts';
import { registerLazySurface } from '../http/lazy-surface.ts';
import type { Services } from '../http/services.ts';
import { presentErrorPage } from '../pages/status-page.ts';
import type { TrialSteps } from './setup.ts';

export function registerOrganizationSetup(app: FastifyInstance, services: Services, trialSteps: () => Promise<TrialSteps>): void {
  registerLazySurface(
    app,
    services,
    {
      name: 'organization-setup',
      envelope: 'management',
      prefix: '/organization-setup',
      bodies: { 'application/x-www-form-urlencoded': 'form' },
      bodyBytesMax: organizationSetupBodyBytesMax,
      ofTenant: true,
      isPages: true,
      present: presentErrorPage,
    },
    async () => (await import('./setup-link-routes.ts')).setupLinkRoutes(services, await trialSteps()),
  );
}
