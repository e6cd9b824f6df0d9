// The pages below one organisation that are of it alone.
import type { FastifyReply } from 'fastify';
import type { ViewedByManagers } from '../../first-party/manager-view.ts';
import type { Services } from '../../http/services.ts';
import type { Route } from '../../http/surface.ts';
import type { Form, Page } from '../frame/page-routes.ts';
import { managerViewPage } from './manager-view.ts';
import { inviteToOrganization, organizationInvitationsPage, withdrawInvitation } from './organization-invitations.ts';
import { makeSetupLink, revokeSetupLink, setupLinksPage } from './setup-links.ts';

/** How the account page shows an organisation to whoever manages it: of a room beside this one, handed over where a server is composed. */
export interface Viewing {
  readonly showManagerView: (viewed: ViewedByManagers & { readonly services: Services }) => Promise<FastifyReply>;
}

const viewed = ['', '/invitations', '/sign-ins', '/setup', '/members/:member'] as const;

export function routeOrganizations(
  route: Route,
  { page, form }: { readonly page: Page; readonly form: Form },
  services: Services,
  { showManagerView }: Viewing,
): void {
  const at = '/organizations/:id';
  route(`${at}/invitations`, {
    GET: page((visit, params) => organizationInvitationsPage(visit, params)),
    POST: form(inviteToOrganization),
  });
  route(`${at}/invitations/:invitation/withdraw`, { POST: form(withdrawInvitation) });
  route(`${at}/setup-links`, { GET: page((visit, params) => setupLinksPage(visit, params)), POST: form(makeSetupLink) });
  route(`${at}/setup-links/:link/revoke`, { POST: form(revokeSetupLink) });
  for (const part of viewed)
    route(`${at}/view${part}`, {
      GET: page((visit, params) =>
        managerViewPage(visit, params, part.replace(':member', params['member'] ?? ''), (one) => showManagerView({ ...one, services })),
      ),
    });
}
