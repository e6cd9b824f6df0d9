// P5: SCIM in one tenant on the embedded database, over HTTP, the figures of 07-scim (plus 2 ms for HTTP): 250,000 users unless BENCH_USERS says
// other (1000000 as the bar has it), BENCH_GROUP members of a group; BENCH_SCIM_DATA keeps the loaded folder for the next run; BENCH_SCIM_POSTGRES is a superuser's
// URL on a PostgreSQL server to measure on instead.
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TenantId } from '../src/domain/ids.ts';
import { type GatehouseProcess, startGatehouse } from './process.ts';
import { loadDirectory, personOf } from './scim-directory.ts';
import { createDatabase, loadPostgres } from './scim-postgres.ts';
import { atMost, type Bench, type Figure } from './table.ts';
import { type BenchTenant, createTenant, managementToken } from './tenant.ts';

const users = Number(process.env['BENCH_USERS'] ?? 250_000);
const groupMembers = Math.min(Number(process.env['BENCH_GROUP'] ?? 100_000), users);
const httpMs = 2;
/** Look-ups before the first figure: until then Node still compiles what a request runs. */
const warmUpRequests = 3000;

export const scim: Bench = async () => {
  const server = process.env['BENCH_SCIM_POSTGRES'];
  if (server !== undefined) return onPostgres(server);
  const kept = process.env['BENCH_SCIM_DATA'];
  const folder = kept ?? mkdtempSync(join(tmpdir(), 'gatehouse-bench-scim-'));
  try {
    const loaded = await prepare(folder);
    const gatehouse = await startGatehouse(folder);
    try {
      return await measure(gatehouse, loaded, statSync(join(folder, 'gatehouse.db')).size / 1_048_576, 'all');
    } finally {
      await gatehouse.stop();
    }
  } finally {
    if (kept === undefined) rmSync(folder, { recursive: true, force: true });
  }
};

/** The figures that have a bar on PostgreSQL (design 15), in a database made for it on this server and dropped afterwards. */
async function onPostgres(server: string): Promise<readonly Figure[]> {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-bench-scim-'));
  const database = await createDatabase(server);
  try {
    const gatehouse = await startGatehouse(folder, { GATEHOUSE_DATABASE_URL: database.url });
    try {
      const tenant = await createTenant(gatehouse, 'bench');
      const started = performance.now();
      const group = await loadPostgres(database.url, {
        tenant: tenant.id as TenantId,
        users,
        groupMembers,
        progress: progressSince(started),
      });
      const loadSeconds = (performance.now() - started) / 1000;
      return await measure(gatehouse, { tenant, group, loadSeconds }, await database.mebibytes(), 'keys');
    } finally {
      await gatehouse.stop();
    }
  } finally {
    await database.drop();
    rmSync(folder, { recursive: true, force: true });
  }
}

const progressSince =
  (started: number) =>
  (count: number): void => {
    if (count % 50_000 === 0) console.error(`  ${count.toLocaleString('en')} users, ${Math.round((performance.now() - started) / 1000)} s`);
  };

interface Loaded {
  readonly tenant: Omit<BenchTenant, 'baseUrl'>;
  readonly group: string;
  readonly loadSeconds: number;
}

/** Creates the tenant through the system API, then loads the directory; a kept folder is only read. */
async function prepare(folder: string): Promise<Loaded> {
  const note = join(folder, 'bench-scim.json');
  if (existsSync(note)) return JSON.parse(readFileSync(note, 'utf8')) as Loaded; // written below
  const gatehouse = await startGatehouse(folder);
  const tenant = await createTenant(gatehouse, 'bench').finally(() => gatehouse.stop());
  const started = performance.now();
  const group = loadDirectory({
    file: join(folder, 'gatehouse.db'),
    tenant: tenant.id as TenantId,
    users,
    groupMembers,
    progress: progressSince(started),
  });
  const loaded = { tenant, group, loadSeconds: (performance.now() - started) / 1000 };
  writeFileSync(note, JSON.stringify(loaded));
  return loaded;
}

interface Answer {
  readonly status: number;
  readonly ms: number;
  readonly bytes: number;
  readonly text: string;
}

type Send = (method: string, path: string, body?: unknown, keepText?: boolean) => Promise<Answer>;

function sender(base: string, token: string): Send {
  const agent = new Agent({ keepAlive: true, maxSockets: 4 });
  return (method, path, body, keepText = true) =>
    new Promise((resolve, reject) => {
      const started = performance.now();
      const payload = body === undefined ? undefined : JSON.stringify(body);
      const headers = {
        authorization: `Bearer ${token}`,
        ...(payload === undefined ? {} : { 'content-type': 'application/scim+json', 'content-length': Buffer.byteLength(payload) }),
      };
      const sent = request(`${base}${path}`, { method, agent, headers }, (response) => {
        let text = '';
        let bytes = 0;
        response.on('data', (chunk: Buffer) => {
          bytes += chunk.length;
          if (keepText) text += chunk.toString('latin1');
        });
        response.on('end', () => resolve({ status: response.statusCode ?? 0, ms: performance.now() - started, bytes, text }));
      });
      sent.on('error', reject);
      sent.end(payload);
    });
}

