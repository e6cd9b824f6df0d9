// Roles of administrators (design 13, 4): the four that every tenant has, the table of fields of those a tenant adds, and what somebody
// who holds some may do. Pure.
import { roleNameCharsMax, textCharsMax } from '../../contract/limits.ts';
import { type ChangeOf, choice, field, list, text, type ValuesOf } from '../field.ts';
import { type Capability, capabilities } from './capabilities.ts';

/** One must remain in a tenant that has one. */
export const ownerRole = 'owner';
/** What `role: admin` of a person gives. */
export const adminRole = 'admin';

const notAdmin: ReadonlySet<Capability> = new Set(['administrators:write', 'domain:write']);
const reads = capabilities.filter((capability) => capability.endsWith(':read'));

export interface BuiltInRole {
  readonly name: string;
  readonly description: string;
  readonly capabilities: readonly Capability[];
}

// biome-ignore format: a role a few lines
export const builtInRoles: readonly BuiltInRole[] = [
  { name: ownerRole, description: 'Everything. One owner must remain.', capabilities },
  { name: adminRole, description: 'Everything but administrators, roles and the domain, which it only reads.',
    capabilities: capabilities.filter((capability) => !notAdmin.has(capability)) },
  { name: 'support', description: 'Helps people: reads people, groups, clients and events; changes people, their devices and invitations.',
    capabilities: ['users:read', 'users:write', 'groups:read', 'clients:read', 'events:read', 'devices:read', 'devices:write', 'invitations:read', 'invitations:write'] },
  { name: 'auditor', description: 'Reads everything, changes nothing.', capabilities: reads },
];

const builtIn: ReadonlyMap<string, BuiltInRole> = new Map(builtInRoles.map((role) => [role.name, role]));
export const builtInRole = (name: string): BuiltInRole | undefined => builtIn.get(name);

const roleName = {
  ...text(roleNameCharsMax),
  shape: { type: 'string', pattern: `^[a-z](?:[a-z0-9-]{0,${roleNameCharsMax - 2}}[a-z0-9])?$` },
};

// biome-ignore format: a field a line or two
export const roleFields = {
  name: field('name', roleName, { required: true, write: 'create', label: 'Name', check: nameFault,
    help: 'Lower-case letters, digits and hyphens; it never changes.' }),
  description: field('description', text(textCharsMax), { label: 'Description' }),
  capabilities: field('capabilities', list(choice(capabilities)), { default: [], label: 'What its holders may do' }),
} as const;

export type RoleValues = ValuesOf<typeof roleFields>;
export type RoleChange = ChangeOf<typeof roleFields>;

/** A role a tenant added. */
export interface Role extends RoleValues {
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}

/** A role somebody holds, with the capabilities of one the tenant added. */
export interface HeldRole {
  readonly name: string;
  readonly custom: readonly Capability[] | undefined;
}

/** What holders of all these roles may do, in the order of the capabilities. */
export function capabilitiesOfRoles(held: readonly HeldRole[]): readonly Capability[] {
  const allowed = new Set(held.flatMap(({ name, custom }) => custom ?? builtInRole(name)?.capabilities ?? []));
  return capabilities.filter((capability) => allowed.has(capability));
}

function nameFault(name: string): string | undefined {
  return builtIn.has(name) ? 'must not be the name of a role that every tenant has' : undefined;
}
