// The routes of the console's pages of one connector. Called by console-routes.ts.
import type { Route } from '../../http/surface.ts';
import type { Ways } from '../appearance/appearance-routes.ts';
import { goTo } from '../console-visit.ts';
import { connectorLinksPage, resolveLinkOf } from './connector-links.ts';
import { connectorPlanPage } from './connector-plan.ts';
import { actOnConnector, connectorStatusPage } from './connector-status.ts';

export function routeConnectors(route: Route, { page, form }: Pick<Ways, 'page' | 'form'>): void {
  const own = '/connectors/:id';
  route(`${own}/status`, { GET: page((visit, params) => connectorStatusPage(visit, params)) });
  route(`${own}/status/:act`, { POST: form(actOnConnector) });
  route(`${own}/links`, { GET: page((visit, params) => connectorLinksPage(visit, params)) });
  route(`${own}/links/:link/resolve`, { POST: form(resolveLinkOf) });
  route(`${own}/plan`, { GET: page(connectorPlanPage) });
  route(`${own}/rules`, {
    GET: page((visit, { id = '' }) => goTo(visit, `/mappings?${new URLSearchParams({ kind: 'scim', target: id })}`)),
  });
}
