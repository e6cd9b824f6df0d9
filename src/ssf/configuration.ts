// The transmitter configuration metadata of a tenant (SSF 1.0, 7.1; CAEP Interoperability Profile 1.0, 2.3).
import { deliveryMethods } from '../domain/extending/ssf-stream.ts';
import type { Tenant } from '../domain/tenant/tenant.ts';

/** Below the tenant's base_url. */
export const ssfPrefix = '/v1/ssf';

export const ssfConfiguration = ({ baseUrl }: Pick<Tenant, 'baseUrl'>): Readonly<Record<string, unknown>> => ({
  spec_version: '1_0',
  issuer: baseUrl,
  jwks_uri: `${baseUrl}/v1/idp/oidc/jwks`,
  delivery_methods_supported: Object.values(deliveryMethods),
  configuration_endpoint: `${baseUrl}${ssfPrefix}/streams`,
  status_endpoint: `${baseUrl}${ssfPrefix}/status`,
  add_subject_endpoint: `${baseUrl}${ssfPrefix}/subjects/add`,
  remove_subject_endpoint: `${baseUrl}${ssfPrefix}/subjects/remove`,
  verification_endpoint: `${baseUrl}${ssfPrefix}/verify`,
  authorization_schemes: [{ spec_urn: 'urn:ietf:rfc:6749' }],
  default_subjects: 'ALL',
});

/** Where the receiver of a stream fetches its tokens (RFC 8936). */
export const pollUrl = ({ baseUrl }: Pick<Tenant, 'baseUrl'>, stream: string): string => `${baseUrl}${ssfPrefix}/poll/${stream}`;
