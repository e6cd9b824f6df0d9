// What `gatehouse serve` delivers on its thread: an endpoint hears of events, metrics count what the thread attempted, and a server that is
// stopped while an endpoint hangs ends by itself and leaves the delivery to the next one.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { getPriority } from 'node:os';
import { describe, it } from 'node:test';
import { createTestDatabase, databases } from '../support/databases.ts';
import { freePort } from '../support/free-port.ts';
import { serveEmbedded } from '../support/gatehouse-process.ts';
import { callJson, clientCredentialsToken, jsonOf } from '../support/management.ts';
import { operatorToken } from '../support/server.ts';
import { loopbackAllowed, startWebhookReceiver } from '../support/webhooks.ts';

const pause = (): Promise<void> => new Promise((done) => setTimeout(done, 50));

/** What the thread of the requests yields to others (nice), and what the other threads do, by /proc/<pid>/task/<id>/stat. */
function priorities(pid: number): { readonly requests: number; readonly others: readonly number[] } {
  const niceOf = (task: string): number => Number(readFileSync(`/proc/${pid}/task/${task}/stat`, 'utf8').split(') ')[1]!.split(' ')[16]);
  const others = readdirSync(`/proc/${pid}/task`).filter((task) => task !== `${pid}`);
  return { requests: niceOf(`${pid}`), others: [...new Set(others.map(niceOf))].sort((left, right) => left - right) };
}

for (const name of databases) {
  describe(`deliveries on a thread, ${name}`, () => {
    it('are made, counted, and handed on by a server that stops', { timeout: 300_000 }, async () => {
      const receiver = await startWebhookReceiver();
      const database = await createTestDatabase(name);
      const [port, metricsPort] = [await freePort(), await freePort()];
      const url = `http://127.0.0.1:${port}`;
      const serve = () =>
        serveEmbedded(database.dataFolder, {
          args: ['--listen', `127.0.0.1:${port}`],
          environment: {
            GATEHOUSE_PUBLIC_URL: url,
            GATEHOUSE_METRICS_LISTEN: `127.0.0.1:${metricsPort}`,
            GATEHOUSE_EGRESS_ALLOW: loopbackAllowed.egress_allow,
            ...(database.databaseUrl === undefined ? {} : { GATEHOUSE_DATABASE_URL: database.databaseUrl }),
          },
        });
      let server = serve();
      try {
        await server.ready;
        const tenant = await jsonOf(await callJson(`${url}/v1/system/tenants`, operatorToken, 'POST', { slug: 'acme', name: 'Acme' }), 201);
        const admin = tenant['admin_client'] as { readonly client_id: string; readonly client_secret: string };
        const token = await clientCredentialsToken(`${url}/t/acme`, admin.client_id, admin.client_secret);
        const make = async (path: string, body: object): Promise<unknown> =>
          jsonOf(await callJson(`${url}/t/acme/v1/management${path}`, token, 'POST', body), 201);
        await make('/webhooks', { url: receiver.url('/told'), types: ['user.created'] });
        await make('/users', { user_name: 'ada' });
        while (receiver.at('/told').length < 1) await pause();
        const counted = /^gatehouse_delivery_attempts_total\{kind="webhook",result="taken"\} 1$/m;
        if (process.platform === 'linux')
          assert.deepEqual(priorities(server.pid), { requests: getPriority(), others: [getPriority(), 10] });
        while (!counted.test(await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text())) await pause();

        receiver.answer('/told', () => undefined); // hangs
        await make('/users', { user_name: 'bea' });
        while (receiver.at('/told').length < 2) await pause();
        server.signal('SIGTERM');
        const { code, stderr } = await server.ended;
        assert.equal(code, 0, stderr);
        receiver.answer('/told', (response) => void response.writeHead(204).end());
        server = serve();
        await server.ready;
        while (receiver.at('/told').length < 3) await pause();
        assert.deepEqual(
          receiver.at('/told').map(({ seq }) => seq),
          [receiver.at('/told')[0]!.seq, receiver.at('/told')[1]!.seq, receiver.at('/told')[1]!.seq],
        );
      } finally {
        server.signal('SIGKILL');
        await server.ended;
        await receiver.close();
        await database.drop();
      }
    });
  });
}
