// P12: how much later a person of one tenant is sent to sign in while another tenant provisions in bulk (design 21, 3): the 95th of a hundred
// requests, on one connection, alone and beside a SCIM client that sends a hundred people a bulk, one after another. The bar is two turns of
// ten milliseconds, as there are slots of long work.
import { startGatehouse } from './process.ts';
import { atMost, type Bench, interleave } from './table.ts';
import { type BenchTenant, call, createTenant, managementToken } from './tenant.ts';

const rounds = 5;
const requests = 100;
const perBulk = 100;
const redirectUri = 'https://rp.example/callback';
const challenge = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM'; // of RFC 7636, appendix B

export const neighbour: Bench = async () => {
  const gatehouse = await startGatehouse();
  try {
    const [quiet, busy] = [await createTenant(gatehouse, 'quiet'), await createTenant(gatehouse, 'busy')];
    const token = await managementToken(quiet);
    const many = { limit: 1_000_000, period_seconds: 1 };
    await call(`${quiet.managementApi}/settings`, token, 'PATCH', { rate_limits: { login_starts_per_ip: many } });
    const { client_id: client } = (await call(`${quiet.managementApi}/clients`, token, 'POST', {
      name: 'Shop',
      redirect_uris: [redirectUri],
      scopes: ['openid'],
    })) as { readonly client_id: string };
    const scim = await managementToken(busy);
    let bulks = 0;
    const beside = async (work: () => Promise<Late>): Promise<Late> => {
      let isOver = false;
      const bulk = (async () => {
        for (; !isOver; bulks += 1) await provision(busy, scim, `bulk-${bulks}`);
      })();
      const late = await work();
      isOver = true;
      await bulk;
      return late;
    };
    const contenders = { alone: () => lateness(quiet, client), beside: () => beside(() => lateness(quiet, client)) };
    await interleave(1, contenders); // warm-up
    const { alone, beside: busyOnes } = await interleave(rounds, contenders);
    return [
      {
        ...atMost('P12', 'authorize beside a neighbour’s bulk adds', busyOnes.p95Ms - alone.p95Ms, 'ms p95', 20),
        more: { alone_p95_ms: alone.p95Ms, beside_p95_ms: busyOnes.p95Ms, worst_ms: busyOnes.worstMs, refused: busyOnes.refused },
      },
    ];
  } finally {
    await gatehouse.stop();
  }
};

interface Late extends Readonly<Record<string, number>> {
  readonly p95Ms: number;
  readonly worstMs: number;
  readonly refused: number;
}

async function lateness({ baseUrl }: BenchTenant, client: string): Promise<Late> {
  const parameters = { response_type: 'code', client_id: client, redirect_uri: redirectUri, scope: 'openid', state: 'x' };
  const url = `${baseUrl}/v1/idp/oidc/authorize?${new URLSearchParams({ ...parameters, code_challenge: challenge, code_challenge_method: 'S256' })}`;
  const times: number[] = [];
  let refused = 0;
  for (let index = 0; index < requests; index += 1) {
    const fromMs = performance.now();
    const response = await fetch(url, { redirect: 'manual' });
    await response.arrayBuffer();
    times.push(performance.now() - fromMs);
    if (response.status !== 303) refused += 1;
  }
  times.sort((left, right) => left - right);
  return { p95Ms: times[Math.floor(requests * 0.95)]!, worstMs: times.at(-1)!, refused };
}

async function provision(tenant: BenchTenant, token: string, name: string): Promise<void> {
  await call(`${tenant.baseUrl}/scim/v2/Bulk`, token, 'POST', {
    schemas: ['urn:ietf:params:scim:api:messages:2.0:BulkRequest'],
    Operations: Array.from({ length: perBulk }, (_, at) => ({
      method: 'POST',
      path: '/Users',
      bulkId: `b${at}`,
      data: { schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'], userName: `${name}-${at}` },
    })),
  });
}
