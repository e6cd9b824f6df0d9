// Sign-ins and lists of a tenant with very many organisations, over those of a tenant that has none or a handful (design 19), on
// PostgreSQL: one request after another, both in turns, by the clock, since the database works too. Needs a superuser's URL in
// BENCH_ORGANIZATIONS_POSTGRES; BENCH_ORGANIZATIONS, BENCH_PEOPLE and BENCH_EACH (organisations of a person) say how many.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TenantId } from '../src/domain/ids.ts';
import { uuidV7 } from '../src/platform/random.ts';
import { type GatehouseProcess, startGatehouse } from './process.ts';
import { personOf } from './scim-directory.ts';
import { createDatabase, insert, loadPostgres, onServer } from './scim-postgres.ts';
import { createParty, type Party, signIn } from './sign-in.ts';
import { type Bench, type Figure, interleave, median } from './table.ts';
import { type BenchTenant, call, createTenant, managementToken } from './tenant.ts';

const organizations = Number(process.env['BENCH_ORGANIZATIONS'] ?? 100_000);
const people = Number(process.env['BENCH_PEOPLE'] ?? 100_000);
const each = Number(process.env['BENCH_EACH'] ?? 10);
const rounds = 5;
const flowsPerRound = 40;
const pagesPerRound = 200;
const overNoneMax = 1.2;
const rowsAtOnce = 10_000;

export const organizationsBench: Bench = async () => {
  const server = process.env['BENCH_ORGANIZATIONS_POSTGRES'];
  if (server === undefined) {
    console.error('  skipped: BENCH_ORGANIZATIONS_POSTGRES, the URL of a superuser of PostgreSQL, is not set');
    return [];
  }
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-bench-organizations-'));
  const database = await createDatabase(server);
  try {
    const gatehouse = await startGatehouse(folder, { GATEHOUSE_DATABASE_URL: database.url });
    try {
      return await measure({
        none: await open(gatehouse, database.url, 'none', { organizations: 0, people }),
        few: await open(gatehouse, database.url, 'few', { organizations: each, people: 1000 }),
        many: await open(gatehouse, database.url, 'many', { organizations, people }),
      });
    } finally {
      await gatehouse.stop();
    }
  } finally {
    await database.drop();
    rmSync(folder, { recursive: true, force: true });
  }
};

interface World {
  readonly gatehouse: GatehouseProcess;
  readonly tenant: BenchTenant;
  readonly party: Party;
  readonly token: string;
  readonly ids: readonly string[];
  /** The next person who has not signed in yet, and an organisation they are in. */
  readonly next: () => { readonly email: string; readonly organization: string | undefined };
}

async function open(
  gatehouse: GatehouseProcess,
  url: string,
  slug: string,
  size: { organizations: number; people: number },
): Promise<World> {
  const tenant = await createTenant(gatehouse, slug);
  const progress = (): void => {};
  await loadPostgres(url, { tenant: tenant.id as TenantId, users: size.people, groupMembers: 1, progress });
  const ids = await loadOrganizations(url, tenant.id as TenantId, size.organizations);
  const party = await createParty(tenant, ids.length === 0 ? [] : ['organization']);
  let person = 0;
  const next = (): { email: string; organization: string | undefined } => {
    person += 1;
    if (person % 20 === 0) person += 1; // suspended (scim-directory.ts)
    return { email: `${personOf(person).userName}@corp.example`, organization: ids[(person * each) % ids.length] };
  };
  return { gatehouse, tenant, party, token: await managementToken(tenant), ids, next };
}

