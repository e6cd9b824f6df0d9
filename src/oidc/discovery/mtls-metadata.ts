// What discovery says of clients with certificates (RFC 8705 3.3, 5), where this server can see certificates at all.

import { isCertificateMethod } from '../../domain/client/tls-client-auth.ts';
import { rootTenantSlug, type Tenant } from '../../domain/tenant/tenant.ts';
import type { Parts } from '../../http/services.ts';

type MtlsConfig = Pick<Parts<'config'>['config'], 'mtlsHeader' | 'mtlsListen' | 'mtlsUrl'>;
type Metadata = Readonly<Record<string, unknown>>;

const seesCertificates = ({ mtlsHeader, mtlsListen }: MtlsConfig): boolean => (mtlsHeader ?? mtlsListen) !== undefined;

/** Methods this server can take. */
export const offeredAuthMethods = (config: MtlsConfig, methods: readonly string[]): readonly string[] =>
  seesCertificates(config) ? methods : methods.filter((method) => !isCertificateMethod(method));

/** Endpoints a client calls itself. */
const aliased = [
  'token_endpoint',
  'userinfo_endpoint',
  'introspection_endpoint',
  'revocation_endpoint',
  'pushed_authorization_request_endpoint',
  'backchannel_authentication_endpoint',
  'device_authorization_endpoint',
  'registration_endpoint',
] as const;

/** Where clients of a tenant come with certificates; undefined: to the same address as everybody. */
function aliasOf(config: MtlsConfig, tenant: Tenant): string | undefined {
  const { mtlsUrl } = config;
  if (mtlsUrl === undefined || !seesCertificates(config)) return undefined;
  return tenant.slug === rootTenantSlug ? mtlsUrl : `${mtlsUrl}/t/${tenant.slug}`;
}

/** Every address the endpoints of a tenant have: its own, and the one for certificates. */
export function addressesOf(config: MtlsConfig, tenant: Tenant): readonly string[] {
  const alias = aliasOf(config, tenant);
  return alias === undefined ? [tenant.baseUrl] : [tenant.baseUrl, alias];
}

/** That tokens can be bound to certificates, and where clients come with theirs. */
export function mtlsMetadata(config: MtlsConfig, tenant: Tenant, metadata: Metadata): Metadata {
  if (!seesCertificates(config)) return {};
  const base = aliasOf(config, tenant);
  if (base === undefined) return { tls_client_certificate_bound_access_tokens: true };
  const aliases = aliased.flatMap((name) => {
    const endpoint = metadata[name];
    return typeof endpoint === 'string' ? [[name, `${base}${endpoint.slice(tenant.baseUrl.length)}`] as const] : [];
  });
  return { tls_client_certificate_bound_access_tokens: true, mtls_endpoint_aliases: Object.fromEntries(aliases) };
}
