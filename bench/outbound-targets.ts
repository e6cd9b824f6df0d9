// Whom a connector provisions in outbound-scim.ts: another Gatehouse, or one of the SCIM services that others wrote (scripts/install-judges), behind
// a proxy that counts what is written there.
import { spawn } from 'node:child_process';
import { Agent, createServer, request } from 'node:http';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { findJudge } from '../test/support/judge-binaries.ts';
import { startGatehouse } from './process.ts';
import { type BenchTenant, call, createTenant, managementToken } from './tenant.ts';

export interface Target {
  /** Of the connector: where it is, and how to authenticate there. */
  readonly address: Readonly<Record<string, unknown>>;
  readonly peopleThere: () => Promise<number>;
  readonly groupsThere: () => Promise<number>;
  /** A number that grows with what is written there. */
  readonly writtenUntilNow: () => Promise<number>;
  /** Resolves when somebody has this name; absent where a look-up among so many takes longer than what is measured. */
  readonly untilNamed?: (userName: string, displayName: string) => Promise<void>;
  readonly stop: () => Promise<void>;
}

const token = 'judged';
const judges: Readonly<Record<string, (port: string) => readonly string[]>> = {
  'scim2-server': (port) => ['--port', port, '--bearer-token', token],
  scimmy: (port) => [port],
  'unboundid-target': (port) => [port, token],
};
/** @param name gatehouse, or one of the judges */
export const startTarget = (name: string): Promise<Target> => (name === 'gatehouse' ? startGatehouseTarget() : startJudgeTarget(name));

async function startGatehouseTarget(): Promise<Target> {
  const gatehouse = await startGatehouse();
  const tenant = await createTenant(gatehouse, 'target');
  const { baseUrl, clientId, clientSecret } = tenant;
  const found = async (query: string): Promise<number> =>
    totalOf(await call(`${baseUrl}/scim/v2${query}`, await managementToken(tenant), 'GET'));
  return {
    address: {
      base_url: `${baseUrl}/scim/v2`,
      auth: {
        type: 'client_credentials',
        token_url: `${baseUrl}/v1/idp/oidc/token`,
        client_id: clientId,
        client_secret: clientSecret,
        scope: 'scim:read scim:write',
      },
    },
    peopleThere: () => found('/Users?count=0'),
    groupsThere: () => found('/Groups?count=0'),
    writtenUntilNow: () => lastEvent(tenant),
    untilNamed: async (userName, displayName) => {
      const filter = encodeURIComponent(`userName eq "${userName}" and displayName eq "${displayName}"`);
      while ((await found(`/Users?filter=${filter}`)) === 0) await pause(20);
    },
    stop: gatehouse.stop,
  };
}

/** The number of the last thing that was recorded of people and groups of a tenant. */
async function lastEvent(tenant: BenchTenant): Promise<number> {
  for (let after = 0; ; ) {
    const url = `${tenant.managementApi}/events/feed?after=${after}&types=user.*,group.*&limit=200`;
    const page = (await call(url, await managementToken(tenant), 'GET')) as { next: number };
    if (page.next === after) return after;
    after = page.next;
  }
}

async function startJudgeTarget(name: string): Promise<Target> {
  const args = judges[name];
  const program = args === undefined ? undefined : findJudge(name);
  if (args === undefined) throw new Error(`BENCH_OUTBOUND_TARGET: expected gatehouse, ${Object.keys(judges).join(', ')}, found ${name}`);
  if (program === undefined) throw new Error(`BENCH_OUTBOUND_TARGET: ${name} is not installed; type: scripts/install-judges`);
  const port = await freePort();
  const env = { ...process.env, _JAVA_OPTIONS: '-Xmx2g' }; // tests need less than a directory of this size
  const judge = spawn(program, args(`${port}`), { stdio: 'ignore', env });
  const base = `http://127.0.0.1:${port}/v2`;
  const proxy = await startCountingProxy(port);
  const found = async (kind: string): Promise<number> => totalOf(await call(`${base}/${kind}?count=1`, token, 'GET'));
  while (
    !(await found('Users').then(
      () => true,
      () => false,
    ))
  )
    await pause(200);
  return {
    address: { base_url: `${proxy.url}/v2`, auth: { type: 'bearer', token } },
    peopleThere: () => found('Users'),
    groupsThere: () => found('Groups'),
    writtenUntilNow: async () => proxy.written(),
    stop: async () => {
      await proxy.stop();
      judge.kill();
    },
  };
}

/** Passes requests on as they are; counts those that are none of reading. */
async function startCountingProxy(port: number) {
  let written = 0;
  const agent = new Agent({ keepAlive: true });
  const server = createServer((asked, answer) => {
    const { method = 'GET', url: path = '/', headers } = asked;
    if (method !== 'GET') written += 1;
    const onward = request({ host: '127.0.0.1', port, agent, method, path, headers }, (got) => {
      answer.writeHead(got.statusCode ?? 502, got.headers);
      got.pipe(answer);
    });
    onward.on('error', () => answer.destroy());
    asked.pipe(onward);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, // listening on TCP
    written: () => written,
    stop: async () => {
      server.close();
      server.closeAllConnections();
      agent.destroy();
    },
  };
}

const totalOf = (list: unknown): number => (list as { readonly totalResults: number }).totalResults; // RFC 7644 section 3.4.2

export const pause = (ms: number): Promise<void> => new Promise((done) => setTimeout(done, ms));

export async function freePort(): Promise<number> {
  const server = createTcpServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo; // listening on TCP
  await new Promise((resolve) => server.close(resolve));
  return port;
}
