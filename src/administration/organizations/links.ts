// Links of an organisation that somebody of the tenant makes and takes back, over the Management API and on the command line: set-up links for
// a customer's IT, and invitations, which are made in approvals/.
import { setupLinkSeconds } from '../../contract/organization-limits.ts';
import { hashSecret } from '../../crypto/secret-hash.ts';
import type { Json } from '../../domain/field.ts';
import type { Organization } from '../../domain/organizations/organization.ts';
import { powerOfSetup } from '../../domain/organizations/organization-role.ts';
import type { Tenant } from '../../domain/tenant/tenant.ts';
import { randomSecret, uuidV7 } from '../../platform/random.ts';
import type { Queries } from '../../storage/engine/database.ts';
import { type OrganizationInvitation, revokeOrganizationInvitation } from '../../storage/organizations/invitations.ts';
import { insertSetupLink, revokeSetupLink, type SetupLink } from '../../storage/organizations/setup-links.ts';
import { type Administration, type By, recordAct } from '../administration.ts';
import { capabilitiesByDefault, capabilitiesByRules } from '../organizations.ts';
import { linkState } from './link-state.ts';

type Deps = Pick<Administration, 'clock'>;

/** A set-up link, shown once; `full`: so many work already. @throws the caller's own refusal where they lack what it hands out */
export async function makeSetupLink(
  queries: Queries,
  deps: Deps,
  tenant: Tenant,
  organization: Organization,
  by: By,
): Promise<{ readonly link: SetupLink; readonly url: string } | 'unknown' | 'full'> {
  const byRules = await capabilitiesByRules(queries, tenant.id, organization.identityProviders);
  by.require?.([...powerOfSetup, ...(await capabilitiesByDefault(queries, tenant.id, organization)), ...byRules]);
  const token = randomSecret();
  const link = await insertSetupLink(queries, tenant.id, {
    ...{ id: uuidV7(deps.clock.nowMs()), organization_id: organization.id, created_by: by.actor },
    ...{ tokenHash: hashSecret(token), lifetimeMs: setupLinkSeconds * 1000 },
  });
  if (typeof link === 'string') return link;
  const target = `organization:${organization.id}`;
  await recordAct(queries, deps, tenant.id, by, { type: 'organization.setup_link_created', target, data: { link: link.id } });
  return { link, url: `${tenant.baseUrl}/organization-setup#${token}` };
}

interface OfOrganization {
  readonly organization: string;
  readonly id: string;
}

/** Takes a link back; false when there is none that works. */
export async function takeSetupLinkBack(
  queries: Queries,
  deps: Deps,
  { id: tenant }: Tenant,
  { organization, id: link }: OfOrganization,
  by: By,
): Promise<boolean> {
  if (!(await revokeSetupLink(queries, tenant, organization, link))) return false;
  const target = `organization:${organization}`;
  await recordAct(queries, deps, tenant, by, { type: 'organization.setup_link_revoked', target, data: { link } });
  return true;
}

/** Withdraws an invitation that nobody used; false when there is none. */
export async function withdrawOrganizationInvitation(
  queries: Queries,
  deps: Deps,
  { id: tenant }: Pick<Tenant, 'id'>,
  { organization, id: invitation }: OfOrganization,
  by: By,
): Promise<boolean> {
  if (!(await revokeOrganizationInvitation(queries, tenant, organization, invitation))) return false;
  const target = `organization:${organization}`;
  await recordAct(queries, deps, tenant, by, { type: 'organization.invitation_revoked', target, data: { invitation } });
  return true;
}

const iso = (timeMs: number): string => new Date(timeMs).toISOString();

export function setupLinkToJson(link: SetupLink, nowMs: number): Json {
  const { id, created_by, created_at, expires_at, used_at, revoked_at } = link;
  const state = revoked_at !== null ? 'revoked' : expires_at <= nowMs ? 'expired' : used_at === null ? 'open' : 'used';
  return {
    ...{ id, state, created_by },
    created_at: iso(created_at),
    expires_at: iso(expires_at),
    used_at: used_at === null ? null : iso(used_at),
  };
}

export function organizationInvitationToJson(row: OrganizationInvitation, nowMs: number): Json {
  return {
    id: row.id,
    email: row.email,
    roles: JSON.parse(row.roles), // written by us
    state: linkState(row, nowMs),
    mailed: row.mailed === 1,
    created_at: iso(row.created_at),
    expires_at: iso(row.expires_at),
  };
}
