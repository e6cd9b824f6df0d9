// A server dies by SIGKILL, again and again, while records are written, the feed is read and a webhook is told: whoever keeps `next` misses
// nothing that was acknowledged, reads nothing twice, and what was read keeps its number; the webhook hears of everything, and a number
// it is told twice is of the same event.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createTestDatabase, databases } from '../support/databases.ts';
import { freePort } from '../support/free-port.ts';
import { type GatehouseProcess, serveEmbedded } from '../support/gatehouse-process.ts';
import { callJson, clientCredentialsToken, jsonOf } from '../support/management.ts';
import { operatorToken } from '../support/server.ts';
import { loopbackAllowed, startWebhookReceiver } from '../support/webhooks.ts';

const kills = 3;
const usersBetweenKills = 10;

interface Event {
  readonly seq: number;
  readonly type: string;
  readonly data: { readonly target: string };
}

/** A machine that is busy refuses what it has no time for. */
async function untilServed(call: () => Promise<Response>): Promise<Response> {
  for (;;) {
    const answer = await call();
    if (answer.status !== 503) return answer;
    await answer.body?.cancel();
  }
}

for (const name of databases) {
  describe(`event feed of a server that is killed, ${name}`, () => {
    it('nothing acknowledged is missing, nothing comes twice, numbers stay', { timeout: 600_000 }, async () => {
      const receiver = await startWebhookReceiver();
      const database = await createTestDatabase(name);
      const port = await freePort();
      const url = `http://127.0.0.1:${port}`;
      const environment = {
        GATEHOUSE_PUBLIC_URL: url,
        GATEHOUSE_EGRESS_ALLOW: loopbackAllowed.egress_allow,
        ...(database.databaseUrl === undefined ? {} : { GATEHOUSE_DATABASE_URL: database.databaseUrl }),
      };
      const start = async (): Promise<GatehouseProcess> => {
        const node = serveEmbedded(database.dataFolder, { args: ['--listen', `127.0.0.1:${port}`], environment });
        await node.ready;
        return node;
      };
      let node = await start();
      try {
        const tenant = await jsonOf(await callJson(`${url}/v1/system/tenants`, operatorToken, 'POST', { slug: 'acme', name: 'Acme' }), 201);
        const admin = tenant['admin_client'] as { readonly client_id: string; readonly client_secret: string };
        const token = await clientCredentialsToken(`${url}/t/acme`, admin.client_id, admin.client_secret);
        const call = (method: string, path: string, body?: unknown): Promise<Response> =>
          callJson(`${url}/t/acme/v1/management${path}`, token, method, body);
        await jsonOf(await call('POST', '/webhooks', { url: receiver.url('/told'), types: ['user.created'] }), 201);
        const acknowledged: string[] = [];
        const read: Event[] = [];
        let next = 0;
        const readOn = async (): Promise<number> => {
          const page = await jsonOf<{ items: readonly Event[]; next: number }>(
            await untilServed(() => call('GET', `/events/feed?after=${next}&limit=4`)),
            200,
          );
          read.push(...page.items);
          next = page.next;
          return page.items.length;
        };
        let made = 0;
        const writeUntilDead = async (): Promise<void> => {
          for (;;) {
            made += 1;
            const answer = await call('POST', '/users', { user_name: `user${made}` });
            if (answer.status === 503)
              await answer.body?.cancel(); // a machine that is busy
            else acknowledged.push(`user:${(await jsonOf(answer, 201))['id']}`);
          }
        };
        const readUntilDead = async (): Promise<void> => {
          for (;;) await readOn();
        };
        for (let killed = 0; killed < kills; killed += 1) {
          const goal = acknowledged.length + usersBetweenKills;
          const working = Promise.allSettled([writeUntilDead(), readUntilDead()]);
          while (acknowledged.length < goal) await new Promise((done) => setTimeout(done, 5));
          node.signal('SIGKILL');
          await Promise.all([node.ended, working]);
          node = await start();
        }
        while ((await readOn()) > 0);
        assert.deepEqual(
          read.map(({ seq }) => seq),
          read.map((_, index) => index + 1),
        );
        const told = read.filter(({ type }) => type === 'user.created').map(({ data }) => data.target);
        assert.equal(new Set(told).size, told.length);
        assert.deepEqual(
          acknowledged.filter((user) => !told.includes(user)),
          [],
        );
        const again: Event[] = [];
        for (let after = 0; after < next; after = again.at(-1)!.seq) {
          const answer = await untilServed(() => call('GET', `/events/feed?after=${after}&limit=200`));
          again.push(...(await jsonOf<{ items: readonly Event[] }>(answer, 200)).items);
        }
        assert.deepEqual(again, read);
        const heard = (): ReadonlySet<string> => new Set(receiver.at('/told').map(({ data }) => (data as Event['data']).target));
        while (acknowledged.some((user) => !heard().has(user))) await new Promise((done) => setTimeout(done, 100));
        for (const { seq, data } of receiver.at('/told'))
          assert.equal((data as Event['data']).target, read.find((event) => event.seq === seq)?.data.target);
      } finally {
        node.signal('SIGKILL');
        await node.ended;
        await receiver.close();
        await database.drop();
      }
    });
  });
}
