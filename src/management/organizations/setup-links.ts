// `/organizations/{id}/setup-links`: a link for a customer's IT, who have no account, by which they connect their company and do nothing else.
import Type from 'typebox';
import { makeSetupLink, setupLinkToJson, takeSetupLinkBack } from '../../administration/organizations/links.ts';
import { setupLinksPerOrganizationMax } from '../../contract/organization-limits.ts';
import { listSetupLinks } from '../../storage/organizations/setup-links.ts';
import { byOf, conflict, type Endpoint, endpoint, notFound } from '../endpoint.ts';
import { requireOrganization, unknownOrganization } from '../people/organizations.ts';
import { closed, dateTime, listAnswer, nullable } from '../schemas.ts';

const described = {
  id: Type.String(),
  state: Type.String({ description: 'open, used (in one browser, which goes on), revoked or expired' }),
  created_by: Type.String({ description: 'who made it' }),
  created_at: dateTime,
  expires_at: dateTime,
  used_at: nullable(dateTime),
};
const path = '/organizations/:id/setup-links';
const listedMax = 50;

export const setupLinkEndpoints: readonly Endpoint[] = [
  endpoint({
    method: 'POST',
    path,
    capability: 'organizations:write',
    summary:
      'Make a link with which somebody without an account sets up the organisation: its domains, its own provider, its sign-in rule and its tokens for SCIM. It is shown once, opens in one browser, and works for 7 days. Needs `sign-in:write`, `scim:read` and `scim:write` too',
    body: Type.Union([closed({}), Type.Undefined()]),
    answer: Type.Object({ ...described, setup_url: Type.String() }),
    status: 201,
    handle: async (call) => {
      const { services, tenant, params } = call;
      const made = await services.database.write(tenant.id, async (queries) => {
        const organization = await requireOrganization(queries, tenant.id, params['id']!);
        return makeSetupLink(queries, services, tenant, organization, byOf(call));
      });
      if (made === 'unknown') throw unknownOrganization();
      if (made === 'full') throw conflict('id', `An organisation has ${setupLinksPerOrganizationMax} such links at most: take one back.`);
      return { ...setupLinkToJson(made.link, services.clock.nowMs()), setup_url: made.url };
    },
  }),
  endpoint({
    method: 'GET',
    path,
    capability: 'organizations:read',
    summary: 'List the set-up links of an organisation, newest first, without themselves; at most 50',
    answer: listAnswer(Type.Object(described)),
    status: 200,
    handle: async ({ services, tenant, params }) => {
      const rows = await services.database.read(tenant.id, async (queries) => {
        const { id } = await requireOrganization(queries, tenant.id, params['id']!);
        return listSetupLinks(queries, tenant.id, id, listedMax);
      });
      return { items: rows.map((row) => setupLinkToJson(row, services.clock.nowMs())) };
    },
  }),
  endpoint({
    method: 'DELETE',
    path: `${path}/:link_id`,
    capability: 'organizations:write',
    summary: 'Take a set-up link back, and what it began; what was set up stays',
    answer: undefined,
    status: 204,
    handle: async (call) => {
      const { services, tenant, params } = call;
      await services.database.write(tenant.id, async (queries) => {
        const { id } = await requireOrganization(queries, tenant.id, params['id']!);
        const taken = await takeSetupLinkBack(queries, services, tenant, { organization: id, id: params['link_id']! }, byOf(call));
        if (!taken) throw notFound('unknown_setup_link');
      });
    },
  }),
];
