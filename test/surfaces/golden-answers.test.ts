// Every answer of a past release is given by today's code on that release's database, byte for byte, headers included. What
// has changed since is listed here with its reason; nothing else may.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { databases } from '../support/databases.ts';
import { askGolden, type GoldenAnswer, goldenReleases, readGoldenAnswers, readGoldenSecrets } from '../support/golden.ts';
import { type GoldenServer, startGoldenServer } from '../support/golden-server.ts';

interface Difference {
  /** Paths of the answers it is in. */
  readonly where: RegExp;
  readonly reason: string;
  /** Takes what differs out of an answer, today's or the recorded one. */
  readonly without: (answer: GoldenAnswer) => GoldenAnswer;
}

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
    without: inJson((body) => withoutMembers(body, ['description', 'summary'], (value) => typeof value === 'string')),
  },
  {
    where: /\/(?:openapi\.json|signing-keys)$/,
    reason: 'SAML keys say when they may rotate and who has not read the next one; a rotation may be forced',
    without: inJson((body) => withoutMembers(body, ['rotatable_at', 'stale', 'force'])),
  },
  {
    where: /\/(?:openapi\.json|settings)$/,
    reason: 'single sign-on is a choice with lifetimes now; the flag of 0.1.0 did nothing, so it reads as off',
    without: inJson((body) => withoutMembers(body, ['sso_session'])),
  },
  {
    where: /\/(?:openapi\.json|settings)$/,
    reason: 'a tenant may have a mail server of its own',
    without: inJson((body) => withoutMembers(body, ['smtp', '/mail-server', '/mail-server/test'])),
  },
  {
    where: /\/openapi\.json$/,
    reason: 'a tenant sets a domain of its own',
    without: inJson((body) => withoutMembers(body, ['/domain', '/domain/check', '/domain/activate'])),
  },
  {
    where: /\/(?:openapi\.json|settings)$/,
    reason: 'pushed requests of public clients have a limit',
    without: inJson((body) => withoutMembers(body, ['par_requests_per_ip'])),
  },
  {
    where: /\/(?:openapi\.json|settings|clients(?:\/[^/]+)?)(?:\?|$)/,
    reason: 'who lost the phone is let in again: recovery codes, and a capability that whoever has all others has too',
    without: inJson((body) =>
      withoutMembers(body, [
        ...['recovery_codes', 'users:recover', '/users/{id}/recovery-codes'],
        ...['/users/{id}/recoveries', '/users/{id}/recoveries/{recovery_id}'],
      ]),
    ),
  },
  {
    where: /\/(?:openapi\.json|settings|clients(?:\/[^/]+)?)(?:\?|$)/,
    reason:
      'branding is closed fields, of which 0.1.0 read one; it is drafted and published, and whoever had every capability has those for it',
    without: inJson((body) =>
      withoutMembers(body, [
        'branding',
        ...['branding:read', 'branding:write', 'mail:read', 'mail:write', 'domain:read', 'domain:write'],
        ...['/branding', '/branding/draft', '/branding/publish', '/branding/undo', '/images', '/images/{sha256}'],
        ...['/texts/{language}', '/texts/{language}/draft', '/texts/{language}/publish', '/texts/{language}/undo'],
        ...['', '/draft', '/publish', '/undo', '/preview', '/test'].map((end) => `/mails/{kind}/{language}${end}`),
        '/mails',
      ]),
    ),
  },
  {
    where: /\/(?:openapi\.json|clients(?:\/[^/]+)?)(?:\?|$)/,
    reason: 'administrators hold roles, with capabilities that whoever has all others has too',
    without: inJson((body) =>
      withoutMembers(body, [
        ...['administrators:read', 'administrators:write', 'invitations:read', 'invitations:write', 'tenants:read', 'tenants:write'],
        ...['/administrators', '/me', '/roles', '/roles/{name}', '/users/{id}/roles', 'admin_roles'],
      ]),
    ),
  },
  {
    where: /\/(?:\.well-known\/[^/]+|userinfo)$/,
    reason: 'the claim picture shows the photo of a person',
    without: inJson((body) => withoutMembers(body, ['picture'])),
  },
  {
    where: /\/(?:openapi\.json|settings)$/,
    reason: 'people are invited by a link',
    without: inJson((body) =>
      withoutMembers(body, ['invitation_lifetime_seconds', '/users/{id}/invitations', '/users/{id}/invitations/{invitation_id}']),
    ),
  },
  {
    where: /\/(?:openapi\.json|settings|devices(?:\/[^/]+)?)$/,
    reason: 'tenants may have push accounts of their own, and devices say what became of their last push',
    without: inJson((body) => withoutMembers(body, ['push', '/push', '/devices/{id}/test-push', 'push_provider'])),
  },
  {
    where: /\/(?:openapi\.json|settings|clients(?:\/[^/]+)?|roles)(?:\?|$)/,
    reason: 'connectors, capabilities that whoever has all others has too, and rules for what connectors send',
    without: inJson((body) =>
      withoutMembers(body, [
        ...['connectors:read', 'connectors:write', '/connectors', '/connectors/{id}', '/connectors/{id}/sync', '/connectors/{id}/plan'],
        ...['/connectors/{id}/provision', '/connectors/{id}/approve', '/connectors/{id}/resume', '/connectors/{id}/status'],
        ...['/connectors/{id}/links', '/connectors/{id}/links/{link_id}/resolve', '/mappings/scim'],
      ]),
    ),
  },
  {
    where: /\/(?:openapi\.json|settings|clients(?:\/[^/]+)?)(?:\?|$)/,
    reason: 'webhooks, security events, and capabilities that whoever has all others has too',
    without: inJson((body) =>
      withoutMembers(body, [
        ...['ssf.read', 'ssf.manage', '/ssf-streams', '/ssf-streams/{id}', '/ssf-streams/{id}/status', '/ssf-streams/{id}/verify'],
        ...['webhooks:read', 'webhooks:write', '/webhooks', '/webhooks/{id}', '/webhooks/{id}/secret', '/webhooks/{id}/test'],
        ...['/webhooks/{id}/replay', '/webhooks/{id}/deliveries', '/webhooks/{id}/deliveries/{delivery_id}/replay'],
      ]),
    ),
  },
  {
    where: /\/openapi\.json$/,
    reason:
      'the lists of users and events have more parameters: in the order of names, by any part, with how many there are; by person, with names',
    without: inJson((body) => {
      const { paths, ...rest } = body as { readonly paths: Readonly<Record<string, object>> }; // an OpenAPI document
      return { ...rest, paths: { ...paths, '/users': { ...paths['/users'], get: 'lists users' }, '/events': 'lists events' } };
    }),
  },
  {
    where: /\/openapi\.json$/,
    reason: 'a new path: the feed of audit records',
    without: inJson((body) => withoutMembers(body, ['/events/feed'])),
  },
  {
    where: /\/openapi\.json$/,
    reason: 'new paths: sessions of browsers',
    without: inJson((body) => withoutMembers(body, ['/users/{id}/browser-sessions', '/users/{id}/browser-sessions/{session_id}'])),
  },
  {
    where: /\/openapi\.json$/,
    reason: 'new paths: other providers to sign in with, and who people are there',
    without: inJson((body) =>
      withoutMembers(body, [
        ...['/identity-providers', '/identity-providers/{id}', '/identity-providers/{id}/check-domains'],
        ...['/users/{id}/external-identities', '/users/{id}/external-identities/{identity_id}'],
      ]),
    ),
  },
  {
    where: /\/(?:openapi\.json|clients(?:\/[^/]+)?)(?:\?|$)/,
    reason: 'clients may keep to a profile and have tokens bound to a key',
    without: inJson((body) =>
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
    ),
  },
  {
    where: /\/(?:openapi\.json|(?:clients|service-providers)(?:\/[^/]+)?)(?:\?|$)/,
    reason: 'clients and service providers have mapping rules of their own, over tables of the tenant',
    without: inJson((body) =>
      withoutMembers(body, ['mappings', '/mappings/oidc', '/mappings/saml', '/mappings/inbound', '/mappings/preview']),
    ),
  },
  {
    where: /\/openapi\.json$/,
    reason: 'new paths: tokens for clients that register themselves',
    without: inJson((body) => withoutMembers(body, ['/initial-access-tokens', '/initial-access-tokens/{id}'])),
  },
  {
    where: /\/(?:openapi\.json|settings)$/,
    reason: 'tenants may turn on the device grant, whose wrong codes have a limit',
    without: inJson((body) => withoutMembers(body, ['extra_grants', 'device_code_misses', 'urn:ietf:params:oauth:grant-type:device_code'])),
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
    without: inJson((body) => withoutMembers(body, ['web_phones', 'app_links'])),
  },
  {
    where: /\/openapi\.json$/,
    reason: 'an import of metadata answers what it applied and left out, and picks one of several by entity_id',
    without: inJson((body) => withoutMembers(body, ['/service-providers/import'])),
  },
  {
    where: /\/(?:openapi\.json|service-providers(?:\/[^/]+)?)(?:\?|$)/,
    reason: 'service providers have more fields, may have keys of their own, and metadata that is read again',
    without: inJson((body) =>
      withoutMembers(body, [
        ...['name_id_sources', 'signing_key', 'metadata_url', 'metadata_certificate', '/service-providers/{id}/signing-keys'],
        ...['/service-providers/{id}/metadata-refresh', '/service-providers/{id}/metadata-refresh/approve'],
      ]),
    ),
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
    without: inJson((body) => withoutMembers(body, ['enterprise'])),
  },
  {
    where: /\/openapi\.json$|\/devices(?:\/[^/]+)?$/,
    reason: 'devices say how they keep their keys, and phones in browsers are counted',
    without: inJson((body) => withoutMembers(body, ['key_protection', 'web_phones'])),
  },
  {
    where: /\/\.well-known\/[^/]+$/,
    reason: 'authorization responses may be posted by a form, or signed; claims are asked for one by one; requests may be signed',
    without: inJson((body) =>
      withoutMembers(body, [
        'response_modes_supported',
        'authorization_signing_alg_values_supported',
        'claims_parameter_supported',
        'request_parameter_supported',
        'request_object_signing_alg_values_supported',
        'require_signed_request_object',
        'backchannel_authentication_request_signing_alg_values_supported',
      ]),
    ),
  },
  {
    where: /\/openapi\.json$/,
    reason: 'people and applications say when the last sign-in was, once there is one',
    without: inJson((body) => withoutMembers(body, ['last_sign_in_at'])),
  },
  {
    where: /\/(?:openapi\.json|groups(?:[/?][^/]*)?)$/,
    reason: 'groups may be of an identity provider, and say of which',
    without: inJson((body) => withoutMembers(body, ['identity_provider_id', 'identity_provider'])),
  },
  {
    where: /\/openapi\.json$/,
    reason: 'hooks: new paths',
    without: inJson((body) => withoutMembers(body, ['/hooks', '/hooks/{id}', '/hooks/{id}/secret', '/hooks/{id}/test'])),
  },
  {
    where: /\/openapi\.json$/,
    reason: 'tenants add attributes to their people: new paths, and `custom` of a user',
    without: inJson((body) => withoutMembers(body, ['/custom-attributes', '/custom-attributes/{id}', 'custom'])),
  },
];

