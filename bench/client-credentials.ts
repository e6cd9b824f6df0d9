// P1 and P1b: client_credentials with an ES256 JWT, against oidc-provider in memory by processor time, and against a bare Fastify
// handler by rate. Then P8, the memory such loads leave behind.
import { type Cost, costOf, postForm, requireWrk } from './load.ts';
import { type MeasuredProcess, startGatehouse, startPeer } from './process.ts';
import { atMost, type Bench, interleave, ratio, timesLess } from './table.ts';
import { createTenant } from './tenant.ts';

const rounds = 5;
const seconds = 4;
const connections = 64;

export const clientCredentials: Bench = async () => {
  requireWrk();
  const [gatehouse, provider, fastify] = [await startGatehouse(), await startPeer('oidc-provider'), await startPeer('fastify')];
  try {
    const tenant = await createTenant(gatehouse);
    const own = { client_id: tenant.clientId, client_secret: tenant.clientSecret, scope: 'users:read' };
    const peers = { client_id: 'bench', client_secret: 'bench-secret-bench-secret-bench-secret-bench', scope: 'users:read' };
    const contenders = {
      ours: () => cost(gatehouse, `${tenant.baseUrl}/v1/idp/oidc/token`, own),
      bare: () => cost(fastify, `${fastify.url}/token`, own),
      peer: () => cost(provider, `${provider.url}/token`, peers),
    };
    await interleave(1, contenders); // warm-up
    const costs = await interleave(rounds, contenders);
    const rates = { ours: costs.ours.rate, bare: costs.bare.rate };
    return [
      timesLess('P1', 'client_credentials, times less than oidc-provider', costs, 3),
      ratio('P1b', 'client_credentials over bare Fastify, by rate', rates.ours / rates.bare, 0.38, rates),
      atMost('P8', 'resident memory right after this load', gatehouse.residentMib(), 'MiB', 200),
    ];
  } finally {
    await Promise.all([gatehouse.stop(), provider.stop(), fastify.stop()]);
  }
};

function cost(server: MeasuredProcess, url: string, parameters: Readonly<Record<string, string>>): Promise<Cost> {
  return costOf(server, { url, connections, seconds, script: postForm({ grant_type: 'client_credentials', ...parameters }) });
}
