// P2: introspection of an access token with revocation checked, against oidc-provider (opaque token in its memory store:
// it does not introspect its JWTs), by processor time.
import { type Cost, costOf, postForm, requireWrk } from './load.ts';
import { type MeasuredProcess, startGatehouse, startPeer } from './process.ts';
import { type Bench, interleave, timesLess } from './table.ts';
import { createTenant } from './tenant.ts';

const rounds = 5;
const seconds = 4;
const connections = 64;

export const introspection: Bench = async () => {
  requireWrk();
  const [gatehouse, provider] = [await startGatehouse(), await startPeer('oidc-provider', { TOKEN_FORMAT: 'opaque' })];
  try {
    const tenant = await createTenant(gatehouse);
    const contenders = {
      ours: await contender(gatehouse, `${tenant.baseUrl}/v1/idp/oidc`, '/introspect', {
        client_id: tenant.clientId,
        client_secret: tenant.clientSecret,
      }),
      peer: await contender(provider, provider.url, '/token/introspection', {
        client_id: 'bench',
        client_secret: 'bench-secret-bench-secret-bench-secret-bench',
      }),
    };
    await interleave(1, contenders);
    return [timesLess('P2', 'introspection, times less than oidc-provider', await interleave(rounds, contenders), 2.5)];
  } finally {
    await Promise.all([gatehouse.stop(), provider.stop()]);
  }
};

async function contender(
  server: MeasuredProcess,
  base: string,
  path: string,
  credentials: Readonly<Record<string, string>>,
): Promise<() => Promise<Cost>> {
  const token = await tokenOf(`${base}/token`, credentials);
  return () => costOf(server, { url: `${base}${path}`, connections, seconds, script: postForm({ ...credentials, token }) });
}

async function tokenOf(url: string, credentials: Readonly<Record<string, string>>): Promise<string> {
  const response = await fetch(url, { method: 'POST', body: new URLSearchParams({ grant_type: 'client_credentials', ...credentials }) });
  const body = (await response.json()) as { access_token?: string };
  if (body.access_token === undefined) throw new Error(`${url}: ${JSON.stringify(body)}`);
  return body.access_token;
}
