// P13: a connector provisions 5,000 people and a group of half of them to another Gatehouse (BENCH_OUTBOUND_USERS=100000 as the bar has it; BENCH_OUTBOUND_GROUP: another group), one request
// a person, and its node is killed meanwhile, twice at the size of the bar. How long it takes, what memory it needs, that nobody is there twice and a further run
// writes nothing, and how soon one change arrives. On the embedded database, or on PostgreSQL when BENCH_OUTBOUND_POSTGRES is a superuser's URL;
// to a service that others wrote when BENCH_OUTBOUND_TARGET names one (outbound-targets.ts), where the time is that service's and has no bar.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort, pause, startTarget, type Target } from './outbound-targets.ts';
import { type GatehouseProcess, startGatehouse } from './process.ts';
import { createDatabase } from './scim-postgres.ts';
import { atMost, type Bench, type Figure } from './table.ts';
import { type BenchTenant, call, createTenant, managementToken } from './tenant.ts';

const targetName = process.env['BENCH_OUTBOUND_TARGET'] ?? 'gatehouse';
const people = Number(process.env['BENCH_OUTBOUND_USERS'] ?? 5_000);
const members = Number(process.env['BENCH_OUTBOUND_GROUP'] ?? people / 2);
const perBulk = 1000;
/** The bar, half an hour, is for so many: with fewer, waiting until the work of a dead node may be taken over is most of it. */
const peopleOfBar = 100_000;
const isOfBar = people >= peopleOfBar;
const changes = 20;
const environment = { GATEHOUSE_EGRESS_ALLOW: '127.0.0.0/8' };
const schemas = ['urn:ietf:params:scim:api:messages:2.0:BulkRequest'];

export const outboundScim: Bench = async () => {
  const server = process.env['BENCH_OUTBOUND_POSTGRES'];
  if (server === undefined) return fromDatabase('SQLite', {});
  const database = await createDatabase(server);
  try {
    return await fromDatabase('PostgreSQL', { GATEHOUSE_DATABASE_URL: database.url });
  } finally {
    await database.drop();
  }
};

