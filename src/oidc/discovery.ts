// Discovery (OpenID Connect Discovery 1.0, RFC 8414): what this issuer offers, each list taken from the code that offers it.
// {base_url}/.well-known/openid-configuration, and the RFC 8414 address of an issuer with a path:
// <public-url>/.well-known/oauth-authorization-server/t/<slug>.
import type { FastifyInstance, FastifyReply } from 'fastify';
import { reject } from '../contract/contract-error.ts';
import { assertionPublicKeyAlgs, assertionSecretAlgs } from '../crypto/assertion-algorithms.ts';
import { signingAlgorithms } from '../crypto/signing.ts';
import { acrValuesSupported } from '../domain/authentication-method.ts';
import { tokenEndpointAuthMethods } from '../domain/client.ts';
import { languages } from '../domain/language.ts';
import type { Tenant } from '../domain/tenant.ts';
import type { Services } from '../http/services.ts';
import { type Handler, registerSurface } from '../http/surface.ts';
import { promptValues } from './authorization-checks.ts';
import { crossOrigin, preflight } from './cross-origin.ts';
import { grants } from './grants/registry.ts';
import { introspectionSigningAlg } from './introspection.ts';
import { standardScopes } from './scopes.ts';
import { claimsSupported } from './user-claims.ts';

export function registerDiscovery(app: FastifyInstance, services: Services): void {
  registerSurface(
    app,
    services,
    { name: 'discovery', envelope: 'oauth', prefix: '/.well-known', bodies: {}, bodyBytesMax: 0, ofTenant: true },
    (route) => {
      const own: Handler = (request, reply) => send(reply, request.tenant);
      const byPath: Handler = async (request, reply) => {
        const { slug } = request.params as { slug: string }; // the route below has this parameter
        const tenant = await services.tenants.bySlug(slug);
        // An issuer has one address: a tenant on its own domain, and the root tenant, are not found below /t/.
        if (tenant?.enabled !== true || tenant.baseUrl !== `${services.publicUrl}/t/${slug}`)
          throw reject('oauth.not_found', 'no_such_issuer');
        return send(reply, tenant);
      };
      const readable = (handler: Handler) => ({ GET: crossOrigin(handler), OPTIONS: preflight('GET') });
      route('/openid-configuration', readable(own));
      route('/oauth-authorization-server', readable(own));
      route('/oauth-authorization-server/t/:slug', readable(byPath));
    },
  );
}

function send(reply: FastifyReply, tenant: Tenant): FastifyReply {
  return reply
    .headers({ 'cache-control': 'public, max-age=300', 'content-type': 'application/json; charset=utf-8' })
    .send(metadataJson(tenant));
}

const rendered = new WeakMap<Tenant, string>();

function metadataJson(tenant: Tenant): string {
  let json = rendered.get(tenant);
  if (json === undefined) {
    json = JSON.stringify(metadataOf(tenant));
    rendered.set(tenant, json);
  }
  return json;
}

const idTokenAlgs = Object.keys(signingAlgorithms);
const assertionAlgs = [...assertionPublicKeyAlgs, ...assertionSecretAlgs];
const authMethods = { methods: tokenEndpointAuthMethods, confidential: tokenEndpointAuthMethods.filter((method) => method !== 'none') };

/** The metadata of an issuer. */
export function metadataOf(tenant: Tenant): Readonly<Record<string, unknown>> {
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
    backchannel_authentication_endpoint: endpoint('bc-authorize'),
    backchannel_token_delivery_modes_supported: ['poll', 'ping', 'push'],
    backchannel_user_code_parameter_supported: false,
    backchannel_logout_supported: true,
    backchannel_logout_session_supported: true,
    scopes_supported: standardScopes,
    response_types_supported: ['code'],
    response_modes_supported: ['query'],
    grant_types_supported: grants.map((grant) => grant.grantType),
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: idTokenAlgs,
    token_endpoint_auth_methods_supported: authMethods.methods,
    token_endpoint_auth_signing_alg_values_supported: assertionAlgs,
    introspection_endpoint_auth_methods_supported: authMethods.confidential,
    introspection_endpoint_auth_signing_alg_values_supported: assertionAlgs,
    introspection_signing_alg_values_supported: [introspectionSigningAlg],
    revocation_endpoint_auth_methods_supported: authMethods.methods,
    revocation_endpoint_auth_signing_alg_values_supported: assertionAlgs,
    code_challenge_methods_supported: ['S256'],
    dpop_signing_alg_values_supported: assertionPublicKeyAlgs,
    acr_values_supported: acrValuesSupported,
    prompt_values_supported: promptValues,
    claim_types_supported: ['normal'],
    claims_supported: ['sub', 'iss', 'aud', 'exp', 'iat', 'auth_time', 'acr', 'amr', 'nonce', 'sid', ...claimsSupported],
    claims_parameter_supported: false,
    request_parameter_supported: false,
    request_uri_parameter_supported: false,
    authorization_response_iss_parameter_supported: true,
    ui_locales_supported: languages,
  };
}
