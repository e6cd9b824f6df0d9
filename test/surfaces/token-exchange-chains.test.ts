// Chains of exchanged tokens (RFC 8693 4.1): what one is worth when a client it passed through is disabled.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Client } from '../../src/domain/client/client.ts';
import type { Tenant } from '../../src/domain/tenant/tenant.ts';
import type { Services } from '../../src/http/services.ts';
import { databases } from '../support/databases.ts';
import { createClient, createOtherTenant, createUser, type TestClient } from '../support/fixtures.ts';
import { issueCode, postAs, exchange as redeemCode, tokensOf } from '../support/oidc.ts';
import { assertRefusal } from '../support/refusal.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

const grantType = 'urn:ietf:params:oauth:grant-type:token-exchange';
const accessTokenType = 'urn:ietf:params:oauth:token-type:access_token';
const links = ['https://one.example', 'https://two.example', 'https://three.example', 'https://four.example'] as const;

for (const database of databases) {
  describe(`chains of exchanged tokens on ${database}`, () => {
    let server: TestServer;
    let services: Services;
    let tenant: Tenant;
    before(async () => {
      server = await startTestServer(database);
      services = server.gatehouse.services;
      tenant = await createOtherTenant(services, 'chains', { extra_grants: [grantType] });
    });
    after(() => server.close());

    const ask = (by: TestClient, token: string, resource: string): Promise<Response> =>
      postAs(tenant, by, 'token', { grant_type: grantType, subject_token: token, subject_token_type: accessTokenType, resource });
    const traded = async (by: TestClient, token: string, resource: string): Promise<string> =>
      (await tokensOf(await ask(by, token, resource))).access_token;
    const introspected = async (token: string, by: TestClient): Promise<Readonly<Record<string, unknown>>> =>
      (await (await postAs(tenant, by, 'introspect', { token })).json()) as Record<string, unknown>;
    /** The API of a link, which trades for the next. */
    const createApi = (at: number, changes: Partial<Client> = {}): Promise<TestClient> =>
      createClient(services, tenant, {
        grantTypes: [grantType, 'client_credentials'],
        redirectUris: [],
        serves: links.slice(at, at + 1),
        exchange: [{ resource: links[at + 1]!, scopes: ['go'] }],
        ...changes,
      });
    const enable = (client: TestClient, enabled: 0 | 1): Promise<unknown> =>
      services.cache.write(tenant.id, (queries) =>
        queries.updateTable('clients').set({ enabled }).where('client_id', '=', client.clientId).execute(),
      );

    const begins = {
      person: async () => {
        const first = await createClient(services, tenant, { resources: [links[0]], scopes: ['go'] });
        const code = await issueCode(server, tenant, first, await createUser(services, tenant), { scope: 'go', resource: links[0] });
        return { first, token: (await tokensOf(await redeemCode(tenant, first, code))).access_token };
      },
      program: async () => {
        const first = await createApi(-1, { serves: [] });
        const own = (await tokensOf(await postAs(tenant, first, 'token', { grant_type: 'client_credentials' }))).access_token;
        return { first, token: await traded(first, own, links[0]) };
      },
    };
    for (const [whose, begin] of Object.entries(begins))
      it(`a token of a ${whose} is worth nothing and not exchanged while a client it passed through is disabled: the first, an actor`, async () => {
        const [one, two, three] = [await createApi(0), await createApi(1), await createApi(2)];
        const { first, token } = await begin();
        const last = await traded(two, await traded(one, token, links[1]), links[2]);
        for (const client of [first, one]) {
          await enable(client, 0);
          await assertRefusal(await ask(three, last, links[3]), 'exchange.invalid_request');
          assert.deepEqual(await introspected(last, two), { active: false });
          await enable(client, 1);
          await traded(three, last, links[3]);
          assert.equal((await introspected(last, two))['active'], true);
        }
      });
  });
}
