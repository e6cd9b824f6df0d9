// Races with real parallel requests: one code, one refresh token, one pushed request, each used many times at once.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Tenant } from '../../src/domain/tenant/tenant.ts';
import type { Services } from '../../src/http/services.ts';
import { databases } from '../support/databases.ts';
import { createClient, createOtherTenant, createUser, type TestClient, type TestUser } from '../support/fixtures.ts';
import { challenge, exchange, formBody, issueCode, postAs, redirectUri, refresh, type Tokens, tokensOf } from '../support/oidc.ts';
import { askUntilServed } from '../support/overload.ts';
import { roomyRate } from '../support/roomy-rate.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

for (const database of databases) {
  describe(`single use under parallel requests on ${database}`, () => {
    let server: TestServer;
    let second: TestServer;
    let services: Services;
    let tenant: Tenant;
    let client: TestClient;
    let user: TestUser;
    before(async () => {
      server = await startTestServer(database);
      // PostgreSQL serves two nodes; the embedded database has one.
      second =
        database === 'postgres'
          ? await startTestServer(database, { database: server.database, clock: server.clock, flags: { public_url: server.url } })
          : server;
      services = server.gatehouse.services;
      tenant = await createOtherTenant(services, 'racing', { rate_limits: { login_starts_per_ip: roomyRate } });
      client = await createClient(services, tenant);
      user = await createUser(services, tenant);
    });
    after(async () => {
      if (second !== server) await second.close();
      await server.close();
    });

    /** The same tenant as the other node serves it. */
    const nodes = (): readonly Tenant[] => {
      const address = second.gatehouse.app.server.address();
      const port = typeof address === 'object' && address !== null ? address.port : 0;
      return second === server ? [tenant] : [tenant, { ...tenant, baseUrl: `http://127.0.0.1:${port}/t/racing` }];
    };
    const many = async (count: number, send: (at: Tenant) => Promise<Response>): Promise<readonly Response[]> => {
      const all = nodes();
      return Promise.all(Array.from({ length: count }, (_, index) => askUntilServed(() => send(all[index % all.length]!))));
    };
    const tally = async (responses: readonly Response[]): Promise<Record<string, number>> => {
      const counts: Record<string, number> = {};
      for (const response of responses) {
        const name = response.status === 200 ? '200' : `${response.status} ${await response.clone().text()}`;
        counts[name] = (counts[name] ?? 0) + 1;
      }
      return counts;
    };
    const refusedGrant = '400 {"error":"invalid_grant"}';

    it('1,000 parallel exchanges of one code: exactly one success, and its grant is ended by the others', async () => {
      const code = await issueCode(server, tenant, client, user);
      const responses = await many(1000, (at) => exchange(at, client, code));
      assert.deepEqual(await tally(responses), { '200': 1, [refusedGrant]: 999 });
      const won = (await responses.find((response) => response.status === 200)?.json()) as Tokens;
      assert.equal((await refresh(tenant, client, won.refresh_token)).status, 400);
    });
    it('200 parallel refreshes of one token: at most one success, then the family is dead', async () => {
      const { refresh_token: token } = await tokensOf(await exchange(tenant, client, await issueCode(server, tenant, client, user)));
      const responses = await many(200, (at) => refresh(at, client, token));
      assert.deepEqual(await tally(responses), { '200': 1, [refusedGrant]: 199 });
      const won = (await responses.find((response) => response.status === 200)?.json()) as Tokens;
      assert.equal((await refresh(tenant, client, won.refresh_token)).status, 400);
    });
    it('200 parallel refreshes within the leeway: one successor for all', async () => {
      const lenient = await createClient(services, tenant, { refreshReuseLeewaySeconds: 60 });
      const { refresh_token: token } = await tokensOf(await exchange(tenant, lenient, await issueCode(server, tenant, lenient, user)));
      const responses = await many(200, (at) => refresh(at, lenient, token));
      assert.deepEqual(await tally(responses), { '200': 200 });
      const successors = new Set<string | undefined>();
      for (const response of responses) successors.add(((await response.json()) as Tokens).refresh_token);
      assert.equal(successors.size, 1);
      await tokensOf(await refresh(tenant, lenient, [...successors][0]));
    });
    it('500 parallel uses of one pushed request: exactly one sign-in starts', async () => {
      const form = {
        response_type: 'code',
        redirect_uri: redirectUri,
        scope: 'openid',
        code_challenge: challenge,
        code_challenge_method: 'S256',
      };
      const pushed = (await (await postAs(tenant, client, 'par', form)).json()) as { request_uri: string };
      const query = formBody({ client_id: client.clientId, request_uri: pushed.request_uri });
      const before = await countLogins();
      const responses = await many(500, (at) => fetch(`${at.baseUrl}/v1/idp/oidc/authorize?${query}`, { redirect: 'manual' }));
      const started = responses.filter((response) => response.status === 303);
      assert.equal(started.length, 1);
      const refused = responses.filter((response) => response.status !== 303);
      assert.deepEqual(await tally(refused), { '400 {"error":"invalid_request_uri"}': 499 });
      assert.equal((await countLogins()) - before, 1, 'the losers left no transaction behind');
    });
    const countLogins = async (): Promise<number> =>
      services.database.read(tenant.id, async (queries) => {
        const rows = await queries.selectFrom('login_transactions').select('id').where('tenant_id', '=', tenant.id).execute();
        return rows.length;
      });
    it('a revocation acknowledged by one node is seen by the other at once', async () => {
      const confidential = await createClient(services, tenant);
      const tokens = await tokensOf(await exchange(tenant, confidential, await issueCode(server, tenant, confidential, user)));
      const other = nodes().at(-1)!;
      const introspected = async (): Promise<unknown> =>
        (await postAs(other, confidential, 'introspect', { token: tokens.access_token })).json();
      assert.equal(((await introspected()) as { active: boolean }).active, true);
      assert.equal((await postAs(tenant, confidential, 'revoke', { token: tokens.refresh_token })).status, 200);
      assert.deepEqual(await introspected(), { active: false });
    });
  });
}
