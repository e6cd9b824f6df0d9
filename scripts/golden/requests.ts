// What a golden server is asked: every read of its APIs, and everything it publishes.

import type { GoldenRequest } from '../../test/support/golden.ts';
import type { Caller, Json } from './caller.ts';

const published = [
  '/.well-known/openid-configuration',
  '/.well-known/oauth-authorization-server',
  '/v1/idp/oidc/jwks',
  '/v1/idp/saml/metadata',
  '/v1/idp/saml/certificate',
  '/v1/management/openapi.json',
];
const filters = [
  'userName sw "ad"',
  'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User:department eq "Compilers"',
  'emails[type eq "home"]',
];

/** The requests of a filled server: lists as they are, and every item of every list. */
export async function goldenRequests(caller: Caller, base: string, managementToken: string): Promise<readonly GoldenRequest[]> {
  const path = new URL(base).pathname;
  const asManager = (below: string): GoldenRequest => ({ method: 'GET', path: `${path}${below}`, as: 'management' });
  const idsOf = async (below: string, list: 'items' | 'Resources'): Promise<readonly string[]> => {
    const answer = await caller.make('GET', `${base}${below}`, managementToken);
    return (answer[list] as readonly Json[]).map((item) => String(item['client_id'] ?? item['id']));
  };
  const each = async (below: string, parts: readonly string[]): Promise<readonly GoldenRequest[]> =>
    (await idsOf(`/v1/management${below}`, 'items')).flatMap((id) =>
      ['', ...parts].map((part) => asManager(`/v1/management${below}/${id}${part}`)),
    );
  const resources = async (below: string): Promise<readonly GoldenRequest[]> =>
    (await idsOf(`/scim/v2${below}`, 'Resources')).map((id) => asManager(`/scim/v2${below}/${id}`));
  return [
    ...['', path].flatMap((tenant) => published.map((below): GoldenRequest => ({ method: 'GET', path: `${tenant}${below}` }))),
    ...[
      'openapi.json',
      'settings',
      'signing-keys',
      'clients',
      'resources',
      'users',
      'users?search=ada',
      'users?limit=1',
      'groups',
      'service-providers',
      'events?limit=200',
    ].map((name) => asManager(`/v1/management/${name}`)),
    ...(await each('/clients', ['/assignments'])),
    ...(await each('/resources', [])),
    ...(await each('/users', ['/sessions', '/devices', '/passkeys'])),
    ...(await each('/groups', ['/members'])),
    ...(await each('/service-providers', ['/assignments'])),
    ...[
      'ServiceProviderConfig',
      'ResourceTypes',
      'Schemas',
      'Users',
      'Groups',
      ...filters.map((filter) => `Users?filter=${encodeURIComponent(filter)}`),
    ].map((name) => asManager(`/scim/v2/${name}`)),
    ...(await resources('/Users')),
    ...(await resources('/Groups')),
    { method: 'GET', path: `${path}/v1/idp/oidc/userinfo`, as: 'person' },
    { method: 'GET', path: '/v1/system/tenants', as: 'operator' },
    { method: 'GET', path: '/v1/system/outbox', as: 'operator' },
  ];
}