/** Organisations, and each person in `each` of them that follow one another: every organisation has as many members. */
async function loadOrganizations(url: string, tenant: TenantId, count: number): Promise<readonly string[]> {
  const now = Date.now();
  const ids = Array.from({ length: count }, (_none, number) => uuidV7(now + number));
  if (count === 0) return ids;
  await onServer(url, async (client) => {
    await client.query('SET synchronous_commit = off');
    for (let from = 0; from < count; from += rowsAtOnce)
      await insert(
        client,
        'organizations',
        ids.slice(from, from + rowsAtOnce).map((id, at) => {
          const name = `customer-${from + at}`;
          const fixed = { metadata: '{}', enabled: 1, members: 0, join: '["invitation"]', default_roles: '[]', domains: '[]' };
          const rest = { identity_providers: '[]', sign_in: 'any', branding: '{}', created_at: now, updated_at: now };
          return { tenant_id: tenant, id, name, display_name: null, search_key: name, ...fixed, ...rest };
        }),
      );
    const { rows } = await client.query('SELECT id FROM users WHERE tenant_id = $1 ORDER BY created_at', [tenant]);
    const members = (rows as { id: string }[]).flatMap(({ id: user }, number) =>
      Array.from({ length: Math.min(each, count) }, (_none, at) => ({
        user_id: user,
        organization_id: ids[(number * each + at) % count]!,
      })),
    );
    for (let from = 0; from < members.length; from += rowsAtOnce)
      await insert(
        client,
        'organization_members',
        members.slice(from, from + rowsAtOnce).map((row) => ({ tenant_id: tenant, roles: '[]', created_at: now, ...row })),
      );
    await client.query(
      `UPDATE organizations o SET members = (SELECT count(*) FROM organization_members m WHERE m.tenant_id = o.tenant_id AND m.organization_id = o.id)
       WHERE tenant_id = $1`,
      [tenant],
    );
    await client.query('VACUUM ANALYZE organizations, organization_members');
  });
  return ids;
}

async function measure({ none, few, many }: Readonly<Record<'none' | 'few' | 'many', World>>): Promise<readonly Figure[]> {
  const plain = (world: World) => () => flows(world, () => ({}));
  const named = (world: World) => () => flows(world, (organization) => ({ organization }));
  const chosen = (world: World) => () => flows(world, () => ({ scope: 'openid profile email offline_access organization' }));
  const signIns = { none: plain(none), few: named(few), many: named(many), chooserFew: chosen(few), chooserMany: chosen(many) };
  await interleave(1, signIns);
  const flow = await interleave(rounds, signIns);
  const pages = { few: () => memberPages(few), many: () => memberPages(many) };
  await interleave(1, pages);
  const page = await interleave(rounds, pages);
  return [
    over('a sign-in for one of many organisations, over one where there are none', flow.many.ms, flow.none.ms),
    over('the same with the chooser, over one where there are a handful', flow.chooserMany.ms, flow.chooserFew.ms),
    over('a page of members, over one where there are a handful of organisations', page.many.ms, page.few.ms),
  ];
}

const over = (what: string, ms: number, noneMs: number): Figure => ({
  id: 'D19',
  what,
  value: ms / noneMs,
  unit: 'x',
  bar: `<= ${overNoneMax}`,
  met: ms / noneMs <= overNoneMax,
  more: { ms, against_ms: noneMs, organizations, memberships: people * each },
});

type Sample = { readonly ms: number };

/** The median of whole sign-ins, each of another person. */
async function flows(world: World, asks: (organization: string) => Readonly<Record<string, string>>): Promise<Sample> {
  const taken: number[] = [];
  for (let run = 0; run < flowsPerRound; run += 1) {
    const { email, organization } = world.next();
    const startedAt = performance.now();
    await signIn(world.gatehouse, world.party, email, asks(organization ?? ''));
    taken.push(performance.now() - startedAt);
  }
  return { ms: median(taken) };
}

async function memberPages({ tenant, token, ids }: World): Promise<Sample> {
  const taken: number[] = [];
  for (let run = 0; run < pagesPerRound; run += 1) {
    const startedAt = performance.now();
    await call(`${tenant.managementApi}/organizations/${ids[(run * 7919) % ids.length]}/members?limit=10`, token, 'GET');
    taken.push(performance.now() - startedAt);
  }
  return { ms: median(taken) };
}
