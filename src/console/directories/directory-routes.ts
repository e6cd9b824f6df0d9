// The routes of the console's pages of one directory of LDAP. Called by console-routes.ts.
import type { Route } from '../../http/surface.ts';
import { routeProvisioned, type Ways } from '../provisioning/provisioned-routes.ts';
import { directoryLinks } from './directory-links.ts';
import { askDirectory, askingPage, plan, test } from './directory-plan.ts';
import { addDirectoryRule, directoryRulesPage, removeDirectoryRule } from './directory-rules.ts';
import { directoryStatus } from './directory-status.ts';

export function routeDirectories(route: Route, ways: Ways): void {
  const own = '/directories/:id';
  routeProvisioned(route, ways, directoryStatus, directoryLinks);
  for (const asking of [plan, test])
    route(`${own}${asking.tab}`, {
      GET: ways.page((visit, params) => askingPage(visit, asking, params)),
      POST: ways.form((visit, _typed, params) => askDirectory(visit, asking, params)),
    });
  route(`${own}/rules`, { GET: ways.page((visit, params) => directoryRulesPage(visit, params)), POST: ways.form(addDirectoryRule) });
  route(`${own}/rules/remove`, { POST: ways.form(removeDirectoryRule) });
}
