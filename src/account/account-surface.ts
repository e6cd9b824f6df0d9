// {base_url}/account: every person of a tenant about themselves (design 04, Pages). Its pages are loaded at the first request.
import type { FastifyInstance } from 'fastify';
import { accountBodyBytesMax } from '../contract/limits.ts';
import { registerLazySurface } from '../http/lazy-surface.ts';
import type { Services } from '../http/services.ts';
import type { TrialSteps } from '../organization-setup/setup.ts';
import { presentErrorPage } from '../pages/status-page.ts';
import type { LinkSteps } from './account-routes.ts';
import { knownLanguage } from './known-language.ts';

export function registerAccount(
  app: FastifyInstance,
  services: Services,
  linkSteps: () => Promise<LinkSteps>,
  trialSteps: () => Promise<TrialSteps>,
): void {
  registerLazySurface(
    app,
    services,
    {
      name: 'account',
      envelope: 'management',
      prefix: '/account',
      bodies: { 'application/x-www-form-urlencoded': 'form' },
      bodyBytesMax: accountBodyBytesMax,
      ofTenant: true,
      isPages: true,
      present: (answer, request) => presentErrorPage(answer, request, { language: knownLanguage(request) }),
    },
    async () => (await import('./account-routes.ts')).accountRoutes(app, services, { ...(await linkSteps()), ...(await trialSteps()) }),
  );
}
