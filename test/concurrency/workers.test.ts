// `serve --workers`: several processes on one port and one PostgreSQL behave as one. Real processes, real parallel requests.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { queueMessage } from '../../src/approvals/mailed/mail-delivery.ts';
import type { Tenant } from '../../src/domain/tenant/tenant.ts';
import { createTestDatabase, databases } from '../support/databases.ts';
import { createClient, createOtherTenant, createUser, type TestClient, type TestUser } from '../support/fixtures.ts';
import { createDataFolder, type Ended, serveEmbedded } from '../support/gatehouse-process.ts';
import { callJson, clientCredentialsToken, createTestTenant } from '../support/management.ts';
import { exchange, issueCode, refresh, type Tokens, tokensOf } from '../support/oidc.ts';
import { askUntilServed } from '../support/overload.ts';
import { childrenOf } from '../support/private-postgres.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { type SmtpServer, startSmtpServer } from '../support/smtp-server.ts';
import { startWorkerNode, type WorkerNode } from '../support/worker-node.ts';

const workers = 2;
const refusedGrant = '400 {"error":"invalid_grant"}';

const limit = 10;
const rounds = 10;
const wrongCredentials = 'grant_type=client_credentials&client_id=nobody&client_secret=wrong';
const tokenEndpoint = ({ baseUrl }: Tenant): string => `${baseUrl}/v1/idp/oidc/token`;

/** One request on a connection of the agent, or on its own without one; gives the status. */
function ask(url: string, body?: string, agent?: Agent): Promise<number> {
  return new Promise((resolve, reject) => {
    const headers = body === undefined ? {} : { 'content-type': 'application/x-www-form-urlencoded' };
    const sent = request(url, { method: body === undefined ? 'GET' : 'POST', agent: agent ?? false, headers }, (answer) => {
      answer.resume();
      answer.once('end', () => resolve(answer.statusCode!));
    });
    sent.once('error', reject);
    sent.end(body);
  });
}

const many = <T>(count: number, send: () => Promise<T>): Promise<readonly T[]> => Promise.all(Array.from({ length: count }, send));

async function tally(responses: readonly Response[]): Promise<Record<string, number>> {
  const names = await Promise.all(
    responses.map(async (response) => (response.status === 200 ? '200' : `${response.status} ${await response.clone().text()}`)),
  );
  return countOf(names);
}

const countOf = (names: readonly (string | number)[]): Record<string, number> =>
  Object.fromEntries([...Map.groupBy(names, String)].map(([name, all]) => [name, all.length]));