interface Latency {
  readonly p50: number;
  readonly p99: number;
  /** Processor time of the server a request: what other work on the machine does not sway. */
  readonly cpu: number;
}

type Measure = (count: number, send: (at: number) => Promise<Answer>) => Promise<Latency>;

/** Sends requests one after another, the first tenth as warm-up, and gives percentiles of their times. */
const latencyOn =
  (gatehouse: GatehouseProcess): Measure =>
  async (count, send) => {
    const times: number[] = [];
    const warmUp = Math.ceil(count / 10);
    let cpuMs = 0;
    for (let at = 0; at < count + warmUp; at += 1) {
      if (at === warmUp) cpuMs = gatehouse.cpuMs();
      const answer = await send(at);
      if (answer.status >= 300) throw new Error(`${answer.status}: ${answer.text.slice(0, 300)}`);
      if (at >= warmUp) times.push(answer.ms);
    }
    times.sort((a, b) => a - b);
    const at = (share: number): number => times[Math.min(times.length - 1, Math.floor(times.length * share))]!;
    return { p50: at(0.5), p99: at(0.99), cpu: (gatehouse.cpuMs() - cpuMs) / count };
  };

const bounded = (what: string, { p50, p99, cpu }: Latency, barMs: number): Figure => ({
  ...atMost('P5', what, p99, 'ms p99', barMs + httpMs),
  more: { p50, 'ms of CPU': cpu },
});

async function measure(
  gatehouse: GatehouseProcess,
  { tenant, group, loadSeconds }: Loaded,
  mebibytes: number,
  what: 'keys' | 'all',
): Promise<readonly Figure[]> {
  const baseUrl = `${gatehouse.url}/t/bench`;
  const send = sender(`${baseUrl}/scim/v2`, await managementToken({ ...tenant, baseUrl }));
  const random = pseudoRandom(1);
  const latencyOf = latencyOn(gatehouse);
  const someone = (): ReturnType<typeof personOf> => personOf(Math.floor(random() * users));
  const list = (filter: string, more = ''): Promise<Answer> => send('GET', `/Users?filter=${encodeURIComponent(filter)}${more}`);
  for (let at = 0; at < warmUpRequests; at += 1)
    await list(`userName eq "${someone().userName}" or externalId eq "${someone().externalId}"`);
  const figures: Figure[] = [
    {
      id: 'P5',
      what: 'users loaded',
      value: users,
      unit: 'users',
      more: { seconds: loadSeconds, 'database MiB': mebibytes },
    },
    bounded('userName eq', await latencyOf(3000, () => list(`userName eq "${someone().userName.toUpperCase()}"`)), 5),
    bounded('externalId eq', await latencyOf(3000, () => list(`externalId eq "${someone().externalId}"`)), 5),
    bounded(
      'userName eq or externalId eq',
      await latencyOf(3000, () => list(`userName eq "${someone().userName}" or externalId eq "${someone().externalId}"`)),
      5,
    ),
    bounded('page of the members of the large group', await latencyOf(1000, () => list(`groups.value eq "${group}"`, '&count=100')), 20),
  ];
  if (what === 'all') figures.push(...(await measureTexts(list, latencyOf, random)), ...(await measurePaging(send, latencyOf)));
  if (what === 'all') figures.push(...(await measureWalks(send, latencyOf)));
  figures.push(...(await measureWrites(send, latencyOf, group)), ...(await measureGroup(send, gatehouse, group)));
  figures.push({ id: 'P5', what: 'resident memory at the end', value: gatehouse.residentMib(), unit: 'MiB' });
  return figures;
}

type List = (filter: string, more?: string) => Promise<Answer>;

async function measureTexts(list: List, latencyOf: Measure, random: () => number): Promise<readonly Figure[]> {
  const someone = (): ReturnType<typeof personOf> => personOf(Math.floor(random() * users));
  return [
    bounded(
      'userName sw, a few found',
      await latencyOf(500, () => list(`userName sw "${prefixOf(someone().userName, 2)}"`, '&count=100')),
      10,
    ),
    bounded(
      'userName sw, about 2,000 found',
      await latencyOf(300, () => list(`userName sw "${pick(random, ['ada.a', 'ben.b', 'tara.z', 'grace.h'])}"`, '&count=100')),
      10,
    ),
    bounded(
      'displayName sw, about 2,000 found',
      await latencyOf(300, () => list(`displayName sw "${fullName(someone())}"`, '&count=100')),
      10,
    ),
    bounded(
      'emails.value ew',
      await latencyOf(300, () => list(`emails.value ew "${someone().userName.slice(-8)}@corp.example"`, '&count=100')),
      10,
    ),
    bounded(
      'userName co, few found',
      await latencyOf(300, () => list(`userName co "${someone().userName.slice(-9, -1)}"`, '&count=100')),
      50,
    ),
    bounded(
      'userName co, 2 % of all found',
      await latencyOf(300, () => list(`userName co "${pick(random, ['becker', 'tanaka', 'weber', 'hoffm'])}"`, '&count=100')),
      50,
    ),
    bounded('emails.value co, all found', await latencyOf(100, () => list('emails.value co "corp.exam"', '&count=100')), 50),
  ];
}

