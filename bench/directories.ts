// The bars of directories of LDAP (design 20, 1): 5,000 people of a slapd (BENCH_DIRECTORY_USERS=100000 as the bars have it), a tenth of them in a group, are
// copied once in peace: how long that takes and what memory it needs; a second run that reads everything writes nothing; a tenth of them and one go at the source,
// and nobody ends. Then again for another tenant, whose node is killed meanwhile, twice: nobody is there twice. On the embedded database, or on
// PostgreSQL when BENCH_DIRECTORY_POSTGRES is a superuser's URL.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { personLdif, slapdGroups, slapdPeople, slapdReader, slapdSuffix, startSlapd, type TestSlapd } from '../test/support/slapd.ts';
import { pause } from './outbound-targets.ts';
import { type GatehouseProcess, startGatehouse } from './process.ts';
import { createDatabase } from './scim-postgres.ts';
import { atMost, type Bench, type Figure } from './table.ts';
import { type BenchTenant, call, createTenant, managementToken } from './tenant.ts';

const people = Number(process.env['BENCH_DIRECTORY_USERS'] ?? 5_000);
const isOfBar = people >= 100_000;
const members = Math.floor(people / 10);
const gone = Math.floor(people / 10) + 1;
const environment = { GATEHOUSE_EGRESS_ALLOW: '127.0.0.0/8,::1/128' };

export const directoriesBench: Bench = async () => {
  const slapd = await startSlapd({ ldif: ldif() });
  const server = process.env['BENCH_DIRECTORY_POSTGRES'];
  try {
    if (server === undefined) return await onDatabase('SQLite', slapd, {});
    const database = await createDatabase(server);
    try {
      return await onDatabase('PostgreSQL', slapd, { GATEHOUSE_DATABASE_URL: database.url });
    } finally {
      await database.drop();
    }
  } finally {
    await slapd.stop();
  }
};

function ldif(): string {
  const everybody = Array.from({ length: people }, (_, at) => personLdif(`p${at}`));
  const some = Array.from({ length: members }, (_, at) => `member: uid=p${at},${slapdPeople}`);
  return [...everybody, [`dn: cn=staff,${slapdGroups}`, 'objectClass: groupOfNames', 'cn: staff', ...some, ''].join('\n')].join('\n');
}

interface Node {
  process: GatehouseProcess;
  readonly start: () => Promise<GatehouseProcess>;
}

