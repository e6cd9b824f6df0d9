// docs/how-to/mappings.md does what it says: its own bodies are sent, and tokens, previews and SAML providers answer as it shows.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { parse } from 'yaml';
import type { ClientId, UserId } from '../../src/domain/ids.ts';
import { rulesFault } from '../../src/domain/mappings/rule-faults.ts';
import { findClient } from '../../src/storage/registry/clients/clients.ts';
import { blocksOf } from '../support/documents.ts';
import { rootTenant } from '../support/fixtures.ts';
import type { Json, Managed } from '../support/management.ts';
import { decodeJwt, exchange, issueCode, tokensOf } from '../support/oidc.ts';
import { manageRootTenant } from '../support/root-tenant.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

const blocks = blocksOf('docs/how-to/mappings.md');
/** The calls of the shell blocks: path, method and body, with the shell's variables still in them. */
const calls = blocks
  .filter(({ language }) => language === 'sh')
  .flatMap(({ text }) => [...text.matchAll(/api "?(\/[^" ]+)"?(?: -X (\w+))? -d (?:'([^']+)'|"((?:[^"\\]|\\.)+)")/g)])
  .map(([, path = '', method = 'POST', plain, quoted = '']) => ({ path, method, body: plain ?? quoted.replaceAll('\\"', '"') }));
const shown = blocks.filter(({ language }) => language === 'json').map(({ text }) => JSON.parse(text) as unknown);

describe('the how-to of mappings', () => {
  let server: TestServer;
  let managed: Managed;
  before(async () => {
    server = await startTestServer('sqlite');
    managed = await manageRootTenant(server);
  });
  after(() => server.close());

  it('every call works, the preview answers as it shows, and the access token has the roles', async () => {
    assert.equal(calls.length, 8);
    const known: Record<string, string> = {};
    const filled = (text: string): string =>
      text
        .replaceAll('$GROUP', known['/groups'] ?? '')
        .replaceAll('$CLIENT', known['/clients'] ?? '')
        .replaceAll('$ID', known['/users'] ?? '');
    let last: Json = {};
    for (const { path, method, body } of calls.slice(0, -1)) {
      last = await managed.make(method, filled(path), JSON.parse(filled(body)));
      known[path] = String(last['client_id'] ?? last['id']);
    }
    assert.deepEqual((last['items'] as readonly Json[]).slice(-2), shown[0]);
    const secret = String((await managed.make('POST', `/clients/${known['/clients']}/secret`))['client_secret']);
    const tenant = await rootTenant(server.gatehouse.services);
    const clientId = known['/clients'] as ClientId;
    const client = await server.gatehouse.services.database.read(tenant.id, (queries) => findClient(queries, tenant.id, clientId));
    const ada = { id: known['/users'] as UserId, email: 'ada@example.com' };
    const registered = { ...client!, secret };
    const tokens = await tokensOf(
      await exchange(tenant, registered, await issueCode(server, tenant, registered, ada, { scope: 'openid profile' })),
    );
    assert.deepEqual(decodeJwt(tokens.access_token).claims['roles'], ['admin']);
    assert.equal(decodeJwt(tokens.id_token!).claims['department'], 'sales');
    const answer = await fetch(`${tenant.baseUrl}/v1/idp/oidc/userinfo`, { headers: { authorization: `Bearer ${tokens.access_token}` } });
    assert.equal('updated_at' in ((await answer.json()) as Json), false);
  });

  it('a service provider takes the rules for REFEDS and AWS', async () => {
    const body = { entity_id: 'https://sp.example', acs: [{ url: 'https://sp.example/acs' }], ...(shown[1] as Json) };
    assert.deepEqual((await managed.make('POST', '/service-providers', body))['mappings'], (shown[1] as Json)['mappings']);
  });

  it('an identity provider takes the rules for its people, and their preview gives the department', async () => {
    const attributes = shown[2] as Json;
    const fields = {
      alias: 'acme',
      kind: 'oidc',
      name: 'Acme',
      issuer: 'https://acme.example',
      client_id: 'gatehouse',
      client_secret: 'x'.repeat(40),
    };
    assert.deepEqual((await managed.make('POST', '/identity-providers', { ...fields, ...attributes }))['mappings'], attributes['mappings']);
    const { path, method, body } = calls.at(-1)!;
    const { items } = (await managed.make(method, path, JSON.parse(body))) as unknown as { items: readonly Json[] };
    assert.deepEqual(items.at(-1), { to: 'enterprise.department', values: ['Sales'] });
  });

  it('the document has rules without mistakes', () => {
    const text = blocks.find(({ language }) => language === 'yaml')?.text ?? '';
    const { mappings, clients } = parse(text) as { mappings: Json; clients: readonly Json[] };
    assert.deepEqual([rulesFault('oidc', mappings['oidc']), rulesFault('oidc', clients[0]!['mappings'])], [undefined, undefined]);
  });
});
