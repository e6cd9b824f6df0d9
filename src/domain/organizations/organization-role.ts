// Roles in organisations (design 19), as a tenant registers them: what each gives of the tenant's APIs. A member of an organisation holds
// some of them there, and nowhere else. Pure.
import { organizationRolesMax, roleNameCharsMax, scopeNameCharsMax, scopesPerListMax, textCharsMax } from '../../contract/limits.ts';
import { field, flag, list, text } from '../field.ts';
import { defineKind, type KindFault } from '../kind.ts';
import { standardScopes } from '../oidc/standard-scopes.ts';
import { type Capability, capabilitiesIn } from '../people/capabilities.ts';
import { organizationScopes } from './tenant-organizations.ts';

/** How a role is called. */
export const organizationRoleName = {
  ...text(roleNameCharsMax),
  shape: { type: 'string', pattern: `^[a-z](?:[a-z0-9-]{0,${roleNameCharsMax - 2}}[a-z0-9])?$` },
};
const scopeName = {
  ...text(scopeNameCharsMax),
  shape: { type: 'string', minLength: 1, maxLength: scopeNameCharsMax, pattern: '^[\\x21\\x23-\\x5b\\x5d-\\x7e]+$' },
};

// biome-ignore format: a field a line or two
export const organizationRoleFields = {
  name: field('name', organizationRoleName, { required: true, write: 'create', label: 'Name',
    help: 'Lower-case letters, digits and hyphens; it never changes. Applications read it among the roles of tokens.' }),
  description: field('description', text(textCharsMax), { label: 'Description' }),
  scopes: field('scopes', list(scopeName, scopesPerListMax), { default: [], label: 'Scopes it gives', check: scopesFault,
    help: 'One a line: scopes of your APIs. People have them in an organisation where they hold a role that names them, and nowhere else.' }),
  manage: field('manage', flag, { default: false, label: 'May manage the organisation',
    help: 'A member with it sees the members on the account page, invites, removes, gives every role of this list, and connects the organisation’s own sign-in.' }),
} as const;

/** What setting an organisation up hands out: its provider, its sign-in rule, its SCIM. */
export const powerOfSetup: readonly Capability[] = ['sign-in:write', 'scim:read', 'scim:write'];
/** What whoever manages an organisation may do there: held by whoever lets somebody. */
export const powerOfManagers: readonly Capability[] = [...(['users:read', 'users:write', 'invitations:write'] as const), ...powerOfSetup];

export const organizationRoleKind = defineKind({
  noun: 'organization_role',
  plural: 'organization_roles',
  called: 'organisation role',
  fields: organizationRoleFields,
  key: 'name',
  unique: [['name', 'The name is in use.']],
  atMost: { count: organizationRolesMax, field: 'name', of: 'organisation roles' },
  power: { read: 'organizations:read', write: 'organizations:write', needs: ({ manage }) => (manage ? powerOfManagers : []) },
  searched: ({ name, description }) => [name, description],
  told: { created: ({ scopes, manage }) => ({ scopes, manage }), changed: ({ scopes, manage }) => ({ scopes, manage }) },
  defaultsLeftOut: { but: [] },
  summaries: {
    create: 'Add a role that members of organisations may hold; its scopes are given by roles alone from then on',
    list: 'List the roles of organisations, by name; `search` is a part of a name or description',
    read: 'Read a role of organisations',
    change: 'Change a role for every member who holds it',
    remove: 'Delete a role that no member holds',
  },
  pages: {
    singular: 'Organisation role',
    plural: 'Organisation roles',
    about: 'What members of an organisation may do there: a name your applications read, scopes of your APIs, and whether they manage it.',
    searchHint: 'A part of the name or description',
    title: 'name',
    deletion: 'You can’t undo this. A role that a member holds stays.',
  },
});

/** Why a role that a member holds is not deleted. */
export const heldByMemberFault = (name: string): KindFault => ({
  field: 'name',
  text: 'A member of an organisation holds this role, or whoever joins one gets it: take it from them first.',
  is: 'taken',
  inDocument: { path: [], expected: 'every organisation role that a member holds', found: `none named ${name}` },
});

function scopesFault(scopes: readonly string[]): string | undefined {
  const [capability] = capabilitiesIn(scopes);
  if (capability !== undefined) return `must not name ${capability}, which is a capability of administrators`;
  const ofSignIn: readonly string[] = [...standardScopes, ...organizationScopes];
  const standard = scopes.find((scope) => ofSignIn.includes(scope));
  return standard === undefined ? undefined : `must not name ${standard}, which is a scope of sign-in`;
}
