// `/organizations/{id}/setup-links`: a link for a customer's IT, who have no account, by which they connect their company and do nothing else.
import Type from 'typebox';
import { capabilitiesByDefault } from '../../administration/organizations.ts';
import { setupLinkSeconds, setupLinksPerOrganizationMax } from '../../contract/organization-limits.ts';
import { hashSecret } from '../../crypto/secret-hash.ts';
import { powerOfSetup } from '../../domain/organizations/organization-role.ts';
import { randomSecret, uuidV7 } from '../../platform/random.ts';
import { insertSetupLink, listSetupLinks, revokeSetupLink, type SetupLink } from '../../storage/organizations/setup-links.ts';
import { audit, conflict, type Endpoint, endpoint, isoTime, type Json, notFound, requireCapabilities } from '../endpoint.ts';
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
      'Make a link by which somebody without an account sets the organisation up: its domains, its own provider, its sign-in rule and its tokens for SCIM. It is shown once, opens in one browser, and works for 7 days. Needs `sign-in:write`, `scim:read` and `scim:write` too',
    body: Type.Union([closed({}), Type.Undefined()]),
    answer: Type.Object({ ...described, setup_url: Type.String() }),
    status: 201,
    handle: async (call) => {
      const { services, tenant, params, scopes, actor } = call;
      requireCapabilities(powerOfSetup, scopes);
      const token = randomSecret();
      const made = await services.database.write(tenant.id, async (queries) => {
        const organization = await requireOrganization(queries, tenant.id, params['id']!);
        requireCapabilities(await capabilitiesByDefault(queries, tenant.id, organization), scopes);
        const link = await insertSetupLink(queries, tenant.id, {
          ...{ id: uuidV7(services.clock.nowMs()), organization_id: organization.id, created_by: actor },
          ...{ tokenHash: hashSecret(token), lifetimeMs: setupLinkSeconds * 1000 },
        });
        if (link === 'unknown') throw unknownOrganization();
        if (link === 'full') throw conflict('id', `An organisation has ${setupLinksPerOrganizationMax} such links at most: take one back.`);
        const target = `organization:${organization.id}`;
        await audit(call, queries, { type: 'organization.setup_link_created', target, data: { link: link.id } });
        return link;
      });
      return { ...describe(made, services.clock.nowMs()), setup_url: `${tenant.baseUrl}/organization-setup#${token}` };
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
      return { items: rows.map((row) => describe(row, services.clock.nowMs())) };
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
        const link = params['link_id']!;
        if (!(await revokeSetupLink(queries, tenant.id, id, link))) throw notFound('unknown_setup_link');
        await audit(call, queries, { type: 'organization.setup_link_revoked', target: `organization:${id}`, data: { link } });
      });
    },
  }),
];

function describe(link: SetupLink, nowMs: number): Json {
  const { id, created_by, created_at, expires_at, used_at, revoked_at } = link;
  const state = revoked_at !== null ? 'revoked' : expires_at <= nowMs ? 'expired' : used_at === null ? 'open' : 'used';
  return {
    ...{ id, state, created_by },
    created_at: isoTime(created_at),
    expires_at: isoTime(expires_at),
    used_at: used_at === null ? null : isoTime(used_at),
  };
}
