// Hooks under load (design 16, 3): a burst of 1,000 against one that answers and one that fails, one that hangs beside another tenant,
// and targets that are not to be reached. On both databases.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { connectionsAtOnceMax } from '../../src/contract/limits.ts';
import { reachesLoopback } from '../support/ciba.ts';
import { databases } from '../support/databases.ts';
import { eventually } from '../support/eventually.ts';
import { claims, type HookReceiver, silent, startHookReceiver } from '../support/hook-receiver.ts';
import { createTestTenant, type Json, type Managed } from '../support/management.ts';
import { decodeJwt } from '../support/oidc.ts';
import { assertRefusal } from '../support/refusal.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

const burst = 1000;
/** As many connections as one process of a test opens without losing some. */
const callersAtOnce = 200;

for (const database of databases) {
  describe(`hooks under load (${database})`, () => {
    let server: TestServer;
    let managed: Managed;
    let receiver: HookReceiver;
    let hook: Json;
    before(async () => {
      server = await startTestServer(database, { flags: reachesLoopback });
      managed = await createTestTenant(server, { settings: { rate_limits: { token_requests_per_client: null } } });
      receiver = await startHookReceiver();
      hook = await managed.make('POST', '/hooks', { point: 'token', url: receiver.url, on_failure: 'continue', deadline_ms: 3000 });
    });
    after(async () => {
      await server.close();
      await receiver.close();
    });
    const ask = (of: Managed = managed): Promise<Response> =>
      fetch(`${of.baseUrl}/v1/idp/oidc/token`, {
        method: 'POST',
        body: new URLSearchParams({
          grant_type: 'client_credentials',
          client_id: of.adminClientId,
          client_secret: of.adminClientSecret,
          scope: 'settings:read',
        }),
      });
    const askAll = async (): Promise<readonly Response[]> => {
      const callers = Array.from({ length: callersAtOnce }, async () => {
        const responses: Response[] = [];
        while (responses.length < burst / callersAtOnce) responses.push(await ask());
        return responses;
      });
      return (await Promise.all(callers)).flat();
    };

    it('1,000 by 200 callers: every one is answered, and the hook gets its share and never more', async () => {
      // The first calls are held until as many are there as may be: then no other has come. A machine too busy to bring them within the
      // deadline of a call shows nothing; the breaker's pause over and one call answered, it is tried again.
      await eventually(async () => {
        const [called, connected] = [receiver.calls.length, receiver.connections()];
        const { promise: full, resolve: isFull } = Promise.withResolvers<void>();
        receiver.reply = async () => {
          if (receiver.calls.length - called >= connectionsAtOnceMax) isFull();
          await full;
          return claims({ access_token: { tier: 'gold' } });
        };
        const responses = await askAll();
        isFull();
        const tiers = await Promise.all(
          responses.map(async (response) => {
            assert.equal(response.status, 200);
            return decodeJwt(((await response.json()) as { access_token: string }).access_token).claims['tier'];
          }),
        );
        assert.ok(receiver.atOnce() <= connectionsAtOnceMax, `at once: ${receiver.atOnce()}`);
        if (receiver.atOnce() === connectionsAtOnceMax && tiers.includes('gold')) {
          const connections = receiver.connections() - connected;
          assert.ok(connections <= 2 * connectionsAtOnceMax, `connections: ${connections} for ${receiver.calls.length - called} calls`);
          return true;
        }
        await server.clock.advance(10_000);
        receiver.reply = () => silent;
        assert.equal((await ask()).status, 200);
        return false;
      });
    });

    it('1,000 by 200 callers against one that fails: one answer, byte for byte, and the breaker spares it', async () => {
      await managed.make('PATCH', `/hooks/${hook['id']}`, { on_failure: 'refuse' });
      receiver.calls.length = 0;
      receiver.reply = () => ({ status: 500 });
      const responses = await askAll();
      const bodies = await Promise.all(responses.map(async (response) => `${response.status} ${await response.clone().text()}`));
      assert.equal(new Set(bodies).size, 1);
      await assertRefusal(responses[0]!, 'oauth.unavailable');
      assert.ok(receiver.calls.length < burst / 2, `calls: ${receiver.calls.length}`);
      await server.clock.advance(10_000);
      receiver.reply = () => silent;
      assert.equal((await ask()).status, 200);
    });

    it('one that hangs holds up nobody of another tenant', async () => {
      const other = await createTestTenant(server);
      const { promise: called, resolve: seen } = Promise.withResolvers<void>();
      receiver.reply = () => {
        seen();
        return 'hang';
      };
      const hanging = ask();
      await called;
      assert.equal((await ask(other)).status, 200);
      await assertRefusal(await hanging, 'oauth.unavailable');
    });
  });

  describe(`hooks at addresses that are not to be reached (${database})`, () => {
    let server: TestServer;
    let managed: Managed;
    before(async () => {
      server = await startTestServer(database);
      managed = await createTestTenant(server);
    });
    after(() => server.close());
    for (const [url, reason] of [
      ['https://10.0.0.1/hook', 'refused_address'],
      ['https://127.0.0.1/hook', 'refused_address'],
      ['https://169.254.169.254/latest/meta-data', 'refused_address'],
      ['https://[::1]/hook', 'refused_address'],
      ['https://[::ffff:10.0.0.1]/hook', 'refused_address'],
      ['https://localhost/hook', 'refused_address'],
      ['https://nowhere.invalid/hook', 'unresolved'],
    ] as const)
      it(`${url} is ${reason}`, async () => {
        const hook = await managed.make('POST', '/hooks', { point: 'sign_in', url, on_failure: 'refuse', deadline_ms: 3000 });
        const tried = await managed.make('POST', `/hooks/${hook['id']}/test`);
        assert.deepEqual([tried['result'], tried['reason']], ['failed', reason]);
        await managed.make('DELETE', `/hooks/${hook['id']}`);
      });
  });
}
