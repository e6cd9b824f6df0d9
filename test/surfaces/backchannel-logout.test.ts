// OpenID Connect Back-Channel Logout 1.0: whoever registered an address hears that a session ended, by whichever way it ended.
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { createRemoteJWKSet, type JWTPayload, type JWTVerifyResult, jwtVerify } from 'jose';
import type { Client } from '../../src/domain/client/client.ts';
import type { Tenant } from '../../src/domain/tenant/tenant.ts';
import { nowSeconds } from '../../src/platform/clock.ts';
import { revokeGrant, revokeGrantsOfUser } from '../../src/storage/oidc/grants.ts';
import { mintIdToken } from '../../src/tokens/id-token.ts';
import { type Receiver, reachesLoopback, startReceiver } from '../support/ciba.ts';
import { basic, postForm } from '../support/client-credentials.ts';
import { databases } from '../support/databases.ts';
import { createClient, createUser, rootTenant, type TestClient, type TestUser } from '../support/fixtures.ts';
import { type IssuedTokens, issueTokens } from '../support/issued-tokens.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

for (const database of databases) {
  describe(`back-channel logout on ${database}`, () => {
    let server: TestServer;
    let tenant: Tenant;
    let receiver: Receiver;
    let client: TestClient;
    let user: TestUser;

    const makeClient = (changes: Partial<Client> = {}): Promise<TestClient> =>
      createClient(server.gatehouse.services, tenant, { backchannelLogoutUri: receiver.url, ...changes });

    before(async () => {
      server = await startTestServer(database, { flags: reachesLoopback });
      receiver = await startReceiver();
      tenant = await rootTenant(server.gatehouse.services);
      client = await makeClient();
    });
    after(async () => {
      await server.close();
      await receiver.close();
    });
    beforeEach(async () => {
      receiver.received.length = 0;
      receiver.answers.length = 0;
      user = await createUser(server.gatehouse.services, tenant);
    });

    const issue = (at = client): Promise<IssuedTokens> => issueTokens(server.gatehouse.services, tenant, at, user.id);
    const run = (): Promise<void> => server.gatehouse.services.jobs.runNow('deliveries');
    const logOut = async (tokens: IssuedTokens, at = client): Promise<void> => {
      const { services } = server.gatehouse;
      const hint = await mintIdToken(tenant, await services.keyRings.of(tenant.id), services.clock, {
        alg: 'RS256',
        clientId: at.clientId,
        sub: user.id,
        sid: tokens.grantId,
        authTimeSeconds: nowSeconds(services.clock),
        acr: undefined,
        amr: [],
        nonce: undefined,
        accessToken: tokens.accessToken,
      });
      const response = await fetch(`${server.url}/v1/idp/oidc/logout?id_token_hint=${hint}`);
      assert.equal(response.status, 200);
      await response.arrayBuffer();
      await run();
    };
    /** The logout tokens received, each verified as a relying party does. */
    const verified = (at = client): Promise<readonly JWTVerifyResult<JWTPayload>[]> =>
      Promise.all(
        receiver.received.map(({ method, path, headers, body }) => {
          assert.equal(`${method} ${path}`, 'POST /notifications');
          assert.equal(headers['content-type'], 'application/x-www-form-urlencoded');
          assert.equal(headers.authorization, undefined);
          const form = new URLSearchParams(body);
          assert.deepEqual([...form.keys()], ['logout_token']);
          const jwks = createRemoteJWKSet(new URL(`${server.url}/v1/idp/oidc/jwks`));
          return jwtVerify(form.get('logout_token')!, jwks, {
            issuer: tenant.baseUrl,
            audience: at.clientId,
            typ: 'logout+jwt',
            algorithms: [at.idTokenSignedResponseAlg],
            currentDate: new Date(server.clock.nowMs()),
          });
        }),
      );
    const sids = async (): Promise<readonly unknown[]> => (await verified()).map(({ payload }) => payload['sid']).sort();

    it('logout by the person: one token with sub, sid and the event, no nonce', async () => {
      const tokens = await issue();
      await logOut(tokens);
      const [{ payload }, ...others] = (await verified()) as [JWTVerifyResult<JWTPayload>];
      assert.deepEqual(others, []);
      assert.deepEqual(Object.keys(payload), ['iss', 'sub', 'aud', 'iat', 'exp', 'jti', 'events', 'sid']);
      assert.deepEqual([payload.sub, payload['sid']], [user.id, tokens.grantId]);
      assert.deepEqual(payload['events'], { 'http://schemas.openid.net/event/backchannel-logout': {} });
      assert.equal(payload.exp! - payload.iat!, 120);
      await logOut(tokens);
      assert.equal(receiver.received.length, 1, 'a session ends once');
    });
    it('signed by the algorithm the client registered', async () => {
      const es256 = await makeClient({ idTokenSignedResponseAlg: 'ES256' });
      await logOut(await issue(es256), es256);
      assert.equal((await verified(es256)).length, 1);
    });
    it('an administrator ends all sessions, or the user is suspended: each session of each client that asked', async () => {
      const { services } = server.gatehouse;
      const silent = await makeClient({ backchannelLogoutUri: undefined });
      for (const reason of ['administrator', 'user_state'] as const) {
        receiver.received.length = 0;
        const own = [await issue(), await issue()];
        await issue(silent);
        await services.database.write(tenant.id, (queries) => revokeGrantsOfUser(queries, tenant.id, user.id, reason));
        await run();
        assert.deepEqual(await sids(), own.map((tokens) => tokens.grantId).sort(), reason);
      }
    });
    it("the client's own revocation and stolen tokens are no logout", async () => {
      const { services } = server.gatehouse;
      const tokens = await issue();
      await postForm(`${server.url}/v1/idp/oidc/revoke`, { token: tokens.refreshToken }, basic(client.clientId, client.secret));
      const reused = await issue();
      await services.database.write(tenant.id, (queries) => revokeGrant(queries, tenant.id, reused.grantId, 'refresh_reuse'));
      await run();
      assert.deepEqual(await sids(), []);
    });
    it('a rolled back end of a session tells nobody', async () => {
      const { services } = server.gatehouse;
      const tokens = await issue();
      const failing = services.database.write(tenant.id, async (queries) => {
        await revokeGrant(queries, tenant.id, tokens.grantId, 'administrator');
        throw new Error('rolled back');
      });
      await assert.rejects(failing, /rolled back/);
      await run();
      assert.deepEqual(await sids(), []);
    });
    it('5xx and broken connections are tried again after 1, 2, 4 … s', async () => {
      receiver.answers.push(503, 'drop', 200);
      await logOut(await issue());
      for (const [waitMs, count] of [
        [1100, 2],
        [2100, 3],
        [60_000, 3],
      ] as const) {
        await server.clock.advance(waitMs);
        await run();
        assert.equal(receiver.received.length, count);
      }
    });
    for (const status of [400, 404, 302]) {
      it(`${status} is the last word`, async () => {
        const own = await makeClient();
        receiver.answers.push(status);
        await logOut(await issue(own), own);
        await server.clock.advance(60_000);
        await run();
        assert.equal(receiver.received.length, 1);
        const events = await server.gatehouse.services.database.read(tenant.id, (queries) =>
          queries.selectFrom('audit_events').select(['reason', 'data']).where('type', '=', 'logout.notification_failed').execute(),
        );
        assert.deepEqual(
          events.filter((event) => event.data?.includes(own.clientId)).map((event) => event.reason),
          [`status_${status}`],
        );
      });
    }
    it('given up after eight attempts', async () => {
      receiver.answers.push(...Array.from({ length: 20 }, () => 500));
      await logOut(await issue());
      for (let attempt = 0; attempt < 12; attempt += 1) {
        await server.clock.advance(130_000);
        await run();
      }
      assert.equal(receiver.received.length, 8);
    });
    it('discovery says so', async () => {
      const metadata = (await (await fetch(`${server.url}/.well-known/openid-configuration`)).json()) as Record<string, unknown>;
      assert.equal(metadata['backchannel_logout_supported'], true);
      assert.equal(metadata['backchannel_logout_session_supported'], true);
    });
  });
}
