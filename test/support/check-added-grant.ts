// Run by docs/grant-recipe.test.ts in a copy of the tree that has one more grant, `urn:example:grant-type:voucher`: discovery,
// registration and the token endpoint have it.
import assert from 'node:assert/strict';
import { manageRootTenant } from './root-tenant.ts';
import { startTestServer } from './server.ts';

const voucher = 'urn:example:grant-type:voucher';
const server = await startTestServer('sqlite');
try {
  const managed = await manageRootTenant(server);
  const discovery = await (await fetch(`${managed.baseUrl}/.well-known/openid-configuration`)).json();
  assert.ok((discovery as { grant_types_supported: readonly string[] }).grant_types_supported.includes(voucher));
  const register = async (grant: string): Promise<URLSearchParams> => {
    const machine = { name: 'Machine', token_endpoint_auth_method: 'client_secret_post', grant_types: [grant], scopes: ['users:read'] };
    const made = await managed.make('POST', '/clients', machine);
    return new URLSearchParams({ client_id: String(made['client_id']), client_secret: String(made['client_secret']), grant_type: voucher });
  };
  const ask = (body: URLSearchParams): Promise<Response> => fetch(`${managed.baseUrl}/v1/idp/oidc/token`, { method: 'POST', body });
  const token = await ask(await register(voucher));
  assert.equal(token.status, 200, await token.clone().text());
  assert.equal(((await token.json()) as { scope: string }).scope, 'users:read');
  const foreign = await ask(await register('client_credentials'));
  assert.equal(((await foreign.json()) as { error: string }).error, 'unauthorized_client');
  const open = { name: 'Open', type: 'public', token_endpoint_auth_method: 'none', grant_types: [voucher] };
  assert.equal((await managed.call('POST', '/clients', open)).status, 400);
} finally {
  await server.close();
}
