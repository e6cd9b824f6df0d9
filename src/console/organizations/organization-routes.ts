// The pages below one organisation that are of it alone.
import type { Route } from '../../http/surface.ts';
import type { Form, Page } from '../frame/page-routes.ts';
import { inviteToOrganization, organizationInvitationsPage, withdrawInvitation } from './organization-invitations.ts';
import { makeSetupLink, revokeSetupLink, setupLinksPage } from './setup-links.ts';

export function routeOrganizations(route: Route, page: Page, form: Form): void {
  const at = '/organizations/:id';
  route(`${at}/invitations`, {
    GET: page((visit, params) => organizationInvitationsPage(visit, params)),
    POST: form(inviteToOrganization),
  });
  route(`${at}/invitations/:invitation/withdraw`, { POST: form(withdrawInvitation) });
  route(`${at}/setup-links`, { GET: page((visit, params) => setupLinksPage(visit, params)), POST: form(makeSetupLink) });
  route(`${at}/setup-links/:link/revoke`, { POST: form(revokeSetupLink) });
}