const fullName = ({ given, family }: ReturnType<typeof personOf>): string => `${given} ${family}`;
/** The user name without its last digits: the fewer are left, the more users share it. */
const prefixOf = (userName: string, digitsDropped: number): string => userName.slice(0, -digitsDropped);
const pick = <T>(random: () => number, list: readonly T[]): T => list[Math.floor(random() * list.length)]!;

async function measurePaging(send: Send, latencyOf: Measure): Promise<readonly Figure[]> {
  const page = (cursor: string): Promise<Answer> => send('GET', `/Users?count=100&cursor=${encodeURIComponent(cursor)}`);
  const nextOf = (answer: Answer): string => (JSON.parse(answer.text) as { nextCursor?: string }).nextCursor ?? '';
  const first = await latencyOf(100, () => page(''));
  let cursor = nextOf(await page(''));
  for (let pages = 0; pages < Math.min(3000, users / 100 - 200); pages += 1) cursor = nextOf(await page(cursor));
  const late = await latencyOf(100, async () => {
    const answer = await page(cursor);
    cursor = nextOf(answer);
    return answer;
  });
  return [
    { id: 'P5', what: 'cursor page 1', value: first.p50, unit: 'ms p50', more: { p99: first.p99 } },
    { ...atMost('P5', 'cursor page 3,000 over page 1', late.p50 / first.p50, 'x', 1.3), more: { p50: late.p50, p99: late.p99 } },
  ];
}

/** Sorted pages come from an index; a filter no index serves is walked, and others are answered meanwhile. */
async function measureWalks(send: Send, latencyOf: Measure): Promise<readonly Figure[]> {
  const figures: Figure[] = [];
  for (const order of ['displayName', 'name.familyName&sortOrder=descending', 'meta.lastModified']) {
    figures.push(
      bounded(
        `page sorted by ${order.replace('&sortOrder=', ', ')}`,
        await latencyOf(100, () => send('GET', `/Users?sortBy=${order}&count=100`)),
        10,
      ),
    );
  }
  const startedAt = performance.now();
  const walking = send('GET', `/Users?filter=${encodeURIComponent('title co "nobody has this"')}`);
  let isOver = false;
  void walking.then(() => {
    isOver = true;
  });
  const beside: number[] = [];
  while (!isOver) beside.push((await send('GET', '/ServiceProviderConfig')).ms);
  const seconds = (performance.now() - startedAt) / 1000;
  beside.sort((a, b) => a - b);
  figures.push({
    ...atMost('P5', 'another request during a walk of the whole directory', beside[Math.floor(beside.length * 0.99)]!, 'ms p99', 50),
    more: { p50: beside[beside.length >> 1]!, requests: beside.length, 'walk seconds': seconds },
  });
  return figures;
}

async function measureWrites(send: Send, latencyOf: Measure, group: string): Promise<readonly Figure[]> {
  const run = Date.now();
  const bulks: number[] = [];
  const ids: string[] = [];
  for (let round = 0; round < 3; round += 1) {
    const Operations = Array.from({ length: 1000 }, (_, at) => {
      const userName = `bulk-${run}-${round}-${at}`;
      return {
        method: 'POST',
        path: '/Users',
        bulkId: `${at}`,
        data: { userName, displayName: userName, emails: [{ value: `${userName}@corp.example`, primary: true }] },
      };
    });
    const answer = await send('POST', '/Bulk', { Operations });
    if ((answer.text.match(/"status":"201"/g) ?? []).length !== 1000) throw new Error(answer.text.slice(0, 300));
    bulks.push(answer.ms / 1000);
    ids.push(...[...answer.text.matchAll(/Users\/([0-9a-f-]{36})"/g)].map((match) => match[1]!));
  }
  // New users, so that every addition changes the group, in a later run on the same folder too.
  const member = await latencyOf(150, (at) =>
    send('PATCH', `/Groups/${group}`, { Operations: [{ op: 'add', path: 'members', value: [{ value: ids[at] }] }] }),
  );
  return [
    bounded('one member added to a group of 100,000', member, 10),
    { ...atMost('P5', 'bulk of 1,000 creations', bulks.toSorted((a, b) => a - b)[1]!, 's', 2), more: { slowest: Math.max(...bulks) } },
  ];
}

async function measureGroup(send: Send, gatehouse: GatehouseProcess, group: string): Promise<readonly Figure[]> {
  const before = gatehouse.residentMib();
  const answer = await send('GET', `/Groups/${group}`, undefined, false);
  const grown = gatehouse.residentMib() - before;
  return [
    {
      id: 'P5',
      what: 'group of 100,000 read whole',
      value: answer.ms,
      unit: 'ms',
      more: { 'MiB sent': answer.bytes / 1_048_576, 'memory grown MiB': grown },
    },
  ];
}

/** A small generator with a seed: every run asks for the same users. */
function pseudoRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 4_294_967_296;
  };
}
