// SAML service providers beside the rows of their kind.
import type { ServiceProviderId, TenantId } from '../../domain/ids.ts';
import { ownUse, type serviceProviderFields, serviceProviderKind } from '../../domain/saml/service-provider.ts';
import type { Queries } from '../engine/database.ts';
import { deleteAssignmentsOf } from './clients/access-assignments.ts';
import { type KindTable, rowsOf } from './kind-rows.ts';
import { forgetSignIns } from './last-sign-ins.ts';

export interface ServiceProviderTable extends KindTable<typeof serviceProviderFields, ServiceProviderId> {
  entity_id_hash: string;
}

const rows = rowsOf<typeof serviceProviderFields, ServiceProviderId>(serviceProviderKind);

export const findServiceProvider = rows.find;

/** The provider of an entityID, compared byte for byte. */
export const findServiceProviderByEntityId = (queries: Queries, tenant: TenantId, entityId: string) =>
  rows.findBy(queries, tenant, 'entityId', entityId);

/** Deletes a provider, its own keys and who was assigned to it; sessions under way stay, and are refused. */
export async function deleteServiceProvider(queries: Queries, tenant: TenantId, id: ServiceProviderId): Promise<boolean> {
  await deleteAssignmentsOf(queries, tenant, { kind: 'service_provider', id });
  await queries.deleteFrom('signing_keys').where('tenant_id', '=', tenant).where('use', '=', ownUse(id)).execute();
  await forgetSignIns(queries, tenant, 'service_provider', id);
  return rows.remove(queries, tenant, id);
}

/** Whether people sign in at some provider for an organisation. */
export async function isBoundTo(queries: Queries, tenant: TenantId, organization: string): Promise<boolean> {
  const row = await queries
    .selectFrom('service_providers')
    .select('id')
    .where('tenant_id', '=', tenant)
    .where('organization', '=', organization)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}
