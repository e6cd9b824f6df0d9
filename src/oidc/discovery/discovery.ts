// Discovery (OpenID Connect Discovery 1.0, RFC 8414): what this issuer offers, each list taken from the code that offers it.
// {base_url}/.well-known/openid-configuration, and the RFC 8414 address of an issuer with a path:
// <public-url>/.well-known/oauth-authorization-server/t/<slug>; openid-configuration lies there too, because clients of agents try both
// (RFC 8414 5). The metadata of the transmitter of security events lies beside it (SSF 1.0, 7.2).
import type { FastifyInstance, FastifyReply } from 'fastify';
import { reject } from '../../contract/contract-error.ts';

import { assertionPublicKeyAlgs, assertionSecretAlgs } from '../../crypto/assertion-algorithms.ts';
import { signingAlgorithms } from '../../crypto/signing/signing.ts';
import { tokenEndpointAuthMethods } from '../../domain/client/client.ts';
import { publishedResourcesMax, publishedScopesMax, type Resource, strangerScopes } from '../../domain/client/resource.ts';
import { languages } from '../../domain/language.ts';
import { responseModes } from '../../domain/oidc/authorization-response.ts';
import {
  deviceCodeGrantType,
  exchangeGrantType,
  grantTypeNames,
  isOffered,
  jwtBearerGrantType,
  registrationName,
} from '../../domain/oidc/grant-types.ts';
import { standardScopes } from '../../domain/oidc/standard-scopes.ts';
import { organizationClaims, organizationScopes } from '../../domain/organizations/tenant-organizations.ts';
import { acrValuesSupported } from '../../domain/sign-in/login-methods.ts';
import type { Tenant } from '../../domain/tenant/tenant.ts';
import { findTenant } from '../../http/request-tenant.ts';
import type { Parts } from '../../http/services.ts';
import { type Handler, type Route, registerSurface, type SurfaceDeps } from '../../http/surface.ts';
import { tenantClosed } from '../../http/surface-errors.ts';
import { ssfConfiguration } from '../../ssf/configuration.ts';
import { publishedAgeMsMax } from '../../storage/engine/config/config-pulse.ts';
import { listOpenResources } from '../../storage/registry/clients/resources.ts';
import { promptValues } from '../authorize/authorization-checks.ts';
import { identityAssertionProfile, listCrossAppProviders } from '../client/cross-app-assertion.ts';
import { crossOrigin, preflight } from '../cross-origin.ts';
import { identityAssertionType } from '../grants/identity-assertion.ts';
import { introspectionSigningAlg } from '../introspection.ts';
import { claimsSupported } from '../user-claims.ts';
import { mtlsMetadata, offeredAuthMethods } from './mtls-metadata.ts';

const published = [
  '/openid-configuration',
  '/openid-configuration/t/:slug',
  '/oauth-authorization-server',
  '/oauth-authorization-server/t/:slug',
  '/ssf-configuration',
  '/ssf-configuration/t/:slug',
] as const;
type Send = (reply: FastifyReply, tenant: Tenant) => FastifyReply | Promise<FastifyReply>;

/** @param more adds what else lies at /.well-known */
export function registerDiscovery(app: FastifyInstance, services: SurfaceDeps, more: (route: Route) => void): void {
  registerSurface(
    app,
    services,
    { name: 'discovery', envelope: 'oauth', prefix: '/.well-known', bodies: {}, bodyBytesMax: 0, ofTenant: true, published },
    (route) => {
      const own =
        (send: Send): Handler =>
        (request, reply) =>
          send(reply, request.tenant);
      const byPath =
        (send: Send): Handler =>
        async (request, reply) => {
          const { slug } = request.params as { slug: string }; // the route below has this parameter
          const admit = (): (() => void) => services.admitLookUp(request.clientAddress, 'oauth');
          const tenant = await findTenant(services, { kind: 'slug', slug }, { ageMsMax: publishedAgeMsMax, admit });
          // An issuer has one address: a tenant on its own domain, and the root tenant, are not found below /t/.
          if (tenant?.enabled !== true || tenant.baseUrl !== `${services.publicUrl}/t/${slug}`)
            throw reject('oauth.not_found', 'no_such_issuer');
          if (tenant.isMoving) throw tenantClosed('oauth');
          return send(reply, tenant);
        };
      const issuer: Send = async (reply, tenant) => sendJson(reply, await metadataJson(services, tenant));
      const transmitter: Send = (reply, tenant) => sendJson(reply, JSON.stringify(ssfConfiguration(tenant)));
      const readable = (handler: Handler) => ({ GET: crossOrigin(handler), OPTIONS: preflight('GET') });
      route('/openid-configuration', readable(own(issuer)));
      route('/openid-configuration/t/:slug', readable(byPath(issuer)));
      route('/oauth-authorization-server', readable(own(issuer)));
      route('/oauth-authorization-server/t/:slug', readable(byPath(issuer)));
      route('/ssf-configuration', readable(own(transmitter)));
      route('/ssf-configuration/t/:slug', readable(byPath(transmitter)));
      more(route);
    },
  );
}

const sendJson = (reply: FastifyReply, json: string): FastifyReply =>
  reply.headers({ 'cache-control': 'public, max-age=300', 'content-type': 'application/json; charset=utf-8' }).send(json);

