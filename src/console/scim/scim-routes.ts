// The pages of SCIM, of the tenant and of each organisation, below /console.
import type { Route } from '../../http/surface.ts';
import type { Form, Page } from '../frame/page-routes.ts';
import { makeOrganizationToken, organizationScimPage, revokeOrganizationToken } from './organization-scim.ts';
import { makeScimClient, makeScimToken, revokeScimToken, scimPage, tryScim } from './scim-page.ts';

export function routeScim(route: Route, page: Page, form: Form): void {
  route('/scim', { GET: page((visit) => scimPage(visit)), POST: form(makeScimClient) });
  route('/scim/tokens', { POST: form(makeScimToken) });
  route('/scim/tokens/:token/revoke', { POST: form(revokeScimToken) });
  route('/scim/test', { POST: form(tryScim) });
  const path = '/organizations/:id/directory';
  route(path, { GET: page((visit, params) => organizationScimPage(visit, params)) });
  route(`${path}/tokens`, { POST: form(makeOrganizationToken) });
  route(`${path}/tokens/:token/revoke`, { POST: form(revokeOrganizationToken) });
}