async function onDatabase(name: string, slapd: TestSlapd, database: Readonly<Record<string, string>>): Promise<readonly Figure[]> {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-bench-'));
  const start = (): Promise<GatehouseProcess> => startGatehouse(folder, { ...environment, ...database });
  const node = { process: await start(), start };
  try {
    return await measure(`${people.toLocaleString('en')} people of LDAP, ${name}`, node, slapd);
  } finally {
    await node.process.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function measure(what: string, node: Node, slapd: TestSlapd): Promise<readonly Figure[]> {
  // What a thread that has read a directory holds is not counted, as it is there whatever the number of people.
  const warm = await openCopy(node, 'warm', slapd, { user_filter: '(uid=p1*)' });
  await warm.untilRun(1);
  await warm.end();
  const idleMib = node.process.residentMib();
  let mostMib = idleMib;
  const first = await openCopy(node, 'first', slapd);
  const beganMs = performance.now();
  await first.untilRun(1, () => {
    mostMib = Math.max(mostMib, node.process.residentMib());
  });
  const minutes = (performance.now() - beganMs) / 60_000;
  const there = await first.peopleHere();
  const atEnd = await first.events();
  const { updated, created, ended } = await first.sync(2);
  const written = (await first.events()) - atEnd + updated + created + ended;
  await slapd.change(async (client) => {
    for (let at = 0; at < gone; at += 1) await client.del(`uid=p${at},${slapdPeople}`);
  });
  await first.sync(3);
  const { state, waiting_for_approval: waiting } = await first.status();
  const endedByMistake = there - (await first.peopleHere());
  const second = await openCopy(node, 'second', slapd);
  const left = people - gone;
  for (const after of [left / 3, (left * 2) / 3]) {
    await second.untilCopied(after);
    process.kill(node.process.pid, 'SIGKILL');
    await node.process.stop();
    node.process = await node.start();
  }
  await second.untilRun(1);
  const twice = Math.abs((await second.peopleHere()) - left);
  const none = (what: string, value: number, more?: Figure['more']): Figure => ({
    ...{ id: 'P14', what, value, unit: '', bar: '0', met: value === 0, ...(more !== undefined && { more }) },
  });
  const took: Figure = isOfBar ? atMost('P14', what, minutes, 'min', 10) : { id: 'P14', what, value: minutes, unit: 'min' };
  return [
    { ...took, more: { people: there } },
    atMost('P14', `${what}: memory`, mostMib - idleMib, 'MiB more', 64),
    none(`${what}: missing or too many`, Math.abs(there - people)),
    none(`${what}: written by a second run that reads everything`, written),
    none(
      `${what}: ended where ${gone.toLocaleString('en')} of them were gone`,
      endedByMistake + (state === 'waiting_for_approval' ? 0 : 1),
      { waiting },
    ),
    none(`${what}: its node killed twice, there twice or missing`, twice),
  ];
}

interface Status {
  readonly state: string;
  readonly users: number;
  readonly waiting_for_approval: number;
  readonly failure: unknown;
  readonly last_run: Readonly<Record<'created' | 'updated' | 'ended', number>> & { readonly began_at: string };
}

/** A tenant that copies everybody of the slapd. */
async function openCopy(node: Node, slug: string, slapd: TestSlapd, fields: Readonly<Record<string, unknown>> = {}) {
  const made = await createTenant(node.process, slug);
  /** The node has another address after each death. */
  const at = (url: string): string => {
    const { origin } = new URL(node.process.url);
    return `${origin}${new URL(url).pathname}`;
  };
  const tenant = (): BenchTenant => ({ ...made, baseUrl: at(made.baseUrl), managementApi: at(made.managementApi) });
  const manage = async <T>(method: string, path: string, body?: unknown): Promise<T> =>
    (await call(`${tenant().managementApi}${path}`, await managementToken(tenant()), method, body)) as T; // the caller names the shape
  const { id } = await manage<{ readonly id: string }>('POST', '/directories', {
    ...{ name: 'Corp', kind: 'openldap', url: slapd.url, ca: slapd.ca, base_dn: slapdSuffix, bind_dn: slapdReader.dn, groups: 'all' },
    ...{ bind_password: slapdReader.password, ...fields },
  });
  const status = (): Promise<Status> => manage('GET', `/directories/${id}/status`);
  let runs = '';
  let seen = 0;
  /** @param count of runs that have ended */
  const untilRun = async (count: number, look: () => void = () => undefined): Promise<Status['last_run']> => {
    for (;;) {
      await pause(500);
      look();
      const { last_run: last, failure } = await status();
      if (failure !== null) throw new Error(`a run failed: ${JSON.stringify(failure)}`);
      if (last !== null && last.began_at !== runs) {
        runs = last.began_at;
        seen += 1;
      }
      if (seen >= count) return last;
    }
  };
  return {
    status,
    untilRun,
    sync: async (count: number) => {
      await manage('POST', `/directories/${id}/sync`, { full: true });
      return untilRun(count);
    },
    untilCopied: async (count: number): Promise<void> => {
      while ((await status()).users < count) await pause(200);
    },
    /** People who may sign in. */
    peopleHere: async (): Promise<number> => {
      const url = `${tenant().baseUrl}/scim/v2/Users?count=0&filter=${encodeURIComponent('active eq true')}`;
      return ((await call(url, await managementToken(tenant()), 'GET')) as { totalResults: number }).totalResults;
    },
    /** What was recorded of people and groups. */
    events: async (): Promise<number> => {
      for (let [after, count] = [0, 0]; ; ) {
        const path = `/events/feed?after=${after}&types=user.*,group.*&limit=200`;
        const { next, items } = await manage<{ readonly next: number; readonly items: readonly unknown[] }>('GET', path);
        if (next === after) return count;
        [after, count] = [next, count + items.length];
      }
    },
    /** It reads no more. */
    end: () => manage('DELETE', `/directories/${id}`),
  };
}
