// Where the console has other providers, beside what every resource has: the wizard that makes one, and the page that tries it.
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Typed } from '../../first-party/app-form.ts';
import type { Services } from '../../http/services.ts';
import type { Handler, Route } from '../../http/surface.ts';
import type { TrialFor } from '../../tokens/provider-secret.ts';
import { consoleResource } from '../console-resources.ts';
import type { Visit } from '../console-visit.ts';
import { newPage } from '../resource-pages.ts';
import { createProvider, providerWizard } from './provider-wizard.ts';
import { changeIssuer, type Finished, type Looked, leaveToTry, returnFromTry, type Started, showToPeople, tryPage } from './try-pages.ts';

type Params = Readonly<Record<string, string>>;
type Answer = Promise<FastifyReply> | FastifyReply;

/** How signing in tries another provider; handed over where a server is composed. */
export interface Trying {
  readonly lookAt: (services: Services, request: FastifyRequest, id: string) => Promise<Looked>;
  readonly startTrial: (services: Services, request: FastifyRequest, id: string, trial: TrialFor) => Promise<Started>;
  readonly finishTrial: (services: Services, request: FastifyRequest, by: TrialFor['by']) => Promise<Finished>;
}

interface Ways {
  readonly page: (show: (visit: Visit, params: Params) => Answer) => Handler;
  readonly form: (take: (visit: Visit, typed: Typed, params: Params) => Answer) => Handler;
}

export function routeIdentityProviders(
  route: Route,
  { page, form }: Ways,
  services: Services,
  { lookAt, startTrial, finishTrial }: Trying,
): void {
  const at = '/identity-providers';
  route(`${at}/new`, { GET: page((visit) => providerWizard(visit)), POST: form((visit, typed) => createProvider(visit, typed)) });
  route(`${at}/by-hand`, { GET: page((visit) => newPage(visit, consoleResource(at))) });
  route(`${at}/:id/try`, {
    GET: page((visit, params) => tryPage(visit, params, (id) => lookAt(services, visit.request, id))),
    POST: form((visit, _typed, params) =>
      leaveToTry(visit, params, (id) => {
        const trial = { by: visit.session.grantId, back: `/console${at}/${id}/try/return` };
        return startTrial(services, visit.request, id, trial);
      }),
    ),
  });
  route(`${at}/:id/try/issuer`, {
    POST: form((visit, typed, params) => changeIssuer(visit, typed, params, (id) => lookAt(services, visit.request, id))),
  });
  route(`${at}/:id/try/return`, {
    GET: page((visit, params) => returnFromTry(visit, params, () => finishTrial(services, visit.request, visit.session.grantId))),
  });
  route(`${at}/:id/show`, { POST: form((visit, _typed, params) => showToPeople(visit, params)) });
}