for (const database of databases.filter((name) => name === 'postgres')) {
  describe(`${workers} workers`, () => {
    let one: TestServer;
    let node: WorkerNode;
    let tenant: Tenant;
    let client: TestClient;
    let user: TestUser;
    let smtp: SmtpServer;
    before(async () => {
      one = await startTestServer(database);
      const { services } = one.gatehouse;
      tenant = await limited('racing');
      client = await createClient(services, tenant);
      user = await createUser(services, tenant);
      smtp = await startSmtpServer();
      node = await startWorkerNode(one, workers, { GATEHOUSE_METRICS_LISTEN: '127.0.0.1:0', GATEHOUSE_SMTP_URL: smtp.url });
    });
    after(async () => {
      await node?.kill();
      await smtp?.close();
      await one.close();
    });
    const limited = (slug: string): Promise<Tenant> =>
      createOtherTenant(one.gatehouse.services, slug, { rate_limits: { client_auth_failures_per_ip: { limit, period_seconds: 600 } } });
    let shed = 0;
    const settled = (send: () => Promise<Response>): Promise<Response> =>
      askUntilServed(send, () => {
        shed += 1;
      });
    const code = (): Promise<string> => issueCode(one, tenant, client, user);

    it('1,000 parallel exchanges of one code: exactly one success, and its grant is ended by the others', async () => {
      const shared = await code();
      const responses = await many(1000, () => settled(() => exchange(node.at(tenant), client, shared)));
      assert.deepEqual(await tally(responses), { '200': 1, [refusedGrant]: 999 });
      const won = (await responses.find((response) => response.status === 200)?.json()) as Tokens;
      assert.equal((await refresh(node.at(tenant), client, won.refresh_token)).status, 400);
    });
    it('200 parallel refreshes of one token: exactly one success, then the family is dead', async () => {
      const { refresh_token: token } = await tokensOf(await exchange(node.at(tenant), client, await code()));
      const responses = await many(200, () => settled(() => refresh(node.at(tenant), client, token)));
      assert.deepEqual(await tally(responses), { '200': 1, [refusedGrant]: 199 });
      const won = (await responses.find((response) => response.status === 200)?.json()) as Tokens;
      assert.equal((await refresh(node.at(tenant), client, won.refresh_token)).status, 400);
    });
    it('metrics are those of all workers, and of the supervisor', async () => {
      const text = await (await fetch(node.metricsUrl())).text();
      assert.match(text, /^gatehouse_requests_total\{surface="oidc",status="200"\} 3$/m);
      assert.match(text, /^gatehouse_requests_total\{surface="oidc",status="400"\} 1200$/m);
      assert.match(text, /^gatehouse_worker_deaths_total 0$/m);
    });
    it('times to answer in the statistics are those of all workers', async () => {
      const { adminClientId, adminClientSecret, managementApi } = await createTestTenant(one);
      const managed = managementApi.replace(one.url, node.origin);
      const token = await clientCredentialsToken(managed.replace('/v1/management', ''), adminClientId, adminClientSecret);
      const requestsOf = async (): Promise<number | undefined> => {
        const response = await callJson(`${managed}/statistics`, token, 'GET');
        const { latencies } = (await response.json()) as { latencies: readonly { surface: string; requests: number }[] };
        return latencies.find(({ surface }) => surface === 'oidc')?.requests;
      };
      // Whichever worker is asked.
      assert.deepEqual(new Set(await many(4 * workers, requestsOf)), new Set([1204 + shed]));
    });
    it('7.19 oauth.rate_limited: one count for all workers', async () => {
      const asked = async (round: number): Promise<Record<string, number>> => {
        const endpoint = tokenEndpoint(node.at(await limited(`together-${round}`)));
        return countOf(await many(4 * limit, () => ask(endpoint, wrongCredentials)));
      };
      // A supervisor that has not counted within 250 ms is passed over: on a machine as busy as that it is tried with another tenant.
      let counts = await asked(1);
      for (let round = 2; counts['401'] !== limit && round <= rounds; round += 1) counts = await asked(round);
      assert.deepEqual(counts, { '401': limit, '429': 3 * limit });
    });
    it('7.19 oauth.rate_limited: while the supervisor is silent, each worker counts its part of the limit', async () => {
      const endpoint = tokenEndpoint(node.at(await limited('apart')));
      const agent = new Agent({ keepAlive: true, maxSockets: 4 * workers });
      try {
        // The supervisor hands out connections in turn, so each worker has its part of them.
        await many(4 * workers, () => ask(`${node.origin}/health/live`, undefined, agent));
        node.supervisor.signal('SIGSTOP');
        const statuses = await many(4 * limit, () => ask(endpoint, wrongCredentials, agent));
        assert.deepEqual(countOf(statuses), { '401': limit, '429': 3 * limit });
      } finally {
        node.supervisor.signal('SIGCONT');
        agent.destroy();
      }
    });
    it('a client disabled elsewhere is refused by every worker within a second', async () => {
      const machine = await createClient(one.gatehouse.services, tenant, {
        tokenEndpointAuthMethod: 'client_secret_post',
        grantTypes: ['client_credentials'],
        scopes: ['users:read'],
      });
      const credentials = `grant_type=client_credentials&client_id=${machine.clientId}&client_secret=${machine.secret}`;
      const askAll = (): Promise<readonly number[]> => many(4 * workers, () => ask(tokenEndpoint(node.at(tenant)), credentials));
      assert.deepEqual(countOf(await askAll()), { '200': 4 * workers });
      await one.gatehouse.services.cache.write(tenant.id, (queries) =>
        queries
          .updateTable('clients')
          .set({ enabled: 0 })
          .where('tenant_id', '=', tenant.id)
          .where('client_id', '=', machine.clientId)
          .execute(),
      );
      await wait(1000);
      assert.deepEqual(countOf(await askAll()), { '401': 4 * workers });
    });
    it('the keeper killed: another is named at once and does its work, and the dead one is replaced', async () => {
      const [dead, pids] = [node.keeper()!, node.workerPids()];
      const sentTo = async (to: string): Promise<void> => {
        await one.gatehouse.services.database.write(tenant.id, (queries) =>
          queueMessage(queries, { ...one.gatehouse.services, mail: { transport: 'smtp' } }, tenant, {
            to,
            subject: 'One',
            text: 'one',
            html: 'one',
          }),
        );
        await node.until(() => smtp.mails.some((mail) => mail.to.includes(to)));
      };
      await sentTo('before@people.example');
      process.kill(dead, 'SIGKILL');
      await node.until(() => node.keeper() !== dead);
      // By the supervisor's own clock, and before anybody takes the dead worker's place.
      const [diedAt, namedAt] = [node.toldAt('a worker died', dead), node.toldAt('a worker keeps the jobs of this node', node.keeper()!)];
      assert.ok(namedAt >= diedAt);
      assert.ok(pids.includes(node.keeper()!));
      await sentTo('after@people.example');
      assert.equal((await tokensOf(await exchange(node.at(tenant), client, await code()))).token_type, 'Bearer');
      await node.until(() => node.workerPids().length === workers && node.servingCount() === workers + 1);
      assert.match(await (await fetch(node.metricsUrl())).text(), /^gatehouse_worker_deaths_total 1$/m);
    });
    it('SIGTERM: every worker finishes, exit 0, no process is left', async () => {
      const pids = node.workerPids();
      node.supervisor.signal('SIGTERM');
      const { code: exitCode, stdout } = await node.supervisor.ended;
      assert.equal(exitCode, 0);
      assert.equal(stdout, `gatehouse ready ${one.url}\n`, 'one ready line, and nothing else');
      for (const pid of pids) assert.throws(() => process.kill(pid, 0), /ESRCH/);
    });
  });

  describe('workers that cannot serve', () => {
    it('none lives: who comes is refused or cut off at once, none waits; the next worker serves', { timeout: 120_000 }, async () => {
      const one = await startTestServer(database);
      const node = await startWorkerNode(one, workers);
      const agent = new Agent({ keepAlive: true, maxSockets: 4 * workers });
      const health = `${node.origin}/health/live`;
      try {
        await many(4 * workers, () => ask(health, undefined, agent));
        for (const pid of node.workerPids()) process.kill(pid, 'SIGKILL');
        // On connections that were kept, and on new ones while the workers die and when they are dead.
        const ended = (of?: Agent): Promise<string> =>
          ask(health, undefined, of).then(String, ({ code }: NodeJS.ErrnoException) => code ?? '');
        const until: string[] = [];
        const early = many(4 * workers, () => ended(agent));
        while (!until.includes('ECONNREFUSED')) until.push(...(await many(10, () => ended())));
        const outcomes = new Set([...until, ...(await early)]);
        assert.deepEqual(
          [...outcomes].filter((outcome) => !['200', 'ECONNREFUSED', 'ECONNRESET'].includes(outcome)),
          [],
        );
        await node.until(() => node.servingCount() === 2 * workers);
        assert.equal(await ask(health), 200);
      } finally {
        agent.destroy();
        await node.kill();
        await one.close();
      }
    });
    it('five deaths in a minute: exit 1, and it says why', { timeout: 120_000 }, async () => {
      const one = await startTestServer(database);
      const node = await startWorkerNode(one, workers);
      try {
        let killed = 0;
        while (killed < 5) {
          // Whether it serves or has just begun: a minute is short on a busy machine.
          await node.until(() => node.workerPids().length > 0);
          const [victim] = node.workerPids();
          process.kill(victim!, 'SIGKILL');
          killed += 1;
          await node.until(() => !node.workerPids().includes(victim!));
        }
        const { code: exitCode, stderr } = await node.supervisor.ended;
        assert.equal(exitCode, 1);
        assert.match(stderr, /expected fewer than 5 workers to die in a minute, found 5: stopping/);
      } finally {
        await node.kill();
        await one.close();
      }
    });
    it('SIGTERM while they start: exit 0, nothing was ready, no process is left', async () => {
      const own = await createTestDatabase(database);
      const environment = { GATEHOUSE_DATABASE_URL: own.databaseUrl!, GATEHOUSE_LOG_LEVEL: 'info' };
      const node = serveEmbedded(own.dataFolder, { args: ['--workers', '2'], environment });
      while (!node.stderr().includes('"a worker starts"')) await wait(5);
      const pids = childrenOf(node.pid);
      node.signal('SIGTERM');
      const { code: exitCode, stdout } = await node.ended;
      await own.drop();
      assert.deepEqual([exitCode, stdout], [0, '']);
      for (const pid of pids) assert.throws(() => process.kill(pid, 0), /ESRCH/);
    });
    it('a port of metrics that is taken: told, exit 1, no worker was started', async () => {
      const taken = createServer().listen(0, '127.0.0.1');
      await once(taken, 'listening');
      const own = await createTestDatabase(database);
      const listen = `127.0.0.1:${(taken.address() as AddressInfo).port}`; // it listens
      const environment = { GATEHOUSE_DATABASE_URL: own.databaseUrl!, GATEHOUSE_METRICS_LISTEN: listen };
      const { code: exitCode, stderr } = await serveEmbedded(own.dataFolder, { args: ['--workers', '2'], environment }).ended;
      await own.drop();
      taken.close();
      assert.equal(exitCode, 1);
      assert.match(stderr, /expected a free port, found another program at 127\.0\.0\.1:\d+\. .*--metrics-listen 127\.0\.0\.1:\d+/);
    });
    it('a faulty configuration: told once, with its own exit code', async () => {
      const own = await createTestDatabase(database);
      const environment = { GATEHOUSE_DATABASE_URL: own.databaseUrl!.replace('gatehouse_test_', 'absent_') };
      const { code: exitCode, stderr } = await serveEmbedded(own.dataFolder, { args: ['--workers', '4'], environment }).ended;
      await own.drop();
      assert.equal(exitCode, 2);
      assert.equal(stderr.match(/database_url: expected a PostgreSQL prepared for Gatehouse/g)?.length, 1, stderr);
    });
  });
}