interface Rendered {
  readonly open: readonly Resource[];
  readonly takesAssertions: boolean;
  readonly json: string;
}
const rendered = new WeakMap<Tenant, Rendered>();

async function metadataJson({ config, cache }: Parts<'cache' | 'config'>, tenant: Tenant): Promise<string> {
  const open = await listOpenResources(cache, tenant.id, publishedAgeMsMax);
  const takesAssertions =
    isOffered(jwtBearerGrantType, tenant.settings.extra_grants) &&
    (await listCrossAppProviders(cache, tenant, publishedAgeMsMax)).length > 0;
  const known = rendered.get(tenant);
  if (known?.open === open && known.takesAssertions === takesAssertions) return known.json;
  const metadata = {
    ...metadataOf(config, tenant),
    ...metadataOfOpen(open),
    ...(takesAssertions && { authorization_grant_profiles_supported: [identityAssertionProfile] }), // identity assertion grant 7.2
  };
  const json = JSON.stringify({ ...metadata, ...mtlsMetadata(config, tenant, metadata) });
  rendered.set(tenant, { open, takesAssertions, json });
  return json;
}

/** What a tenant says whose resources are for clients that nobody registered: where they may go, and by what. */
function metadataOfOpen(open: readonly Resource[]): Readonly<Record<string, unknown>> {
  if (open.length === 0) return {};
  const scopes = new Set([...strangerScopes, ...open.flatMap((resource) => resource.scopes.map(({ name }) => name))]);
  return {
    scopes_supported: [...scopes].slice(0, publishedScopesMax),
    client_id_metadata_document_supported: true,
    protected_resources: open.slice(0, publishedResourcesMax).map(({ identifier }) => identifier), // RFC 9728 4
  };
}

const idTokenAlgs = Object.keys(signingAlgorithms);
const assertionAlgs = [...assertionPublicKeyAlgs, ...assertionSecretAlgs];

/** The metadata of an issuer. */
function metadataOf(config: Parts<'config'>['config'], tenant: Tenant): Readonly<Record<string, unknown>> {
  const methods = offeredAuthMethods(config, tokenEndpointAuthMethods);
  const endpoint = (name: string): string => `${tenant.baseUrl}/v1/idp/oidc/${name}`;
  return {
    issuer: tenant.baseUrl,
    authorization_endpoint: endpoint('authorize'),
    token_endpoint: endpoint('token'),
    jwks_uri: endpoint('jwks'),
    userinfo_endpoint: endpoint('userinfo'),
    end_session_endpoint: endpoint('logout'),
    introspection_endpoint: endpoint('introspect'),
    revocation_endpoint: endpoint('revoke'),
    pushed_authorization_request_endpoint: endpoint('par'),
    require_pushed_authorization_requests: false,
    ...(isOffered(deviceCodeGrantType, tenant.settings.extra_grants) && {
      device_authorization_endpoint: endpoint('device-authorization'),
    }),
    ...(tenant.settings.extra_grants.includes(registrationName) && { registration_endpoint: endpoint('register') }),
    backchannel_authentication_endpoint: endpoint('bc-authorize'),
    backchannel_token_delivery_modes_supported: ['poll', 'ping', 'push'],
    backchannel_authentication_request_signing_alg_values_supported: assertionPublicKeyAlgs,
    backchannel_user_code_parameter_supported: false,
    backchannel_logout_supported: true,
    backchannel_logout_session_supported: true,
    scopes_supported: tenant.organizations.exist ? [...standardScopes, ...organizationScopes] : standardScopes,
    response_types_supported: ['code'],
    response_modes_supported: responseModes,
    ...(isOffered(exchangeGrantType, tenant.settings.extra_grants) && {
      identity_chaining_requested_token_types_supported: [identityAssertionType], // identity assertion grant 7.1
    }),
    grant_types_supported: grantTypeNames.filter((type) => isOffered(type, tenant.settings.extra_grants)),
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: idTokenAlgs,
    token_endpoint_auth_methods_supported: methods,
    token_endpoint_auth_signing_alg_values_supported: assertionAlgs,
    introspection_endpoint_auth_methods_supported: methods.filter((method) => method !== 'none'),
    introspection_endpoint_auth_signing_alg_values_supported: assertionAlgs,
    introspection_signing_alg_values_supported: [introspectionSigningAlg],
    revocation_endpoint_auth_methods_supported: methods,
    revocation_endpoint_auth_signing_alg_values_supported: assertionAlgs,
    authorization_signing_alg_values_supported: idTokenAlgs,
    code_challenge_methods_supported: ['S256'],
    dpop_signing_alg_values_supported: assertionPublicKeyAlgs,
    acr_values_supported: acrValuesSupported,
    prompt_values_supported: promptValues,
    claim_types_supported: ['normal'],
    claims_supported: [
      ...['sub', 'iss', 'aud', 'exp', 'iat', 'auth_time', 'acr', 'amr', 'nonce', 'sid'],
      ...new Set([...claimsSupported(tenant), ...(tenant.organizations.exist ? organizationClaims : [])]),
    ],
    claims_parameter_supported: true,
    request_parameter_supported: true,
    request_object_signing_alg_values_supported: assertionPublicKeyAlgs,
    require_signed_request_object: false,
    request_uri_parameter_supported: false,
    authorization_response_iss_parameter_supported: true,
    ui_locales_supported: languages,
  };
}
