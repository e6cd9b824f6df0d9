// What another provider says of whoever comes back, made attributes by the mapping rules (design 16, section 1), and written to the person
// those rules are for.
import type { FastifyRequest } from 'fastify';
import { setProviderGroups, type WithheldGroup } from '../../approvals/provider-groups.ts';
import { tellSpills, tellWithheldGroups } from '../../audit/mapping-spills.ts';
import type { UserId } from '../../domain/ids.ts';
import {
  type InboundValues,
  inboundColumns,
  inboundCustom,
  inboundGroups,
  inboundOf,
  inboundRoom,
  inboundRulesOf,
} from '../../domain/mappings/inbound.ts';
import { fromCustomCell, toCustomCells } from '../../domain/people/custom-attributes.ts';
import type { ExternalIdentity } from '../../domain/sign-in/external-identity.ts';
import type { IdentityProvider } from '../../domain/sign-in/identity-provider.ts';
import type { Tenant } from '../../domain/tenant/tenant.ts';
import type { Identified } from '../../federation/upstream.ts';
import type { Parts } from '../../http/services.ts';
import type { Queries } from '../../storage/engine/database.ts';
import { dialectOf } from '../../storage/engine/rows/id-list.ts';
import { ManagedByDirectory } from '../../storage/people/directories/ldap-people.ts';
import type { UserRow } from '../../storage/people/user-rows.ts';
import { changeUser, type NewUser } from '../../storage/people/user-writer.ts';
import { lockUser } from '../../storage/people/users.ts';
import { insertAuditEvent } from '../../storage/records/audit-events.ts';

/** The identity with what rules give it; a rule that would give too much gives nothing and is told of. */
export async function mapInbound(
  services: Parts<'clock' | 'database'>,
  request: FastifyRequest,
  tenant: Tenant,
  provider: IdentityProvider,
  { identity, claims }: Identified,
): Promise<ExternalIdentity> {
  const rules = inboundRulesOf(tenant.mappings.inbound, provider);
  const facts = { person: undefined, clientId: '', tenantSlug: tenant.slug, acr: undefined, upstream: claims };
  const { create, always, spilled } = inboundOf(rules, facts);
  const { bytesMax } = inboundRoom;
  const target = `identity_provider:${provider.id}`;
  await tellSpills(services, tenant, { target, place: 'sign_in', bytesMax, userId: undefined, requestId: request.id, spilled });
  return { ...identity, create, always };
}

/** What a new account starts with, beside its name and email. */
export function newFrom({ customAttributes }: Tenant, given: InboundValues): Pick<NewUser, 'profile' | 'custom'> {
  return { profile: inboundColumns(given), custom: toCustomCells(customAttributes, inboundCustom(customAttributes, given, {})) };
}

/** Writes what is given at every sign-in, where it differs from what the person has and no directory of LDAP says it. @throws ValueTaken */
export async function writeAlways(
  queries: Queries,
  { clock }: Parts<'clock'>,
  tenant: Tenant,
  identity: ExternalIdentity,
  { userId, requestId }: { readonly userId: UserId; readonly requestId: string },
): Promise<void> {
  const row = Object.keys(identity.always).length === 0 ? undefined : await lockUser(queries, dialectOf(queries), tenant.id, userId);
  if (row === undefined) return;
  const fields = await writeValues(queries, tenant, row, identity.always);
  if (fields.length === 0) return;
  await insertAuditEvent(queries, tenant.id, clock.nowMs(), {
    type: 'user.updated',
    requestId,
    actor: `provider:${identity.providerId}`,
    target: `user:${userId}`,
    data: { fields },
  });
}

/** Gives what was written. A sign-in does not fail for what a directory manages: the rest is written. */
async function writeValues(queries: Queries, tenant: Tenant, row: UserRow, given: InboundValues): Promise<readonly string[]> {
  const { customAttributes } = tenant;
  const columns = Object.entries(inboundColumns(given)).filter(([name, text]) => row[name as keyof typeof row] !== text); // columns of the row
  const before = fromCustomCell(customAttributes, row.custom);
  const custom = toCustomCells(customAttributes, inboundCustom(customAttributes, given, before));
  const isOther = custom.cell !== toCustomCells(customAttributes, before).cell;
  if (columns.length === 0 && !isOther) return [];
  try {
    await changeUser(queries, tenant.id, row.id, { profile: Object.fromEntries(columns), ...(isOther && { custom }) });
    return [...columns.map(([name]) => name), ...(isOther ? ['custom'] : [])];
  } catch (error) {
    if (!(error instanceof ManagedByDirectory)) throw error; // thrown before anything was written
    const others = Object.entries(given).filter(([path]) => !error.fields.includes(path));
    if (others.length === Object.keys(given).length) throw error;
    return writeValues(queries, tenant, row, Object.fromEntries(others));
  }
}

/** Makes the person a member of the provider's groups that these values name, and of no other of its groups; gives what was not given. */
export async function writeGroups(
  queries: Queries,
  deps: Parts<'clock'>,
  tenant: Tenant,
  { providerId }: ExternalIdentity,
  { userId, requestId, given }: { readonly userId: UserId; readonly requestId: string; readonly given: InboundValues },
): Promise<readonly WithheldGroup[]> {
  const names = inboundGroups(given);
  if (names === undefined) return [];
  return setProviderGroups(queries, deps, tenant, { providerId, userId, actor: `provider:${providerId}`, requestId }, names);
}

/** Tells administrators of groups that a provider named, and nobody came into. */
export const tellWithheld = (
  services: Parts<'clock' | 'database'>,
  { id: requestId, tenant }: FastifyRequest,
  { providerId }: ExternalIdentity,
  { withheld = [] }: { readonly withheld?: readonly WithheldGroup[] },
): Promise<void> => tellWithheldGroups(services, tenant, { providerId, requestId, groups: withheld });
