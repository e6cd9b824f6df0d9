// Two workers over one process on PostgreSQL, each held to the same share of a core, on what is stateless: tokens and introspection.
// Free cores are part of what is measured, so the shares leave room for wrk and PostgreSQL.
import { type Load, postForm, requireWrk, runLoad } from './load.ts';
import { childrenOf, type GatehouseProcess, startGatehouse } from './process.ts';
import { holdToShare } from './processor-share.ts';
import { createDatabase } from './scim-postgres.ts';
import { type Bench, type Figure, interleave, ratio } from './table.ts';
import { createTenant, managementToken } from './tenant.ts';

const rounds = 5;
const seconds = 4;
const connections = 64;
const share = 0.35;
/** Below this part of its share a process waited for something else, and the figure would be that thing's. */
const usedMin = 0.9;
const bar = 1.7;

type Form = Readonly<Record<string, string>>;

export const workers: Bench = async () => {
  requireWrk();
  const postgres = process.env['GATEHOUSE_TEST_POSTGRES_URL'];
  if (postgres === undefined) {
    console.error('workers: expected GATEHOUSE_TEST_POSTGRES_URL, found none. Try: scripts/with-services npm run bench workers');
    return [];
  }
  const database = await createDatabase(postgres);
  const environment = {
    GATEHOUSE_DATABASE_URL: database.url,
    GATEHOUSE_MASTER_KEY: Buffer.alloc(32, 1).toString('base64'),
  };
  const one = await startGatehouse(undefined, environment);
  const two = await startGatehouse(undefined, { ...environment, GATEHOUSE_WORKERS: '2' });
  try {
    const tenant = await createTenant(one);
    const own = { client_id: tenant.clientId, client_secret: tenant.clientSecret };
    const asked = { ...own, grant_type: 'client_credentials', scope: 'users:read' };
    return [
      await compare('tokens (client_credentials, ES256)', '/token', async () => asked),
      await compare('introspection', '/introspect', async (base) => ({
        ...own,
        token: await managementToken({ ...tenant, baseUrl: base }),
      })),
    ];

    async function compare(what: string, path: string, formAt: (base: string) => Promise<Form>): Promise<Figure> {
      const loadOf = async (server: GatehouseProcess): Promise<Load> => {
        const base = tenant.baseUrl.replace(one.url, server.url);
        return { url: `${base}/v1/idp/oidc${path}`, connections, seconds, script: postForm(await formAt(base)) };
      };
      const [ofOne, ofTwo] = [await loadOf(one), await loadOf(two)];
      const contenders = { one: () => held([one.pid], ofOne), two: () => held(childrenOf(two.pid), ofTwo) };
      await interleave(1, contenders); // warm-up
      const rates = await interleave(rounds, contenders);
      const more = { one_rate: rates.one.rate, two_rate: rates.two.rate, one_used: rates.one.used, two_used: rates.two.used, share };
      return ratio('W', `two workers over one, ${what}, by rate`, rates.two.rate / rates.one.rate, bar, more);
    }
  } finally {
    await Promise.all([one.stop(), two.stop()]);
    await database.drop();
  }
};

/** Requests a second while each process is held to its share, and the least any of them used of a core. */
async function held(pids: readonly number[], load: Load): Promise<{ readonly rate: number; readonly used: number }> {
  const holding = holdToShare(pids, share);
  let used = 0;
  const { requestsPerSecond: rate } = await runLoad(load).finally(() => {
    used = Math.min(...holding.release());
  });
  if (used < share * usedMin)
    throw new Error(
      `expected each process to use its ${share} of a core, found ${used.toFixed(2)}: leave it two free cores, and run it again`,
    );
  return { rate, used };
}
