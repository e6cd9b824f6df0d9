// The migrations of the first release. None changes any more.
import type { Migration } from '../migration.ts';

export const releaseOne: readonly Migration[] = [
  { number: 1, name: 'foundation', apply: async (context) => (await import('./0001-foundation.ts')).foundation(context) },
  { number: 2, name: 'signin', apply: async (context) => (await import('./0002-signin.ts')).signin(context) },
  { number: 3, name: 'oidc', apply: async (context) => (await import('./0003-oidc.ts')).oidc(context) },
  { number: 4, name: 'devices', apply: async (context) => (await import('./0004-devices.ts')).devices(context) },
  { number: 5, name: 'management', apply: async (context) => (await import('./0005-management.ts')).management(context) },
  { number: 6, name: 'saml', apply: async (context) => (await import('./0006-saml.ts')).saml(context) },
  { number: 8, name: 'provisioning', apply: async (context) => (await import('./0008-provisioning.ts')).provisioning(context) },
  { number: 9, name: 'push', apply: async (context) => (await import('./0009-push.ts')).push(context) },
  { number: 40, name: 'oidc-clients', apply: async (context) => (await import('./0040-oidc-clients.ts')).oidcClients(context) },
  { number: 50, name: 'passkeys', apply: async (context) => (await import('./0050-passkeys.ts')).passkeys(context) },
  { number: 51, name: 'account', apply: async (context) => (await import('./0051-account.ts')).account(context) },
  { number: 53, name: 'activity', apply: async (context) => (await import('./0053-activity.ts')).activity(context) },
  {
    number: 54,
    name: 'approval-claims',
    apply: async (context) => (await import('./0054-approval-claims.ts')).approvalClaims(context),
  },
  { number: 60, name: 'lookups', apply: async (context) => (await import('./0060-lookups.ts')).lookups(context) },
];
