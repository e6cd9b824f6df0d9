// What `/organizations` shows beside the fields of one: how its domains are proven, which may be looked up.
import { checkDomains } from '../../administration/domain-proofs.ts';
import { registered } from '../../administration/registered.ts';
import type { TenantId } from '../../domain/ids.ts';
import type { Organization, organizationFields } from '../../domain/organizations/organization.ts';
import type { Queries } from '../../storage/engine/database.ts';
import { listHoldersInOrganization } from '../../storage/people/organization-members.ts';
import { listProvenDomains } from '../../storage/registry/proven-domains.ts';
import { domainProofs, proofsToJson } from '../domain-proofs.ts';
import { byOf, type Endpoint, endpoint, notFound } from '../endpoint.ts';
import { answerOf, type Besides, jsonOf, loadThing } from '../kind-endpoints.ts';

export const besideOrganization: Besides<typeof organizationFields> = {
  properties: { domain_proofs: domainProofs },
  load: async (queries, tenant, things) => {
    const named = things.flatMap(({ id, domains }) => (domains.length > 0 ? [id] : []));
    const proven = await listProvenDomains(queries, tenant.id, 'organization', named);
    return { json: (organization) => ({ domain_proofs: proofsToJson(tenant.id, organization, proven) }) };
  },
  signsIn: 'organization',
  // Whoever deletes or disables an organisation acts on its members.
  actsOn: (queries, { tenant, params }) => listHoldersInOrganization(queries, tenant.id, params['id']!),
};

export const unknownOrganization = (): Error => notFound('unknown_organization');

/** The organisation of an id. @throws management.not_found */
export async function requireOrganization(queries: Queries, tenant: TenantId, id: string): Promise<Organization> {
  const organization = await registered.organization.rows.find(queries, tenant, id);
  if (organization === undefined) throw unknownOrganization();
  return organization;
}

export const organizationEndpoints: readonly Endpoint[] = [
  endpoint({
    method: 'POST',
    path: '/organizations/:id/check-domains',
    capability: 'organizations:write',
    summary: 'Look the TXT records of its domains up: one that is there proves its domain, one that is gone no longer does',
    answer: answerOf(registered.organization, besideOrganization),
    status: 200,
    handle: async (call) => {
      const { services, tenant } = call;
      const of = registered.organization;
      const checking = { kind: 'organization', owner: await loadThing(of, call), hold: of.rows.hold } as const;
      if (!(await checkDomains(services, tenant.id, checking, byOf(call)))) throw unknownOrganization();
      const now = await loadThing(of, call);
      return (await jsonOf(of, besideOrganization, call, [now]))(now);
    },
  }),
];
