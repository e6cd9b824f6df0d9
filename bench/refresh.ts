// P4: refresh rotation, durable, against raw durable SQLite transactions that write the same rows.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type Cost, costOf, requireWrk } from './load.ts';
import { type GatehouseProcess, startGatehouse } from './process.ts';
import { createParty, createUser, type Party, signIn } from './sign-in.ts';
import { type Bench, interleave, ratio } from './table.ts';
import { createTenant } from './tenant.ts';

const rounds = 5;
const seconds = 4;
const families = 128;

export const refresh: Bench = async () => {
  requireWrk();
  const gatehouse = await startGatehouse();
  try {
    const party = await createParty(await createTenant(gatehouse));
    const contenders = {
      ours: async () => rotationCost(gatehouse, party),
      raw: async () => ({ rate: rawTransactionsPerSecond() }),
    };
    await interleave<'ours' | 'raw', Readonly<Record<string, number>>>(1, contenders);
    const { ours, raw } = await interleave<'ours' | 'raw', Readonly<Record<string, number>>>(rounds, contenders);
    return [
      ratio('P4', 'refresh rotation over raw durable transactions, by rate', ours['rate']! / raw['rate']!, 0.45, {
        ...ours,
        raw: raw['rate']!,
      }),
    ];
  } finally {
    await gatehouse.stop();
  }
};

async function rotationCost(gatehouse: GatehouseProcess, party: Party): Promise<Cost> {
  const script = rotationScript(party, await seedFamilies(gatehouse, party));
  return costOf(gatehouse, { url: `${party.tenant.baseUrl}/v1/idp/oidc/token`, connections: families / 2, seconds, script });
}

let users = 0;

async function seedFamilies(gatehouse: Parameters<typeof signIn>[0], party: Party): Promise<readonly string[]> {
  const tokens: string[] = [];
  for (let index = 0; index < families; index += 1) {
    users += 1;
    const email = `person-${users}@bench.example`;
    await createUser(party.tenant, email);
    tokens.push((await signIn(gatehouse, party, email)).refresh_token);
  }
  return tokens;
}

/** Lua: a queue of live refresh tokens; each answer puts its successor back. */
function rotationScript(party: Party, tokens: readonly string[]): string {
  return `
local queue = { ${tokens.map((token) => JSON.stringify(token)).join(', ')} }
local first, last = 1, ${tokens.length}
wrk.method = "POST"
wrk.headers["Content-Type"] = "application/x-www-form-urlencoded"
request = function()
  local token = queue[first]
  queue[first] = nil
  first = first + 1
  return wrk.format(nil, nil, nil, "grant_type=refresh_token&client_id=${party.clientId}&client_secret=${party.clientSecret}&scope=offline_access&refresh_token=" .. token)
end
response = function(status, headers, body)
  local token = string.match(body, '"refresh_token":"([^"]+)"')
  if token then last = last + 1; queue[last] = token end
end`;
}

/** What one rotation writes: the old token marked used, the new one inserted. */
function rawTransactionsPerSecond(): number {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-raw-'));
  const database = new DatabaseSync(join(folder, 'raw.db'));
  try {
    database.exec('PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL');
    database.exec(
      'CREATE TABLE token (tenant_id TEXT, hash TEXT, family TEXT, generation INTEGER, expires_at INTEGER, used_at INTEGER, PRIMARY KEY (tenant_id, hash)) STRICT, WITHOUT ROWID',
    );
    const insert = database.prepare('INSERT INTO token VALUES (?, ?, ?, ?, ?, NULL)');
    const use = database.prepare(
      'UPDATE token SET used_at = ? WHERE tenant_id = ? AND hash = ? AND used_at IS NULL RETURNING family, generation',
    );
    const [begin, commit] = [database.prepare('BEGIN IMMEDIATE'), database.prepare('COMMIT')];
    const tenant = '00000000-0000-7000-8000-000000000000';
    const hashOf = (index: number): string => `hash-${index}`.padEnd(43, 'x');
    insert.run(tenant, hashOf(0), tenant, 0, 0);
    const until = performance.now() + seconds * 1000;
    let count = 0;
    const startedAt = performance.now();
    while (performance.now() < until) {
      begin.run();
      use.get(count, tenant, hashOf(count));
      count += 1;
      insert.run(tenant, hashOf(count), tenant, count, 0);
      commit.run();
    }
    return count / ((performance.now() - startedAt) / 1000);
  } finally {
    database.close();
    rmSync(folder, { recursive: true, force: true });
  }
}
