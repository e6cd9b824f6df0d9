// The routes of the console's pages of one connector. Called by console-routes.ts.
import type { Route } from '../../http/surface.ts';
import { goTo } from '../console-visit.ts';
import { routeProvisioned, type Ways } from '../provisioning/provisioned-routes.ts';
import { connectorLinks } from './connector-links.ts';
import { connectorPlanPage } from './connector-plan.ts';
import { connectorStatus } from './connector-status.ts';

export function routeConnectors(route: Route, ways: Ways): void {
  const own = '/connectors/:id';
  routeProvisioned(route, ways, connectorStatus, connectorLinks);
  route(`${own}/plan`, { GET: ways.page(connectorPlanPage) });
  route(`${own}/rules`, {
    GET: ways.page((visit, { id = '' }) => goTo(visit, `/mappings?${new URLSearchParams({ kind: 'scim', target: id })}`)),
  });
}
