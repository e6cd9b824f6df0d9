// What the answers of a past release and today's differ in, each with its reason.
import { byName, type GoldenAnswer } from './golden.ts';
import { withoutMembers } from './golden-json.ts';

interface Place {
  /** Paths of the answers it is in. */
  readonly where: RegExp;
  readonly reason: string;
}

/** Takes what differs out of an answer, today's or the recorded one; or out of its body, which is JSON. */
type Difference = Place & ({ readonly without: (answer: GoldenAnswer) => GoldenAnswer } | { readonly inJson: (body: unknown) => unknown });

/** Applied to both answers, so that a line hides what it names and nothing else. */
const differences: readonly Difference[] = [
  {
    where: /^/,
    reason: 'every answer forbids guessing its type, and http where the tenant has https',
    without: ({ headers: { 'x-content-type-options': _options, 'strict-transport-security': _transport, ...headers }, ...answer }) => ({
      ...answer,
      headers,
    }),
  },
  {
    where: /\/openapi\.json$/,
    reason: 'descriptions are written for readers and get better',
    inJson: (body) => withoutMembers(body, ['description', 'summary'], (value) => typeof value === 'string'),
  },
  {
    where: /\/(?:openapi\.json|signing-keys)$/,
    reason: 'SAML keys say when they may rotate and who has not read the next one; a rotation may be forced',
    inJson: (body) => withoutMembers(body, ['rotatable_at', 'stale', 'force']),
  },
  {
    where: /\/(?:openapi\.json|settings)$/,
    reason: 'single sign-on is a choice with lifetimes now; the flag of 0.1.0 did nothing, so it reads as off',
    inJson: (body) => withoutMembers(body, ['sso_session']),
  },
  {
    where: /\/openapi\.json$/,
    reason: 'codes and limits that protect people have bounds that no tenant leaves',
    inJson: (body) => withoutMembers(body, ['pin', 'rate_limits'], (value) => typeof value === 'object'),
  },
  {
    where: /\/settings$/,
    reason: 'a limit that protects people and was off is on again',
    inJson: (body) => withoutMembers(body, ['approvals_per_user']),
  },
  {
    where: /\/(?:openapi\.json|settings)$/,
    reason: 'a setting says whether tokens for a resource open UserInfo; a tenant of before has it on',
    inJson: (body) => withoutMembers(body, ['userinfo_with_resource']),
  },
  {
    where: /\/(?:openapi\.json|settings)$/,
    reason: 'a tenant may have a mail server of its own',
    inJson: (body) => withoutMembers(body, ['smtp', '/mail-server', '/mail-server/test']),
  },
  {
    where: /\/openapi\.json$/,
    reason: 'a tenant sets a domain of its own',
    inJson: (body) => withoutMembers(body, ['/domain', '/domain/check', '/domain/activate']),
  },
  {
    where: /\/(?:openapi\.json|settings)$/,
    reason: 'pushed requests of public clients have a limit',
    inJson: (body) => withoutMembers(body, ['par_requests_per_ip']),
  },
  {
    where: /\/(?:openapi\.json|settings|clients(?:\/[^/]+)?)(?:\?|$)/,
    reason: 'who lost the phone is let in again: recovery codes, and a capability that whoever has all others has too',
    inJson: (body) =>
      withoutMembers(body, [
        ...['recovery_codes', 'users:recover', '/users/{id}/recovery-codes'],
        ...['/users/{id}/recoveries', '/users/{id}/recoveries/{recovery_id}'],
      ]),
  },
  {
    where: /\/(?:openapi\.json|settings|clients(?:\/[^/]+)?)(?:\?|$)/,
    reason:
      'branding is closed fields, of which 0.1.0 read one; it is drafted and published, and whoever had every capability has those for it',
    inJson: (body) =>
      withoutMembers(body, [
        'branding',
        ...['branding:read', 'branding:write', 'mail:read', 'mail:write', 'domain:read', 'domain:write'],
        ...['/branding', '/branding/draft', '/branding/publish', '/branding/undo', '/images', '/images/{sha256}'],
        ...['/texts/{language}', '/texts/{language}/draft', '/texts/{language}/publish', '/texts/{language}/undo'],
        ...['', '/draft', '/publish', '/undo', '/preview', '/test'].map((end) => `/mails/{kind}/{language}${end}`),
        '/mails',
      ]),
  },
  {
    where: /\/(?:openapi\.json|clients(?:\/[^/]+)?)(?:\?|$)/,
    reason: 'administrators hold roles, with capabilities that whoever has all others has too',
    inJson: (body) =>
      withoutMembers(body, [
        ...['administrators:read', 'administrators:write', 'invitations:read', 'invitations:write', 'tenants:read', 'tenants:write'],
        ...['/administrators', '/me', '/roles', '/roles/{name}', '/users/{id}/roles', 'admin_roles'],
      ]),
  },
  {
    where: /\/(?:\.well-known\/[^/]+|userinfo)$/,
    reason: 'the claim picture shows the photo of a person',
    inJson: (body) => withoutMembers(body, ['picture']),
  },
  {
    where: /\/(?:openapi\.json|settings)$/,
    reason: 'people are invited by a link',
    inJson: (body) =>
      withoutMembers(body, ['invitation_lifetime_seconds', '/users/{id}/invitations', '/users/{id}/invitations/{invitation_id}']),
  },
  {
    where: /\/(?:openapi\.json|settings|devices(?:\/[^/]+)?)$/,
    reason: 'tenants may have push accounts of their own, and devices say what became of their last push',
    inJson: (body) => withoutMembers(body, ['push', '/push', '/devices/{id}/test-push', 'push_provider']),
  },
  {
    where: /\/(?:openapi\.json|settings|clients(?:\/[^/]+)?|roles)(?:\?|$)/,
    reason: 'connectors, capabilities that whoever has all others has too, rules for what connectors send, and directories of LDAP',
    inJson: (body) =>
      withoutMembers(body, [
        ...['connectors:read', 'connectors:write', '/mappings/scim'],
        ...Object.keys((body as { readonly paths?: object }).paths ?? {}).filter((path) => /^\/(?:connectors|directories)\b/.test(path)),
      ]),
  },
  {
    where: /\/(?:openapi\.json|clients(?:\/[^/]+)?)(?:\?|$)/,
    reason: 'what decides how people prove who they are, and organisations, have capabilities, which whoever has all others has too',
    inJson: (body) =>
      withoutMembers(body, [
        ...['sign-in:read', 'sign-in:write', 'organizations:read', 'organizations:write', '/users/{id}/organizations', 'organization_id'],
        ...Object.keys((body as { readonly paths?: object }).paths ?? {}).filter((path) => path.startsWith('/organization')),
      ]),
  },
  {
    where: /\/(?:openapi\.json|settings|clients(?:\/[^/]+)?)(?:\?|$)/,
    reason: 'webhooks, security events, and capabilities that whoever has all others has too',
    inJson: (body) =>
      withoutMembers(body, [
        ...['ssf.read', 'ssf.manage', '/ssf-streams', '/ssf-streams/{id}', '/ssf-streams/{id}/status', '/ssf-streams/{id}/verify'],
        ...['webhooks:read', 'webhooks:write', '/webhooks', '/webhooks/{id}', '/webhooks/{id}/secret', '/webhooks/{id}/test'],
        ...['/webhooks/{id}/replay', '/webhooks/{id}/deliveries', '/webhooks/{id}/deliveries/{delivery_id}/replay'],
      ]),
  },
  {
    where: /\/openapi\.json$/,
    reason:
      'the lists of users, clients and events have more parameters: in the order of names, by any part, with how many there are, by where a client comes from; by person, with names',
    inJson: (body) => {
      const { paths, ...rest } = body as { readonly paths: Readonly<Record<string, object>> }; // an OpenAPI document
      const lists = Object.fromEntries(['/users', '/clients'].map((path) => [path, { ...paths[path], get: 'lists' }]));
      return { ...rest, paths: { ...paths, ...lists, '/events': 'lists events' } };
    },
  },
  {
    where: /\/(?:openapi\.json|clients(?:\/[^/]+)?)(?:\?|$)/,
    reason: 'clients name who made them, and who knows their secret; a new path lists what a person knows',
    inJson: (body) => withoutMembers(body, ['created_by', 'secret_by', 'secret_at', '/users/{id}/known-secrets']),
  },
  {
    where: /\/openapi\.json$/,
    reason: 'new paths: the feed of audit records, the groups of a person, invitations of many, tokens for SCIM',
    inJson: (body) => withoutMembers(body, ['/events/feed', '/users/{id}/groups', '/invitations', '/scim-tokens', '/scim-tokens/{id}']),
  },
  {
    where: /\/openapi\.json$/,
    reason: 'new paths: sessions of browsers',
    inJson: (body) => withoutMembers(body, ['/users/{id}/browser-sessions', '/users/{id}/browser-sessions/{session_id}']),
  },
  {
    where: /\/openapi\.json$/,
    reason: 'new paths: other providers to sign in with, and who people are there',
    inJson: (body) =>
      withoutMembers(body, [
        ...['/identity-providers', '/identity-providers/{id}', '/identity-providers/{id}/check-domains'],
        ...['/users/{id}/external-identities', '/users/{id}/external-identities/{identity_id}'],
      ]),
  },
  {
    where: /\/(?:openapi\.json|clients(?:\/[^/]+)?)(?:\?|$)/,
    reason: 'a client says which APIs it is, and what it may exchange tokens for; a program speaks for itself by its key or its platform',
    inJson: (body) =>
      withoutMembers(body, [
        ...['serves', 'exchange', 'cross_app_access', 'workloads', 'federated_jwt', '/workload-issuers', '/workload-issuers/{id}'],
        ...['urn:ietf:params:oauth:grant-type:token-exchange', 'urn:ietf:params:oauth:grant-type:jwt-bearer'],
      ]),
  },
  {
    where: /\/(?:openapi\.json|clients(?:\/[^/]+)?)(?:\?|$)/,
    reason: 'clients may keep to a profile and have tokens bound to a key',
    inJson: (body) =>
      withoutMembers(body, [
        'profile',
        'dpop_bound_access_tokens',
        'require_signed_request_object',
        'tls_client_auth_subject_dn',
        'tls_client_auth_san_dns',
        'tls_client_auth_san_uri',
        'tls_client_auth_san_ip',
        'tls_client_auth_san_email',
        'tls_client_certificate_bound_access_tokens',
      ]),
  },
  {
    where: /\/(?:openapi\.json|(?:clients|service-providers)(?:\/[^/]+)?)(?:\?|$)/,
    reason: 'clients and service providers have mapping rules of their own, over tables of the tenant',
    inJson: (body) => withoutMembers(body, ['mappings', '/mappings/oidc', '/mappings/saml', '/mappings/inbound', '/mappings/preview']),
  },
  {
    where: /\/openapi\.json$/,
    reason: 'new paths: tokens for clients that register themselves',
    inJson: (body) => withoutMembers(body, ['/initial-access-tokens', '/initial-access-tokens/{id}']),
  },
  {
    where: /\/(?:openapi\.json|settings)$/,
    reason: 'tenants may turn on the device grant, whose wrong codes have a limit',
    inJson: (body) => withoutMembers(body, ['extra_grants', 'device_code_misses', 'urn:ietf:params:oauth:grant-type:device_code']),
  },
  {
    where: /\/openapi\.json$/,
    reason: 'clients may authenticate by certificates',
    without: ({ body, ...answer }) => ({ ...answer, body: body.replaceAll('"tls_client_auth","self_signed_tls_client_auth",', '') }),
  },
  {
    where: /\/saml\/metadata$/,
    reason: 'metadata names the algorithms that are understood, and every key that may sign',
    without: ({ headers: { etag: _digest, ...headers }, body, ...answer }) => ({
      ...answer,
      headers,
      body: body
        .replace(/<md:Extensions>.*?<\/md:Extensions>/s, '')
        .replace(/(<md:KeyDescriptor.*?<\/md:KeyDescriptor>)(?:<md:KeyDescriptor.*?<\/md:KeyDescriptor>)+/s, '$1'),
    }),
  },
  {
    where: /\/(openapi\.json|settings)$/,
    reason: 'tenants may say whether browsers may be phones, and which apps open their links',
    inJson: (body) => withoutMembers(body, ['web_phones', 'app_links']),
  },
  {
    where: /\/openapi\.json$/,
    reason: 'an import of metadata answers what it applied and left out, picks one of several by entity_id, and reads an address',
    inJson: (body) => withoutMembers(body, ['/service-providers/import', '/service-providers/import/address']),
  },
  {
    where: /\/(?:openapi\.json|service-providers(?:\/[^/]+)?)(?:\?|$)/,
    reason: 'service providers have more fields, may have keys of their own, and metadata that is read again',
    inJson: (body) =>
      withoutMembers(body, [
        ...[
          'name_id_sources',
          'organization',
          'signing_key',
          'metadata_url',
          'metadata_certificate',
          '/service-providers/{id}/signing-keys',
        ],
        ...['/service-providers/{id}/metadata-refresh', '/service-providers/{id}/metadata-refresh/approve'],
      ]),
  },
  {
    where: /\/scim\/v2\/Schemas$/,
    reason: 'value of ims, photos, roles and the like may be absent, and manager.displayName is read-only, as they always behaved',
    without: ({ body, ...answer }) => ({
      ...answer,
      body: body
        .replaceAll(/("name":"(?:value|displayName)",[^{}]*?)"(?:required|mutability)":(?:true|false|"\w+"),?/g, '$1')
        .replaceAll(/("name":"(?:value|displayName)",[^{}]*?)"(?:required|mutability)":(?:true|false|"\w+"),?/g, '$1'),
    }),
  },
  {
    where: /\/scim\/v2\/Users\b/,
    reason: 'primary is always shown',
    without: ({ body, ...answer }) => ({ ...answer, body: body.replaceAll(',"primary":false', '') }),
  },
  {
    where: /\/scim\/v2\/Users\b/,
    reason: 'the version of a user in groups changes with them: a digest follows its own version',
    without: ({ headers, body, ...answer }) => ({
      ...answer,
      headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, name === 'etag' ? withoutDigest(value) : value])),
      body: withoutDigest(body),
    }),
  },
  {
    where: /\/openapi\.json$|\/management\/users(\/[^/]+)?(\?|$)/,
    reason: "the attributes of SCIM's EnterpriseUser are shown and written as `enterprise` of a user",
    inJson: (body) => withoutMembers(body, ['enterprise']),
  },
  {
    where: /\/openapi\.json$|\/devices(?:\/[^/]+)?$/,
    reason: 'devices say how they keep their keys, and phones in browsers are counted',
    inJson: (body) => withoutMembers(body, ['key_protection', 'web_phones']),
  },
  {
    where: /\/\.well-known\/[^/]+$/,
    reason: 'authorization responses may be posted by a form, or signed; claims are asked for one by one; requests may be signed',
    inJson: (body) =>
      withoutMembers(body, [
        'response_modes_supported',
        'authorization_signing_alg_values_supported',
        'claims_parameter_supported',
        'request_parameter_supported',
        'request_object_signing_alg_values_supported',
        'require_signed_request_object',
        'backchannel_authentication_request_signing_alg_values_supported',
      ]),
  },
  {
    where: /\/openapi\.json$/,
    reason:
      'people and applications say when the last sign-in and token were, once there is one, and when strangers spent what they may ask of a person',
    inJson: (body) => withoutMembers(body, ['last_sign_in_at', 'last_used_at', 'attacked_at']),
  },
  {
    where: /\/(?:openapi\.json|tenants(?:[/?][^/]*)?)$/,
    reason: 'tenants say that they move to another group',
    inJson: (body) => withoutMembers(body, ['moving']),
  },
  {
    where: /\/(?:openapi\.json|groups(?:[/?][^/]*)?)$/,
    reason: 'groups may be of an identity provider, and say of which; people and groups say of which directory of LDAP',
    inJson: (body) => withoutMembers(body, ['identity_provider_id', 'identity_provider', 'directory']),
  },
  {
    where: /\/(?:openapi\.json|resources(?:[/?][^/]*)?)$/,
    reason: 'resources may be open to programs that nobody registered, and say who may use them by such',
    inJson: (body) =>
      withoutMembers(body, [
        ...['clients', 'refresh', 'unknown_access_policy', 'documentation_uri', 'is_default'],
        ...['/resources/{id}/assignments', '/resources/{id}/assignments/{assignment_id}'],
      ]),
  },
  {
    where: /\/(?:openapi\.json|clients(?:[/?][^/]*)?)$/,
    reason: 'clients that nobody registered say where they come from',
    inJson: (body) => withoutMembers(body, ['origin']),
  },
  {
    where: /\/(?:openapi\.json|settings)$/,
    reason: 'a tenant names the hosts whose programs come in without being registered, and the providers of its administrators',
    inJson: (body) => withoutMembers(body, ['client_hosts', 'administrator_providers']),
  },
  {
    where: /\/openapi\.json$/,
    reason: 'hooks: new paths',
    inJson: (body) => withoutMembers(body, ['/hooks', '/hooks/{id}', '/hooks/{id}/secret', '/hooks/{id}/test']),
  },
  {
    where: /\/openapi\.json$/,
    reason: 'tenants add attributes to their people: new paths, and `custom` of a user',
    inJson: (body) => withoutMembers(body, ['/custom-attributes', '/custom-attributes/{id}', 'custom']),
  },
  {
    where: /\/openapi\.json$/,
    reason: 'tries to sign in are listed with their reasons: a new path, and `sign_in` of what is asked about a request',
    inJson: (body) => withoutMembers(body, ['/sign-ins', 'sign_in']),
  },
  {
    where: /\/openapi\.json$/,
    reason:
      'the hosts of programs nobody registered are listed, lists of settings change word by word, a tenant follows a document: new paths',
    inJson: (body) => withoutMembers(body, ['/client-hosts', '/settings/lists', '/document']),
  },
  {
    where: /\/openapi\.json$/,
    reason:
      'service providers are a kind: their paths stand with those of the other kinds, and the fields of their bodies as in their answers',
    inJson: (body) => {
      const { paths, ...others } = body as { readonly paths: Readonly<Record<string, unknown>> };
      const inOrder = Object.entries(paths).toSorted(([one], [other]) => (one < other ? -1 : 1));
      return {
        ...others,
        paths: Object.fromEntries(inOrder.map(([path, one]) => [path, path.startsWith('/service-providers') ? byName(one) : one])),
      };
    },
  },
];

/** Without what is listed. A body is read once for all that is within its JSON: descriptions of APIs are long, and so is the list. */
export function compared(answer: GoldenAnswer): GoldenAnswer {
  let kept = answer;
  let body: { readonly json: unknown } | undefined;
  const whole = (): GoldenAnswer => (body === undefined ? kept : { ...kept, body: JSON.stringify(body.json) });
  for (const difference of differences.filter(({ where }) => where.test(answer.path))) {
    if ('inJson' in difference) body = { json: difference.inJson(body === undefined ? JSON.parse(kept.body) : body.json) };
    else {
      kept = difference.without(whole());
      body = undefined;
    }
  }
  return whole();
}

function withoutDigest(text: string): string {
  return text.replaceAll(/(W\/\\?"\d+)-[\w-]{16}(?=\\?")/g, '$1');
}
