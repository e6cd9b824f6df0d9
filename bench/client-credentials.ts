// P1 and P1b: client_credentials with an ES256 JWT, against oidc-provider in memory and against a bare Fastify handler.
import { type LoadResult, postForm, requireWrk, runLoad } from './load.ts';
import { startGatehouse, startPeer } from './process.ts';
import { type Bench, interleave, ratio } from './table.ts';
import { createTenant } from './tenant.ts';

const rounds = 5;
const seconds = 4;
const connections = 64;

export const clientCredentials: Bench = async () => {
  requireWrk();
  const [gatehouse, provider, bare] = [await startGatehouse(), await startPeer('oidc-provider'), await startPeer('fastify')];
  try {
    const tenant = await createTenant(gatehouse);
    const credentials = { client_id: tenant.clientId, client_secret: tenant.clientSecret };
    const latest: { ours?: LoadResult } = {};
    const measure = async (url: string, parameters: Readonly<Record<string, string>>): Promise<LoadResult> =>
      runLoad({ url, connections, seconds, script: postForm({ grant_type: 'client_credentials', ...parameters }) });
    const contenders = {
      ours: async () => {
        latest.ours = await measure(`${tenant.baseUrl}/v1/idp/oidc/token`, { ...credentials, scope: 'users:read' });
        return latest.ours.requestsPerSecond;
      },
      bare: async () => (await measure(`${bare.url}/token`, { ...credentials, scope: 'users:read' })).requestsPerSecond,
      provider: async () =>
        (
          await measure(`${provider.url}/token`, {
            client_id: 'bench',
            client_secret: 'bench-secret-bench-secret-bench-secret-bench',
            scope: 'users:read',
          })
        ).requestsPerSecond,
    };
    await interleave(1, contenders); // warm-up
    const rates = await interleave(rounds, contenders);
    const latency = { p50_ms: latest.ours!.p50Ms, p99_ms: latest.ours!.p99Ms };
    return [
      ratio('P1', 'client_credentials over oidc-provider', rates.ours / rates.provider, 4, {
        ours: rates.ours,
        peer: rates.provider,
        ...latency,
      }),
      ratio('P1b', 'client_credentials over bare Fastify', rates.ours / rates.bare, 0.55, { ours: rates.ours, bare: rates.bare }),
      {
        id: 'P8',
        what: 'resident memory right after this load',
        value: gatehouse.residentMib(),
        unit: 'MiB',
        bar: '< 200',
        met: gatehouse.residentMib() < 200,
      },
    ];
  } finally {
    await Promise.all([gatehouse.stop(), provider.stop(), bare.stop()]);
  }
};
