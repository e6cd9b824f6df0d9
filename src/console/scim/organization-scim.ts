// The SCIM of an organisation: the address its directory provisions at, and the tokens it does it with.
import type { FastifyReply } from 'fastify';
import type { Typed } from '../../first-party/app-form.ts';
import type { Notice } from '../../first-party/app-page.ts';
import { html } from '../../platform/html.ts';
import { manage, showMissing, showPage, type Visit } from '../console-visit.ts';
import { organizations } from '../people/organization-resource.ts';
import { tabBar } from '../resource-pages.ts';
import { makeToken, revokeToken, type TokenPlace, tokenSection } from './scim-tokens.ts';

type Params = Readonly<Record<string, string>>;
interface Shown {
  readonly typed?: Typed;
  readonly notice?: Notice;
}

function placeOf(params: Params): TokenPlace {
  const id = encodeURIComponent(params['id'] ?? '');
  return {
    page: `/organizations/${id}/directory`,
    api: `/organizations/${id}/scim-tokens`,
    surface: `/v1/scim/organizations/${id}`,
    show: (visit, shown) => organizationScimPage(visit, params, shown),
  };
}

export async function organizationScimPage(visit: Visit, params: Params, { typed, notice }: Shown = {}): Promise<FastifyReply> {
  const place = placeOf(params);
  const id = params['id'] ?? '';
  const organization = await manage(visit, 'GET', `/organizations/${encodeURIComponent(id)}`);
  if (organization.status !== 200) return showMissing(visit, organizations.singular, organization);
  return showPage(
    visit,
    organizations.titleOf(organization.body),
    html`${tabBar(visit, organizations, id, '/directory')}
<ol class="steps">
<li><h2>Where its directory provisions</h2><p>Entra calls it the tenant URL, Okta the SCIM base URL. It sees the members of this organisation and nobody else.</p><pre id="scim-url">${visit.request.tenant.baseUrl}${place.surface}</pre></li>
<li><h2>Its token</h2><p>It opens this address and nothing else, until it ends or you revoke it.</p>${await tokenSection(visit, place, typed)}</li>
</ol>`,
    notice,
  );
}

export const makeOrganizationToken = (visit: Visit, typed: Typed, params: Params): Promise<FastifyReply> =>
  makeToken(visit, placeOf(params), typed);
export const revokeOrganizationToken = (visit: Visit, typed: Typed, params: Params): Promise<FastifyReply> =>
  revokeToken(visit, placeOf(params), typed, params['token'] ?? '');
