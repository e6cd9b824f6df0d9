// SIGTERM while clients do nothing but make new connections: each is answered or refused, none that the kernel took is cut off. The kernel
// can take one between our last look and the end of the port, so one stop of three has to lose none; a port closed at once loses some in each.
import assert from 'node:assert/strict';
import { request } from 'node:http';
import { describe, it } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { databases } from '../support/databases.ts';
import { createDataFolder, type GatehouseProcess, serveEmbedded } from '../support/gatehouse-process.ts';
import { startTestServer } from '../support/server.ts';
import { startWorkerNode } from '../support/worker-node.ts';

const clientsAtOnce = 24;
const stopsMax = 3;

/** One request on a connection of its own: the status, or the code of what went wrong. */
function ask(url: string): Promise<string> {
  return new Promise((resolve) => {
    const sent = request(url, { agent: false }, (answer) => {
      answer.resume();
      answer.once('end', () => resolve(String(answer.statusCode)));
    });
    sent.once('error', ({ code }: NodeJS.ErrnoException) => resolve(code ?? ''));
    sent.end();
  });
}

/** What clients saw while the node was told to stop, one request after another, until each was refused a connection. */
async function outcomesOf(url: string, node: GatehouseProcess): Promise<readonly string[]> {
  const outcomes: string[] = [];
  const client = async (): Promise<void> => {
    while (true) {
      const outcome = await ask(url);
      outcomes.push(outcome);
      if (outcomes.length === 20 * clientsAtOnce) node.signal('SIGTERM');
      if (outcome === 'ECONNREFUSED') return;
    }
  };
  await Promise.all(Array.from({ length: clientsAtOnce }, client));
  assert.equal((await node.ended).code, 0);
  return outcomes;
}

/** Stops nodes until one stop cut nobody off. */
async function assertStops(stop: () => Promise<readonly string[]>): Promise<void> {
  const cutOff: string[][] = [];
  while (cutOff.length < stopsMax) {
    const others = (await stop()).filter((outcome) => outcome !== '200' && outcome !== 'ECONNREFUSED');
    if (others.length === 0) return;
    cutOff.push(others);
  }
  assert.fail(`cut off in every stop: ${JSON.stringify(cutOff)}`);
}

describe('a node of one process that is asked to stop', () => {
  it('answers or refuses every new connection', { timeout: 120_000 }, () =>
    assertStops(async () => {
      const folder = createDataFolder();
      const node = serveEmbedded(folder.path);
      try {
        return await outcomesOf(`${await node.ready}/health/live`, node);
      } finally {
        node.signal('SIGKILL');
        await node.ended;
        folder.remove();
      }
    }),
  );
});

for (const database of databases.filter((name) => name === 'postgres'))
  describe('a node of two workers that is asked to stop', () => {
    it('answers or refuses every new connection', { timeout: 120_000 }, async () => {
      const one = await startTestServer(database);
      try {
        await assertStops(async () => {
          const node = await startWorkerNode(one, 2);
          try {
            return await outcomesOf(`${node.origin}/health/live`, node.supervisor);
          } finally {
            await node.kill();
          }
        });
      } finally {
        await one.close();
      }
    });
    it('with a drain delay it leaves SIGTERM to the supervisor, is not ready at once, and answers until the delay is over', {
      timeout: 120_000,
    }, async () => {
      const one = await startTestServer(database);
      const node = await startWorkerNode(one, 2, { GATEHOUSE_DRAIN_DELAY: '3' });
      try {
        const ready = (): Promise<string> => ask(`${node.origin}/health/ready`);
        for (const pid of node.workerPids()) process.kill(pid, 'SIGTERM'); // as a service manager does, to all at once
        await wait(500);
        for (let turn = 0; turn < 4; turn += 1) assert.equal(await ready(), '200');
        const askedAt = performance.now();
        node.supervisor.signal('SIGTERM');
        while ((await ready()) !== '503') await wait(10);
        assert.equal(await ask(`${node.origin}/health/live`), '200');
        assert.equal((await node.supervisor.ended).code, 0);
        assert.ok(performance.now() - askedAt >= 3000);
        assert.equal(await ready(), 'ECONNREFUSED');
      } finally {
        await node.kill();
        await one.close();
      }
    });
  });
