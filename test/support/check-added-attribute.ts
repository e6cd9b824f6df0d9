// Run by attribute-recipe.test.ts in a copy of the tree that has one more attribute, `pronouns`: it must be at every surface.
import assert from 'node:assert/strict';
import { manageRootTenant } from './root-tenant.ts';
import { mintScimToken, scimCaller } from './scim.ts';
import { startTestServer } from './server.ts';

const server = await startTestServer('sqlite');
try {
  const managed = await manageRootTenant(server);
  const created = await managed.make('POST', '/users', { user_name: 'ada', pronouns: 'She/her', emails: [{ value: 'ada@example.com' }] });
  assert.equal(created['pronouns'], 'She/her');
  const scim = scimCaller(server, await mintScimToken(server));
  assert.equal((await scim.call('GET', `/Users/${String(created['id'])}`)).body['pronouns'], 'She/her');
  for (const [filter, total] of [
    ['pronouns sw "she"', 1],
    ['pronouns eq "they"', 0],
  ] as const)
    assert.equal((await scim.call('GET', `/Users?filter=${encodeURIComponent(filter)}`)).body['totalResults'], total, filter);
  assert.match(await (await scim.fetch('GET', '/Schemas')).text(), /How to speak of the person/);
  const provider = { entity_id: 'https://sp.example', acs: [{ url: 'https://sp.example/acs' }], attribute_map: { pronouns: 'pronouns' } };
  await managed.make('POST', '/service-providers', provider);
  const discovery = await (await fetch(`${managed.baseUrl}/.well-known/openid-configuration`)).json();
  assert.ok((discovery as { claims_supported: readonly string[] }).claims_supported.includes('pronouns'));
} finally {
  await server.close();
}