for (const release of goldenReleases)
  for (const database of databases)
    describe(`answers of release ${release} on ${database}`, () => {
      let golden: GoldenServer;
      before(async () => {
        golden = await startGoldenServer(release, database);
      });
      after(() => golden.close());

      for (const recorded of readGoldenAnswers(release, database))
        it(`${recorded.method} ${recorded.path}`, async () => {
          const now = await askGolden(golden.origin, recorded, readGoldenSecrets(release, database));
          assert.deepEqual(compared(now), compared(recorded));
        });
    });

function compared(answer: GoldenAnswer): GoldenAnswer {
  return differences.filter(({ where }) => where.test(answer.path)).reduce((value, { without }) => without(value), answer);
}

function inJson(change: (body: unknown) => unknown): (answer: GoldenAnswer) => GoldenAnswer {
  return (answer) => ({ ...answer, body: JSON.stringify(change(JSON.parse(answer.body))) });
}

/** JSON without members of these names, wherever they are and `which` says so of their values, and without their names in lists. */
function withoutMembers(value: unknown, names: readonly string[], which: (value: unknown) => boolean = () => true): unknown {
  if (Array.isArray(value)) return value.filter((item) => !names.includes(item)).map((item) => withoutMembers(item, names, which));
  if (typeof value !== 'object' || value === null) return value;
  const kept = Object.entries(value).filter(([name, member]) => !(names.includes(name) && which(member)));
  return Object.fromEntries(kept.map(([name, member]) => [name, withoutMembers(member, names, which)]));
}

function withoutDigest(text: string): string {
  return text.replaceAll(/(W\/\\?"\d+)-[\w-]{16}(?=\\?")/g, '$1');
}
