// The capabilities of the Management API and SCIM: scopes `<resource>:read` and `<resource>:write` (design 02).

const managed = [
  'clients',
  'resources',
  'users',
  'groups',
  'devices',
  'service-providers',
  'signing-keys',
  'settings',
  'events',
  'scim',
] as const;

export type Capability = `${(typeof managed)[number]}:${'read' | 'write'}`;
export const capabilities: readonly Capability[] = managed.flatMap((resource) => [`${resource}:read`, `${resource}:write`] as const);
