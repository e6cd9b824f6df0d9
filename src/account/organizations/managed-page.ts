// What the pages of whoever manages an organisation have in common: the organisation, if they manage it now, its tabs, and the roles of
// the tenant that they may give.
import type { FastifyReply } from 'fastify';
import { organizationRolesMax } from '../../contract/limits.ts';
import type { Notice } from '../../first-party/app-page.ts';
import { type Html, html } from '../../platform/html.ts';
import type { Queries } from '../../storage/engine/database.ts';
import { findManaged, type GivenRole, listGivenRoles, type ManagedOrganization } from '../../storage/organizations/managers.ts';
import { type OrganizationTexts, organizationCatalogs } from '../../texts/account/organization-texts.ts';
import { type AccountVisit, pathTo, showPage } from '../account-visit.ts';
import { unknownOrganization } from './own-organizations.ts';

/** Whoever looks at the pages of one organisation: a member who manages it, or somebody of the tenant who sees what such a member sees. */
export interface Managing extends Pick<AccountVisit, 'services' | 'request' | 'language' | 'words' | 'at' | 'query'> {
  readonly session: Pick<AccountVisit['session'], 'csrf'>;
  /** Whose time zone times are told in. */
  readonly user?: AccountVisit['user'];
  readonly find: (queries: Queries, organization: string) => Promise<ManagedOrganization | undefined>;
  /** What a page offers: as it is, or so that nothing of it can be pressed. */
  readonly offer: (content: Html) => Html;
  /** Where a path below the account page leads. */
  readonly hrefOf: (path: string) => string;
  readonly show: (
    title: string,
    content: Html,
    more?: { readonly notice?: Notice; readonly script?: string; readonly status?: number },
  ) => FastifyReply;
}

export const asManaging = (visit: AccountVisit): Managing => ({
  ...visit,
  find: (queries, organization) => findManaged(queries, visit.request.tenant.id, organization, visit.user.id),
  offer: (content) => content,
  hrefOf: (path) => pathTo(visit, path),
  show: (title, content, more) => showPage(visit, title, content, more),
});

/** What they manage, with what `more` reads of it. @throws login.not_found for everything else */
export async function loadManaged<T>(
  { services, request, find }: Managing,
  id: string,
  more: (queries: Queries, organization: ManagedOrganization) => Promise<T>,
): Promise<{ readonly organization: ManagedOrganization; readonly more: T }> {
  const { tenant } = request;
  const found = await services.database.read(tenant.id, async (queries) => {
    const organization = await find(queries, id);
    return organization && { organization, more: await more(queries, organization) };
  });
  if (found === undefined) throw unknownOrganization();
  return found;
}

export const rolesToGive = (queries: Queries, { request }: Pick<Managing, 'request'>): Promise<readonly GivenRole[]> =>
  listGivenRoles(queries, request.tenant.id, organizationRolesMax);

export const pathOf = ({ id }: Pick<ManagedOrganization, 'id'>, below = ''): string => `/organizations/${id}${below}`;

const tabs = [
  ['', 'members'],
  ['/invitations', 'invitations'],
  ['/sign-ins', 'signIns'],
  ['/setup', 'setup'],
] as const satisfies readonly (readonly [string, keyof OrganizationTexts])[];

/** A page of the organisation, with its tabs. */
export function showManaged(
  visit: Managing,
  organization: ManagedOrganization,
  content: Html,
  more: { readonly notice?: Notice | undefined; readonly status?: number } = {},
): FastifyReply {
  const texts = organizationCatalogs[visit.language];
  const { notice, status } = more;
  return visit.show(
    organization.displayName ?? organization.name,
    html`<nav class="tabs" aria-label="${organization.displayName ?? organization.name}"><ul>${tabs.map(
      ([below, name]) =>
        html`<li><a href="${visit.hrefOf(pathOf(organization, below))}"${visit.at === pathOf(organization, below) && html` aria-current="page"`}>${texts[name]}</a></li>`,
    )}</ul></nav>
${visit.offer(content)}`,
    { ...(notice && { notice }), ...(status !== undefined && { status }) },
  );
}

/** Roles to tick. */
export function roleChecks(texts: OrganizationTexts, roles: readonly GivenRole[], ticked: readonly string[]): Html {
  if (roles.length === 0) return html`<p class="muted">${texts.noRolesYet}</p>`;
  return html`<fieldset><legend>${texts.roles}</legend>${roles.map(
    ({ name, description, manages }) =>
      html`<label class="check"><input type="checkbox" name="role" value="${name}"${ticked.includes(name) && html` checked`}><span>${name}${description !== undefined && html` <span class="muted">${description}</span>`}${manages && html` <span class="muted">(${texts.manages})</span>`}</span></label>`,
  )}</fieldset>`;
}
