// How sign-in pages for an organisation look (design 19): its name, logo and colour in the place of the tenant's. Pure.
import type { Tenant } from '../tenant/tenant.ts';
import type { Organization } from './organization.ts';

/** The tenant as pages for the organisation draw it. A name without a logo is read, not the tenant's picture. */
export function brandedTenant(tenant: Tenant, organization: Pick<Organization, 'branding'> | undefined): Tenant {
  const { name, logo, accent } = organization?.branding ?? {};
  if (name === undefined && logo === undefined && accent === undefined) return tenant;
  const { logo: ownLogo, accent: ownAccent, accent_color: alias, accent_dark: dark, ...others } = tenant.settings.branding;
  const picture = logo ?? (name === undefined ? ownLogo : undefined);
  const colours =
    accent !== undefined
      ? { accent }
      : { ...(ownAccent && { accent: ownAccent }), ...(alias && { accent_color: alias }), ...(dark && { accent_dark: dark }) };
  const branding = { ...others, ...colours, ...(picture === undefined ? {} : { logo: picture }) };
  return { ...tenant, name: name ?? tenant.name, settings: { ...tenant.settings, branding } };
}
