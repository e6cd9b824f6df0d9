// Giving roles (design 13, 4): whoever gives one has `administrators:write` and every capability it allows, so that nobody makes
// themselves or others stronger than they are.
import Type from 'typebox';
import { roleNameCharsMax, rolesPerPersonMax } from '../../contract/limits.ts';
import { type Capability, capabilitiesOfTenant } from '../../domain/people/capabilities.ts';
import { builtInRole, capabilitiesOfRoles } from '../../domain/people/role.ts';
import { listRolesByName } from '../../storage/registry/roles.ts';
import { type Call, invalidField, requireCapabilities } from '../endpoint.ts';

/** What giving and taking roles needs, whichever they are. */
export const grants: Capability = 'administrators:write';

export const roleNames = Type.Array(Type.String({ minLength: 1, maxLength: roleNameCharsMax }), { maxItems: rolesPerPersonMax });

/** @throws management.forbidden, management.invalid_request for a role the tenant does not have */
export async function requireMayGrant(
  { services, tenant, scopes }: Pick<Call<unknown, unknown>, 'services' | 'tenant' | 'scopes'>,
  names: readonly string[],
): Promise<void> {
  if (names.length === 0) return;
  requireCapabilities([grants], scopes);
  const own = names.filter((name) => builtInRole(name) === undefined);
  const custom = await services.database.read(tenant.id, (queries) => listRolesByName(queries, tenant.id, own));
  const unknown = own.find((name) => !custom.some((role) => role.name === name));
  if (unknown !== undefined) throw invalidField('roles', 'This field names a role the tenant does not have.', unknown);
  const known: ReadonlySet<string> = new Set(capabilitiesOfTenant(tenant));
  const given = names.map((name) => ({ name, custom: custom.find((role) => role.name === name)?.capabilities }));
  requireCapabilities(
    capabilitiesOfRoles(given).filter((capability) => known.has(capability)),
    scopes,
  );
}
