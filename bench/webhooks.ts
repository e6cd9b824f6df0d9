// P12: 200 events a second to five webhooks of a tenant, of which one refuses connections and one answers after nine seconds: how long
// after an event the others hear of it, and what that takes from the rate of tokens; beside it what a bare sender takes. On the embedded database, and on PostgreSQL when
// BENCH_WEBHOOKS_POSTGRES is a superuser's URL.
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { type GatehouseProcess, type MeasuredProcess, startGatehouse, startPeer } from './process.ts';
import { createDatabase } from './scim-postgres.ts';
import { atMost, type Bench, type Figure, ratio } from './table.ts';
import { type BenchTenant, call, createTenant, managementToken } from './tenant.ts';

const eventsPerSecond = 200;
const seconds = Number(process.env['BENCH_WEBHOOKS_SECONDS'] ?? 30);
/** Until then Node still compiles what a request runs. */
const warmUpSeconds = 5;
const slowMs = 9000;
const healthy = ['/a', '/b', '/c'];

export const webhooks: Bench = async () => {
  const figures = await onDatabase('SQLite');
  const server = process.env['BENCH_WEBHOOKS_POSTGRES'];
  if (server === undefined) return figures;
  const database = await createDatabase(server);
  try {
    return [...figures, ...(await onDatabase('PostgreSQL', database.url))];
  } finally {
    await database.drop();
  }
};

async function onDatabase(name: string, databaseUrl?: string): Promise<readonly Figure[]> {
  const receiver = await startPeer('webhook-receiver', { SLOW_MS: `${slowMs}` });
  const gatehouse = await startGatehouse(undefined, {
    GATEHOUSE_EGRESS_ALLOW: '127.0.0.0/8',
    ...(databaseUrl === undefined ? {} : { GATEHOUSE_DATABASE_URL: databaseUrl }),
  });
  try {
    return await measure(name, gatehouse, receiver);
  } finally {
    await gatehouse.stop();
    await receiver.stop();
  }
}

async function measure(name: string, gatehouse: GatehouseProcess, receiver: MeasuredProcess): Promise<readonly Figure[]> {
  const quiet = await createTenant(gatehouse, 'quiet');
  const told = await createTenant(gatehouse, 'told');
  const token = await managementToken(told);
  const addresses = [...healthy, '/slow'].map((path) => `${receiver.url}${path}`);
  for (const url of [...addresses, `http://127.0.0.1:${await deadPort()}/`])
    await call(`${told.managementApi}/webhooks`, token, 'POST', { url, types: ['user.created'] });
  await tokensBeside(await createTenant(gatehouse, 'warm-up'), warmUpSeconds);
  const startMs = gatehouse.cpuMs();
  const without = await tokensBeside(quiet, seconds);
  const quietMs = gatehouse.cpuMs() - startMs;
  const bare = await tokensBesideBareSender(await createTenant(gatehouse, 'bare'), receiver);
  const middleMs = gatehouse.cpuMs();
  const beside = await tokensBeside(told, seconds);
  const expected = eventsPerSecond * seconds;
  const latenciesMs = await allLatencies(receiver, expected);
  const spentMs = gatehouse.cpuMs() - middleMs - quietMs * (beside / without);
  const p95Ms = Math.max(...latenciesMs.map((each) => percentile(each, 0.95)));
  return [
    {
      ...atMost('P12', `${eventsPerSecond} events/s, ${name}: p95 beside a dead and a slow endpoint`, p95Ms / 1000, 's', 2),
      more: { p50_s: percentile(latenciesMs[0]!, 0.5) / 1000, events: expected, cpu_ms_an_event: spentMs / expected },
    },
    ratio('P12', `tokens beside them, ${name}: over the same events without webhooks`, beside / without, 0.9, {
      without,
      with: beside,
      beside_a_bare_sender: bare,
    }),
  ];
}

/** Tokens a second that one connection gets while people are created. */
async function tokensBeside(tenant: BenchTenant, forSeconds: number): Promise<number> {
  const creating = createPeople(tenant, forSeconds);
  let tokens = 0;
  const endMs = performance.now() + forSeconds * 1000;
  for (; performance.now() < endMs; tokens += 1) await managementToken(tenant);
  await creating;
  return tokens / forSeconds;
}

/** The same where a bare Node process makes the deliveries: what two processors leave to anybody. */
async function tokensBesideBareSender(tenant: BenchTenant, { url }: MeasuredProcess): Promise<number> {
  const rate = eventsPerSecond * healthy.length;
  const sender = await startPeer('webhook-sender', { RECEIVER: url, PATHS: '/bare', DELIVERIES_PER_SECOND: `${rate}` });
  try {
    return await tokensBeside(tenant, seconds);
  } finally {
    await sender.stop();
  }
}

/** A bulk of people each second. */
async function createPeople(tenant: BenchTenant, forSeconds: number): Promise<void> {
  const token = await managementToken(tenant);
  const beganMs = performance.now();
  for (let second = 0; second < forSeconds; second += 1) {
    const Operations = Array.from({ length: eventsPerSecond }, (_, at) => {
      const userName = `person-${second}-${at}`;
      const emails = [{ value: `${userName}@corp.example`, primary: true }];
      return { method: 'POST', path: '/Users', bulkId: `${at}`, data: { userName, emails } };
    });
    const answer = await call(`${tenant.baseUrl}/scim/v2/Bulk`, token, 'POST', {
      schemas: ['urn:ietf:params:scim:api:messages:2.0:BulkRequest'],
      Operations,
    });
    const made = JSON.stringify(answer).match(/"status":"201"/g)?.length ?? 0;
    if (made !== eventsPerSecond) throw new Error(`${made} of ${eventsPerSecond} people were made`);
    await new Promise((done) => setTimeout(done, Math.max(0, beganMs + (second + 1) * 1000 - performance.now())));
  }
}

/** From an event's time to its first arrival at a path of the receiver, in milliseconds, sorted. */
const latenciesAt = async (receiver: MeasuredProcess, path: string): Promise<readonly number[]> =>
  (await fetch(`${receiver.url}${path}`)).json() as Promise<readonly number[]>; // of bench/peers/webhook-receiver.ts

/** Waits until so many events arrived at each healthy path; gives what `latenciesAt` does for each. */
async function allLatencies(receiver: MeasuredProcess, expected: number): Promise<readonly (readonly number[])[]> {
  for (;;) {
    const all = await Promise.all(healthy.map((path) => latenciesAt(receiver, path)));
    if (all.every(({ length }) => length >= expected)) return all;
    await new Promise((done) => setTimeout(done, 500));
  }
}

const percentile = (sorted: readonly number[], share: number): number => sorted[Math.floor((sorted.length - 1) * share)] ?? Number.NaN;

/** Where nobody listens. */
async function deadPort(): Promise<number> {
  const server = createTcpServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo; // listening on TCP
  await new Promise((resolve) => server.close(resolve));
  return port;
}
