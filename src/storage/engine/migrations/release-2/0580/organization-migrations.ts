// The migrations of organisations, as they stand in the one history (registry.ts).
import type { Migration } from '../../migration.ts';
import { organizations } from '../0500/0580-organizations.ts';
import { addOrganizationCapabilities } from '../0500/0581-organization-capabilities.ts';
import { organizationsOfGrants } from '../0500/0582-organizations-of-grants.ts';
import { managersOfOrganizations } from '../0590/0590-managers-of-organizations.ts';
import { organizationInvitations } from '../0590/0591-organization-invitations.ts';
import { organizationsOfTries } from '../0590/0592-organizations-of-tries.ts';
import { organizationSetupLinks } from '../0590/0594-organization-setup-links.ts';
import { organizationScim } from '../0590/0597-organization-scim.ts';
import { organizationsOfServiceProviders } from '../0600/0600-organizations-of-service-providers.ts';
import { membershipsCounted } from '../0600/0607-memberships-counted.ts';
import { organizationSignIn } from './0583-organization-sign-in.ts';
import { organizationAssignments } from './0584-organization-assignments.ts';

export const organizationMigrations: readonly Migration[] = [
  { number: 580, name: 'organizations', apply: organizations },
  { number: 581, name: 'organization-capabilities', backfill: addOrganizationCapabilities },
  { number: 582, name: 'organizations-of-grants', apply: organizationsOfGrants },
  { number: 583, name: 'organization-sign-in', apply: organizationSignIn },
  { number: 584, name: 'organization-assignments', apply: organizationAssignments },
  { number: 590, name: 'managers-of-organizations', apply: managersOfOrganizations },
  { number: 591, name: 'organization-invitations', apply: organizationInvitations },
  { number: 592, name: 'organizations-of-tries', apply: organizationsOfTries },
  {
    number: 593,
    name: 'tries-by-organization',
    table: 'sign_in_tries',
    index: { columns: ['tenant_id', 'organization_id', 'started_at'], where: 'organization_id IS NOT NULL' },
  },
  { number: 594, name: 'organization-setup-links', apply: organizationSetupLinks },
  ...organizationScim,
  { number: 600, name: 'organizations-of-service-providers', apply: organizationsOfServiceProviders },
  {
    number: 601,
    name: 'service-providers-by-organization',
    table: 'service_providers',
    index: { columns: ['tenant_id', 'organization'], where: 'organization IS NOT NULL' },
  },
  { number: 607, name: 'memberships-counted', apply: membershipsCounted },
];
