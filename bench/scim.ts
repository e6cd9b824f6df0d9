// P5: SCIM at 1,000,000 users in one tenant on the embedded database, over HTTP, the figures of 07-scim (plus 2 ms for HTTP).
// BENCH_USERS sets another size; BENCH_SCIM_DATA keeps the loaded folder for the next run.
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TenantId } from '../src/domain/ids.ts';
import { type GatehouseProcess, startGatehouse } from './process.ts';
import { loadDirectory, personOf } from './scim-directory.ts';
import { atMost, type Bench, type Figure } from './table.ts';
import { type BenchTenant, createTenant, managementToken } from './tenant.ts';

const users = Number(process.env['BENCH_USERS'] ?? 1_000_000);
const groupMembers = Math.min(100_000, users);
const httpMs = 2;

export const scim: Bench = async () => {
  const kept = process.env['BENCH_SCIM_DATA'];
  const folder = kept ?? mkdtempSync(join(tmpdir(), 'gatehouse-bench-scim-'));
  try {
    const loaded = await prepare(folder);
    const gatehouse = await startGatehouse(folder);
    try {
      return await measure(gatehouse, loaded, folder);
    } finally {
      await gatehouse.stop();
    }
  } finally {
    if (kept === undefined) rmSync(folder, { recursive: true, force: true });
  }
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
  const progress = (count: number): void => {
    if (count % 50_000 === 0) console.error(`  ${count.toLocaleString('en')} users, ${Math.round((performance.now() - started) / 1000)} s`);
  };
  const group = loadDirectory({ file: join(folder, 'gatehouse.db'), tenant: tenant.id as TenantId, users, groupMembers, progress });
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
}

/** Sends requests one after another, the first tenth as warm-up, and gives percentiles of their times. */
async function latencyOf(count: number, send: (at: number) => Promise<Answer>): Promise<Latency> {
  const times: number[] = [];
  const warmUp = Math.ceil(count / 10);
  for (let at = 0; at < count + warmUp; at += 1) {
    const answer = await send(at);
    if (answer.status >= 300) throw new Error(`${answer.status}: ${answer.text.slice(0, 300)}`);
    if (at >= warmUp) times.push(answer.ms);
  }
  times.sort((a, b) => a - b);
  const at = (share: number): number => times[Math.min(times.length - 1, Math.floor(times.length * share))]!;
  return { p50: at(0.5), p99: at(0.99) };
}

const bounded = (what: string, { p50, p99 }: Latency, barMs: number): Figure => ({
  ...atMost('P5', what, p99, 'ms p99', barMs + httpMs),
  more: { p50 },
});

async function measure(gatehouse: GatehouseProcess, { tenant, group, loadSeconds }: Loaded, folder: string): Promise<readonly Figure[]> {
  const baseUrl = `${gatehouse.url}/t/bench`;
  const send = sender(`${baseUrl}/scim/v2`, await managementToken({ ...tenant, baseUrl }));
  const random = pseudoRandom(1);
  const someone = (): ReturnType<typeof personOf> => personOf(Math.floor(random() * users));
  const list = (filter: string, more = ''): Promise<Answer> => send('GET', `/Users?filter=${encodeURIComponent(filter)}${more}`);
  const figures: Figure[] = [
    {
      id: 'P5',
      what: 'users loaded',
      value: users,
      unit: 'users',
      more: { seconds: loadSeconds, 'database MiB': statSync(join(folder, 'gatehouse.db')).size / 1_048_576 },
    },
    bounded('userName eq', await latencyOf(1000, () => list(`userName eq "${someone().userName.toUpperCase()}"`)), 5),
    bounded('externalId eq', await latencyOf(1000, () => list(`externalId eq "${someone().externalId}"`)), 5),
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
  figures.push(
    ...(await measurePaging(send)),
    ...(await measureWrites(send, group, users)),
    ...(await measureGroup(send, gatehouse, group)),
  );
  figures.push({ id: 'P5', what: 'resident memory at the end', value: gatehouse.residentMib(), unit: 'MiB' });
  return figures;
}

const fullName = ({ given, family }: ReturnType<typeof personOf>): string => `${given} ${family}`;
/** The user name without its last digits: the fewer are left, the more users share it. */
const prefixOf = (userName: string, digitsDropped: number): string => userName.slice(0, -digitsDropped);
const pick = <T>(random: () => number, list: readonly T[]): T => list[Math.floor(random() * list.length)]!;

async function measurePaging(send: Send): Promise<readonly Figure[]> {
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

async function measureWrites(send: Send, group: string, count: number): Promise<readonly Figure[]> {
  const found = await send('GET', `/Users?count=200&attributes=id&startIndex=${count - 250}`);
  const ids = (JSON.parse(found.text) as { Resources: readonly { id: string }[] }).Resources.map((resource) => resource.id);
  const member = await latencyOf(150, (at) =>
    send('PATCH', `/Groups/${group}`, { Operations: [{ op: 'add', path: 'members', value: [{ value: ids[at] }] }] }),
  );
  const run = Date.now();
  const bulks: number[] = [];
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
  }
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
