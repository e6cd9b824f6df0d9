// docs/how-to/custom-attributes.md does what it says: its own bodies are sent, and UserInfo and SCIM answer as it shows.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { UserId } from '../../src/domain/ids.ts';
import { blocksOf } from '../support/documents.ts';
import { createClient, rootTenant } from '../support/fixtures.ts';
import type { Json, Managed } from '../support/management.ts';
import { exchange, issueCode, tokensOf } from '../support/oidc.ts';
import { manageRootTenant } from '../support/root-tenant.ts';
import { mintScimToken, scimCaller } from '../support/scim.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

const blocks = blocksOf('docs/how-to/custom-attributes.md');
/** The calls of the shell blocks: method, path and body. */
const calls = blocks
  .filter(({ language }) => language === 'sh')
  .flatMap(({ text }) => [...text.matchAll(/api "?(\/[\w$/-]+)"?(?: -X (\w+))? -d '([^']+)'/g)])
  .map(([, path, method = 'POST', body]) => ({ path: path!, method, body: JSON.parse(body!) as Json }));
const shown = blocks.filter(({ language }) => language === 'json').map(({ text }) => JSON.parse(text) as Json);

describe('the how-to of custom attributes', () => {
  let server: TestServer;
  let managed: Managed;
  before(async () => {
    server = await startTestServer('sqlite');
    managed = await manageRootTenant(server);
  });
  after(() => server.close());

  it('UserInfo and SCIM answer as the document shows', async () => {
    assert.equal(calls.length, 4);
    let id = '';
    for (const { path, method, body } of calls) id = String((await managed.make(method, path.replace('$ID', id), body))['id']);
    const tenant = await rootTenant(server.gatehouse.services);
    const client = await createClient(server.gatehouse.services, tenant, {});
    const ada = { id: id as UserId, email: 'ada@example.com' };
    const { access_token: token } = await tokensOf(
      await exchange(tenant, client, await issueCode(server, tenant, client, ada, { scope: 'openid profile' })),
    );
    const answer = await fetch(`${tenant.baseUrl}/v1/idp/oidc/userinfo`, { headers: { authorization: `Bearer ${token}` } });
    const { sub: _sub, updated_at: _at, ...claims } = (await answer.json()) as Json;
    assert.deepEqual(claims, shown[0]);
    const scim = scimCaller(server, await mintScimToken(server));
    const created = await scim.call('POST', '/Users', shown[1]);
    assert.equal(created.status, 201);
    for (const [name, value] of Object.entries(shown[1]!)) if (name !== 'emails') assert.deepEqual(created.body[name], value, name);
  });
});
