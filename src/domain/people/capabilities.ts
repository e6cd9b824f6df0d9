// The capabilities of the Management API and SCIM: scopes `<resource>:read` and `<resource>:write` (design 02), and the one to let people
// in again who lost their phone (design 14, 3); and those of receivers of security events. `sign-in` is of what decides how people prove
// who they are (design 17, 2): other providers, hooks, the mail server, and the settings that say so.
import { rootTenantSlug } from '../tenant/tenant.ts';

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
  'branding',
  'mail',
  'domain',
  'administrators',
  'invitations',
  'tenants',
  'webhooks',
  'connectors',
  'sign-in',
  'organizations',
] as const;
/** Of receivers of security events, each for its own stream; the CAEP Interoperability Profile names them so. */
const ofReceivers = ['ssf.read', 'ssf.manage'] as const;

export type Capability = `${(typeof managed)[number]}:${'read' | 'write'}` | 'users:recover' | (typeof ofReceivers)[number];
export const capabilities: readonly Capability[] = [
  ...managed.flatMap((resource) => [`${resource}:read`, `${resource}:write`] as const),
  'users:recover',
  ...ofReceivers,
];

/** Those that mean something in a tenant: tenants are managed in the root tenant alone. */
export const capabilitiesOfTenant = ({ slug }: { readonly slug: string }): readonly Capability[] =>
  slug === rootTenantSlug ? capabilities : capabilities.filter((capability) => !capability.startsWith('tenants:'));

const names: ReadonlySet<string> = new Set(capabilities);
/** Those of the names that are capabilities. */
export const capabilitiesIn = (scopes: readonly string[] | undefined): readonly Capability[] =>
  (scopes ?? []).filter((scope): scope is Capability => names.has(scope));
