// The names and addresses of a tenant as a SAML identity provider.
import type { Tenant } from '../domain/tenant/tenant.ts';

export const samlPrefix = '/v1/idp/saml';

/** Our entityID: the address of our metadata. */
export const idpEntityId = (tenant: Tenant): string => `${tenant.baseUrl}${samlPrefix}/metadata`;
export const ssoUrl = (tenant: Tenant): string => `${tenant.baseUrl}${samlPrefix}/sso`;
