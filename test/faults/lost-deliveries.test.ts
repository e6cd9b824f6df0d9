// A webhook or stream that was made or enabled a moment ago misses nothing: what the thread of deliveries does not know yet, or believes
// disabled, is neither dropped nor put off for a month.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { createTestDatabase, databases, type TestDatabase } from '../support/databases.ts';
import { type GatehouseProcess, serveEmbedded } from '../support/gatehouse-process.ts';
import { callJson, clientCredentialsToken, jsonOf } from '../support/management.ts';
import { operatorToken } from '../support/server.ts';
import { type Delivery, type Hook, loopbackAllowed, startWebhookReceiver, type WebhookReceiver } from '../support/webhooks.ts';

const count = 30;
const hourMs = 3_600_000;

/** Nothing is to come of it soon. */
const rests = ({ state, next_attempt_at: at }: Delivery): boolean =>
  state !== 'waiting' || at === null || Date.parse(String(at)) > Date.now() + hourMs;

for (const name of databases)
  describe(`webhooks as young as their events, ${name}`, () => {
    let receiver: WebhookReceiver;
    let database: TestDatabase;
    let server: GatehouseProcess;
    let make: (method: string, path: string, body?: object, status?: number) => Promise<Hook & { readonly items: readonly Delivery[] }>;
    before(async () => {
      receiver = await startWebhookReceiver();
      database = await createTestDatabase(name);
      server = serveEmbedded(database.dataFolder, {
        environment: {
          GATEHOUSE_EGRESS_ALLOW: loopbackAllowed.egress_allow,
          ...(database.databaseUrl !== undefined && { GATEHOUSE_DATABASE_URL: database.databaseUrl }),
        },
      });
      const url = await server.ready;
      const tenant = await jsonOf(await callJson(`${url}/v1/system/tenants`, operatorToken, 'POST', { slug: 'acme', name: 'Acme' }), 201);
      const admin = tenant['admin_client'] as { readonly client_id: string; readonly client_secret: string };
      const token = await clientCredentialsToken(`${url}/t/acme`, admin.client_id, admin.client_secret);
      make = async (method, path, body, status = 200) =>
        jsonOf(await callJson(`${url}/t/acme/v1/management${path}`, token, method, body), status);
      await make('POST', '/webhooks', { url: receiver.url('/first'), types: ['group.*'] }, 201);
      await make('POST', '/groups', { display_name: 'First' }, 201);
      while (receiver.at('/first').length < 1) await wait(20);
    });
    after(async () => {
      server?.signal('SIGKILL');
      await server?.ended;
      await receiver.close();
      await database?.drop();
    });
    const settled = async (id: string): Promise<void> => {
      for (;;) {
        const { items } = await make('GET', `/webhooks/${id}/deliveries`);
        if (items.length > 0 && items.every(rests)) return;
        await wait(20);
      }
    };

    it('made, then tried: the console does so', { timeout: 120_000 }, async () => {
      for (let turn = 0; turn < count; turn += 1) {
        const { id } = await make('POST', '/webhooks', { url: receiver.url(`/made/${turn}`), types: ['user.created'] }, 201);
        await make('POST', '/users', { user_name: `ada-${turn}` }, 201);
        await settled(id);
        assert.equal(receiver.at(`/made/${turn}`).length, 1, `of ${turn}`);
        await make('DELETE', `/webhooks/${id}`, undefined, 204);
      }
    });

    it('disabled, then enabled', { timeout: 120_000 }, async () => {
      const { id } = await make('POST', '/webhooks', { url: receiver.url('/enabled'), types: ['user.created'] }, 201);
      for (let turn = 0; turn < count; turn += 1) {
        await make('PATCH', `/webhooks/${id}`, { enabled: false });
        await make('POST', '/users', { user_name: `bob-${turn}` }, 201);
        await make('POST', '/groups', { display_name: `Staff ${turn}` }, 201); // the thread learns that it is disabled
        while (receiver.at('/first').length < 2 + turn) await wait(5);
        await make('PATCH', `/webhooks/${id}`, { enabled: true });
        await make('POST', '/users', { user_name: `eve-${turn}` }, 201);
        while ((await make('GET', `/webhooks/${id}/deliveries?limit=200`)).items.length < 2 * (turn + 1)) await wait(5);
        await settled(id);
        // One may come twice: sent by a thread that had not heard of the PATCH, it was due again before it was noted as taken.
        assert.equal(new Set(receiver.at('/enabled').map(({ seq }) => seq)).size, 2 * (turn + 1), `of ${turn}`);
      }
    });
  });