async function fromDatabase(name: string, database: Readonly<Record<string, string>>): Promise<readonly Figure[]> {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-bench-'));
  const target = await startTarget(targetName);
  const url = `http://127.0.0.1:${await freePort()}`; // the same after each death
  const start = (): Promise<GatehouseProcess> =>
    startGatehouse(folder, { ...environment, ...database, GATEHOUSE_LISTEN: url.slice('http://'.length), GATEHOUSE_PUBLIC_URL: url });
  const source = { node: await start(), start };
  try {
    return await measure(name, source, target);
  } finally {
    await source.node.stop();
    await target.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

interface Source {
  node: GatehouseProcess;
  readonly start: () => Promise<GatehouseProcess>;
}

async function measure(name: string, source: Source, target: Target): Promise<readonly Figure[]> {
  const here = await createTenant(source.node, 'source');
  await createPeople(here);
  const fields = { name: 'Target', ...target.address, groups: ['Staff'], rate: 200 };
  const { id } = (await manage(here, 'POST', '/connectors', fields)) as { id: string };
  const beganMs = performance.now();
  const idleMib = source.node.residentMib();
  let mostMib = idleMib;
  const deaths = isOfBar ? [people / 3, (people * 2) / 3] : [people / 2];
  for (;;) {
    await pause(500);
    const { state, links } = await statusOf(here, id);
    mostMib = Math.max(mostMib, source.node.residentMib());
    if (deaths.length > 0 && links.linked >= deaths[0]!) {
      deaths.shift();
      await killed(source);
      continue;
    }
    if (state === 'idle' && links.pending === 0) break;
  }
  const minutes = (performance.now() - beganMs) / 60_000;
  const [found, names] = [await target.peopleThere(), await target.groupsThere()];
  const atEnd = await target.writtenUntilNow();
  await manage(here, 'POST', `/connectors/${id}/sync`);
  await pause(2000);
  while ((await statusOf(here, id)).state !== 'idle') await pause(200);
  const again = (await target.writtenUntilNow()) - atEnd;
  const what = `${people.toLocaleString('en')} people and a group of ${members.toLocaleString('en')}, ${name} to ${targetName}`;
  const took = `${what}, its node killed ${isOfBar ? 'twice' : 'once'}`;
  const arrives = `${what}: one change arrives, p95`;
  return [
    {
      ...(targetName === 'gatehouse' && isOfBar
        ? atMost('P13', took, minutes, 'min', 30)
        : { id: 'P13', what: took, value: minutes, unit: 'min' }),
      more: { people: found, groups: names },
    },
    atMost('P13', `${what}: memory`, mostMib - idleMib, 'MiB more', 64),
    {
      id: 'P13',
      what: `${what}: there twice or missing`,
      value: Math.abs(found - people) + Math.abs(names - 1),
      unit: '',
      bar: '0',
      met: found === people && names === 1,
    },
    { id: 'P13', what: `${what}: written by a second run`, value: again, unit: '', bar: '0', met: again === 0 },
    ...(target.untilNamed === undefined ? [] : [atMost('P13', arrives, await changeSome(here, target.untilNamed), 's', 3)]),
  ];
}

/** Everybody, in bulks; then the group, its members by patches. */
async function createPeople(tenant: BenchTenant): Promise<void> {
  const ids: string[] = [];
  for (let from = 0; from < people; from += perBulk) {
    const Operations = Array.from({ length: Math.min(perBulk, people - from) }, (_, at) => {
      const userName = `person-${from + at}`;
      const emails = [{ value: `${userName}@corp.example`, primary: true }];
      return { method: 'POST', path: '/Users', bulkId: `${at}`, data: { userName, displayName: `Person ${from + at}`, emails } };
    });
    const answer = (await scim(tenant, 'POST', '/Bulk', { schemas, Operations })) as {
      Operations: { status: string; location?: string }[];
    };
    for (const { status, location } of answer.Operations) {
      if (status !== '201') throw new Error(`somebody was not made: ${status}`);
      ids.push(location!.slice(location!.lastIndexOf('/') + 1));
    }
  }
  const { id } = (await scim(tenant, 'POST', '/Groups', { displayName: 'Staff' })) as { id: string };
  for (let from = 0; from < members; from += perBulk)
    await scim(tenant, 'PATCH', `/Groups/${id}`, {
      schemas: ['urn:ietf:params:scim:api:messages:2.0:PatchOp'],
      Operations: [{ op: 'add', path: 'members', value: ids.slice(from, Math.min(from + perBulk, members)).map((value) => ({ value })) }],
    });
}

/** Ends the source as a power cut would, and starts it again. */
async function killed(source: Source): Promise<void> {
  process.kill(source.node.pid, 'SIGKILL');
  await source.node.stop();
  source.node = await source.start();
}

/** Changes some people, one after another; gives the 95th percentile of the seconds until the target shows it. */
async function changeSome(here: BenchTenant, untilNamed: NonNullable<Target['untilNamed']>): Promise<number> {
  const took: number[] = [];
  for (let turn = 0; turn < changes; turn += 1) {
    const userName = `person-${turn * Math.floor(people / changes)}`;
    const displayName = `Changed ${turn}`;
    const { Resources } = (await scim(here, 'GET', `/Users?filter=${encodeURIComponent(`userName eq "${userName}"`)}`)) as {
      Resources: { id: string }[];
    };
    const beganMs = performance.now();
    await scim(here, 'PATCH', `/Users/${Resources[0]!.id}`, {
      schemas: ['urn:ietf:params:scim:api:messages:2.0:PatchOp'],
      Operations: [{ op: 'replace', path: 'displayName', value: displayName }],
    });
    await untilNamed(userName, displayName);
    took.push((performance.now() - beganMs) / 1000);
  }
  return took.toSorted((left, right) => left - right)[Math.floor(changes * 0.95)]!;
}

interface Status {
  readonly state: string;
  readonly links: Readonly<Record<'pending' | 'linked', number>>;
}

const statusOf = async (tenant: BenchTenant, id: string): Promise<Status> =>
  (await manage(tenant, 'GET', `/connectors/${id}/status`)) as Status;

const manage = async (tenant: BenchTenant, method: string, path: string, body?: unknown): Promise<unknown> =>
  call(`${tenant.managementApi}${path}`, await managementToken(tenant), method, body);

const scim = async (tenant: BenchTenant, method: string, path: string, body?: unknown): Promise<unknown> =>
  call(`${tenant.baseUrl}/scim/v2${path}`, await managementToken(tenant), method, body);