describe('workers on the embedded database', () => {
  const serve = async (workersWanted: string): Promise<Ended> => {
    const folder = createDataFolder();
    const ended = await serveEmbedded(folder.path, { args: ['--workers', workersWanted] }).ended;
    folder.remove();
    return ended;
  };
  it('refused with what to type, exit 2', async () => {
    const { code, stderr } = await serve('2');
    assert.equal(code, 2);
    assert.match(
      stderr,
      /workers: expected 1 with the embedded database, which one process serves fastest, found 2\. Set GATEHOUSE_DATABASE_URL to a PostgreSQL, or GATEHOUSE_WORKERS=1/,
    );
  });
  it('a count out of bounds is refused with what was expected', async () => {
    for (const wanted of ['0', '65', 'many']) {
      const { code, stderr } = await serve(wanted);
      assert.equal(code, 2);
      assert.match(stderr, new RegExp(`workers: expected auto or a whole number from 1 to 64, found ${wanted}`));
    }
  });
  it('auto is one process there', async () => {
    const folder = createDataFolder();
    const node = serveEmbedded(folder.path, { environment: { GATEHOUSE_WORKERS: 'auto' } });
    assert.equal(await ask(`${await node.ready}/health/ready`), 200);
    assert.deepEqual(childrenOf(node.pid), []);
    node.signal('SIGTERM');
    assert.equal((await node.ended).code, 0);
    folder.remove();
  });
});
