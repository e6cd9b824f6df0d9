// Roles of administrators (design 13, 4): the four that every tenant has, the table of fields of those a tenant adds, and what somebody
// who holds some may do. Pure.
import { roleNameCharsMax, textCharsMax } from '../../contract/limits.ts';
import { choice, field, list, text, type ValuesOf } from '../field.ts';
import { type Context, defineKind, type KindFault, type Thing } from '../kind.ts';
import { type Capability, capabilities, capabilitiesOfTenant, capabilityChoices } from './capabilities.ts';

/** One must remain in a tenant that has one. */
export const ownerRole = 'owner';
/** What `role: admin` of a person gives. */
export const adminRole = 'admin';

const notAdmin: ReadonlySet<Capability> = new Set(['administrators:write', 'domain:write']);
const reads = capabilities.filter((capability) => capability.endsWith(':read'));

interface BuiltInRole {
  readonly name: string;
  readonly description: string;
  readonly capabilities: readonly Capability[];
}

// biome-ignore format: a role a few lines
export const builtInRoles: readonly BuiltInRole[] = [
  { name: ownerRole, description: 'Everything. One owner must remain.', capabilities },
  { name: adminRole, description: 'Everything but administrators, roles and the domain, which it only reads.',
    capabilities: capabilities.filter((capability) => !notAdmin.has(capability)) },
  { name: 'support', description: 'Helps people: reads people, groups, applications and events; changes people, their phones and invitations.',
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
  capabilities: field('capabilities', list(choice(capabilities, capabilityChoices)), { default: [], label: 'What its holders may do' }),
} as const;

type RoleValues = ValuesOf<typeof roleFields>;

/** A role a tenant added. */
export type Role = Thing<typeof roleFields>;

export const roleKind = defineKind({
  noun: 'role',
  plural: 'roles',
  called: 'role',
  fields: roleFields,
  key: 'name',
  unique: [['name', 'The name is in use.']],
  always: {
    mark: 'built_in',
    description: 'every tenant has it; it cannot be changed',
    things: ofEveryTenant,
    fault: { field: 'name', text: 'Every tenant has this role: it cannot be changed.', is: 'taken' },
  },
  rules: foreignFault,
  power: { read: 'administrators:read', write: 'administrators:write', needs: ({ capabilities: allowed }) => allowed },
  searched: ({ name, description }) => [name, description],
  told: {
    created: ({ capabilities: allowed }) => ({ capabilities: allowed }),
    changed: ({ capabilities: allowed }) => ({ capabilities: allowed }),
  },
  summaries: {
    create: 'Add a role; the caller needs every capability it allows',
    list: 'List the roles: first those every tenant has, then its own by name; `search` is a part of a name or description',
    read: 'Read a role',
    change: 'Change a role of the tenant for everybody who holds it; the caller needs every capability it allows, before and after',
    remove: 'Delete a role of the tenant that nobody holds',
  },
  pages: {
    singular: 'Role',
    plural: 'Roles',
    about: 'What administrators may do: a set of capabilities.',
    searchHint: 'A part of the name or description',
    title: 'name',
    deletion: 'You can’t undo this. A role that somebody holds stays.',
  },
});

/** Why a role that somebody holds is not deleted. */
export const heldFault = (name: string): KindFault => ({
  field: 'name',
  text: 'Somebody holds this role: take it from them first.',
  is: 'taken',
  inDocument: { path: [], expected: 'every role that somebody holds', found: `none named ${name}` },
});

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

/** The roles that every tenant has, with those of their capabilities that this one has. */
function ofEveryTenant(tenant: Context['tenant']) {
  const known = capabilitiesOfTenant(tenant);
  return builtInRoles.map((role) => ({ ...role, capabilities: known.filter((capability) => role.capabilities.includes(capability)) }));
}

function foreignFault({ capabilities: allowed }: RoleValues, { tenant }: Context): KindFault | undefined {
  const known: readonly Capability[] = capabilitiesOfTenant(tenant);
  const at = allowed.findIndex((capability) => !known.includes(capability));
  if (at < 0) return undefined;
  const found = allowed[at];
  const inDocument = { path: ['capabilities', at], expected: 'a capability of this tenant', found };
  return { field: 'capabilities', text: `names ${found}, which only the root tenant has`, inDocument };
}

function nameFault(name: string): string | undefined {
  return builtIn.has(name) ? 'must not be the name of a role that every tenant has' : undefined;
}
