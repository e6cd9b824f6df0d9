// The capabilities of the Management API and SCIM: scopes `<resource>:read` and `<resource>:write` (design 02), and the one to let people
// in again who lost their phone (design 14, 3); and those of receivers of security events. `sign-in` is of what decides how people prove
// who they are (design 17, 2): other providers, hooks, the mail server, and the settings that say so.
import { rootTenantSlug } from '../tenant/tenant.ts';

/** What is managed, as people call it. */
const managed = {
  clients: 'applications',
  resources: 'APIs',
  users: 'people',
  groups: 'groups',
  devices: 'phones and passkeys',
  'service-providers': 'SAML applications',
  'signing-keys': 'signing keys',
  settings: 'settings',
  events: 'events',
  scim: 'the directory by SCIM',
  branding: 'the appearance of pages',
  mail: 'mails',
  domain: 'the domain',
  administrators: 'administrators and roles',
  invitations: 'invitations',
  tenants: 'tenants',
  webhooks: 'webhooks',
  connectors: 'connectors',
  'sign-in': 'how people sign in',
  organizations: 'organisations',
} as const;
type Managed = keyof typeof managed;
/** Of receivers of security events, each for its own stream; the CAEP Interoperability Profile names them so. */
const ofReceivers = ['ssf.read', 'ssf.manage'] as const;

export type Capability = `${Managed}:${'read' | 'write'}` | 'users:recover' | (typeof ofReceivers)[number];
export const capabilities: readonly Capability[] = [
  ...(Object.keys(managed) as Managed[]).flatMap((resource) => [`${resource}:read`, `${resource}:write`] as const),
  'users:recover',
  ...ofReceivers,
];

/** What whoever holds it may do, in words. */
export const capabilityWords: Readonly<Record<Capability, string>> = {
  ...(Object.fromEntries(
    Object.entries(managed).flatMap(([resource, name]) => [
      [`${resource}:read`, `See ${name}`],
      [`${resource}:write`, `Change ${name}`],
    ]),
  ) as Record<`${Managed}:${'read' | 'write'}`, string>), // each of `managed` twice
  'users:recover': 'Let people in again who lost their phone',
  'ssf.read': 'Read its own stream of security events',
  'ssf.manage': 'Manage its own stream of security events',
};

/** The same for forms. */
export const capabilityChoices: Readonly<Record<string, { readonly label: string }>> = Object.fromEntries(
  Object.entries(capabilityWords).map(([capability, label]) => [capability, { label }]),
);

/** Those that mean something in a tenant: tenants are managed in the root tenant alone. */
export const capabilitiesOfTenant = ({ slug }: { readonly slug: string }): readonly Capability[] =>
  slug === rootTenantSlug ? capabilities : capabilities.filter((capability) => !capability.startsWith('tenants:'));

const names: ReadonlySet<string> = new Set(capabilities);
/** Those of the names that are capabilities. */
export const capabilitiesIn = (scopes: readonly string[] | undefined): readonly Capability[] =>
  (scopes ?? []).filter((scope): scope is Capability => names.has(scope));
