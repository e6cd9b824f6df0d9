// Connectors in tests: a proxy before a SCIM service that keeps what is asked and may answer itself, and connectors that run on demand.
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { DatabaseName } from './databases.ts';
import { clientCredentialsToken, createTestTenant, type Json, type Managed, managedWith } from './management.ts';
import { startTestServer, type TestServer } from './server.ts';
import { loopbackAllowed } from './webhooks.ts';

export interface Asked {
  readonly method: string;
  /** With its query. */
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Json;
}

/** `drop`: the connection ends without an answer. */
type Instead = readonly [status: number, headers?: Readonly<Record<string, string>>, body?: string] | 'drop';

export interface RecordingProxy {
  readonly url: string;
  readonly asked: Asked[];
  /** What was asked since the last call, as `METHOD /path` without queries; reads of what the target can do aside. */
  readonly take: () => readonly string[];
  /** Answers instead of the service while it gives something; what it gives may come after the service was asked. */
  intercept: ((asked: Asked, forward: () => Promise<Response>) => Instead | undefined | Promise<Instead | undefined>) | undefined;
  readonly close: () => Promise<void>;
}

/** Asks again while a busy machine's server refuses what it has not begun. */
async function askUntilTaken(ask: () => Promise<Response>): Promise<Response> {
  for (;;) {
    const response = await ask();
    if (response.status !== 503) return response;
    await response.body?.cancel();
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}

/** @param base of the service, without a slash at its end */
export async function startRecordingProxy(base: () => string): Promise<RecordingProxy> {
  const asked: Asked[] = [];
  let taken = 0;
  const server = createServer(async (request, response) => {
    let text = '';
    for await (const chunk of request) text += chunk;
    const { method = 'GET', url: path = '/', headers } = request;
    const one: Asked = { method, path, headers, body: text === '' ? {} : (JSON.parse(text) as Json) };
    asked.push(one);
    const forward = (): Promise<Response> =>
      askUntilTaken(() =>
        fetch(base() + path, {
          method,
          headers: { authorization: headers.authorization ?? '', 'content-type': headers['content-type'] ?? 'application/scim+json' },
          ...(text === '' ? {} : { body: text }),
        }),
      );
    const instead = await proxy.intercept?.(one, forward);
    if (instead === 'drop') {
      request.socket.destroy();
      return;
    }
    if (instead !== undefined) {
      response.writeHead(instead[0], instead[1] ?? {}).end(instead[2] ?? '');
      return;
    }
    const answer = await forward();
    response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? 'application/scim+json' });
    response.end(await answer.text());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo; // listening on TCP
  const proxy: RecordingProxy = {
    url: `http://127.0.0.1:${port}`,
    asked,
    take: () => {
      const since = asked.slice(taken);
      taken = asked.length;
      return since
        .filter(({ path }) => path !== '/ServiceProviderConfig')
        .map(({ method, path }) => `${method} ${path.replace(/\?.*/, '')}`);
    },
    intercept: undefined,
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return proxy;
}

/** A token for the SCIM service of a tenant. */
export const scimTokenOf = (tenant: Managed): Promise<string> =>
  clientCredentialsToken(tenant.baseUrl, tenant.adminClientId, tenant.adminClientSecret, 'scim:read scim:write');

/** The SCIM service of a tenant, called as a program would. */
export async function scimAt(tenant: Managed): Promise<(method: string, path: string, body?: object) => Promise<Json>> {
  const token = await scimTokenOf(tenant);
  return async (method, path, body) => {
    const response = await askUntilTaken(() =>
      fetch(`${tenant.baseUrl}/scim/v2${path}`, {
        method,
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/scim+json' },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      }),
    );
    const text = await response.text();
    return { status: response.status, ...(text === '' ? {} : (JSON.parse(text) as Json)) };
  };
}

/** Reads the feed and goes through everything that is due. */
export async function runConnectors({ gatehouse: { services } }: TestServer): Promise<void> {
  await services.jobs.runNow('feeders-catch-up');
  await services.jobs.runNow('connector-feed');
  await services.connectors.settled();
}

export const hourMs = 3_600_000;
export type Resource = Json & { readonly id: string; readonly userName?: string; readonly active?: boolean };
export type Status = Json & { readonly links: Readonly<Record<string, number>> };

/** A tenant, another whose SCIM service is the target, and a proxy between them. */
export interface ConnectorWorld {
  readonly server: TestServer;
  readonly proxy: RecordingProxy;
  readonly tenant: Managed;
  readonly remote: Managed;
  readonly scim: Awaited<ReturnType<typeof scimAt>>;
  /** Two tenants that know nothing of each other yet. */
  readonly fresh: () => Promise<void>;
  readonly run: () => Promise<void>;
  /** Tokens end meanwhile. */
  readonly advance: (ms: number) => Promise<void>;
  readonly connect: (fields?: Json) => Promise<Json & { readonly id: string }>;
  readonly usersThere: () => Promise<readonly Resource[]>;
  readonly userThere: (name: string) => Promise<Resource | undefined>;
  readonly statusOf: (id: string) => Promise<Status>;
  readonly linksOf: (id: string, query?: string) => Promise<readonly Json[]>;
  readonly close: () => Promise<void>;
}

export async function startConnectorWorld(database: DatabaseName): Promise<ConnectorWorld> {
  const server = await startTestServer(database, { flags: loopbackAllowed });
  let tenant = await createTestTenant(server);
  let remote = await createTestTenant(server);
  let scim = await scimAt(remote);
  const proxy = await startRecordingProxy(() => `${remote.baseUrl}/scim/v2`);
  const oauth = (): Json => ({
    ...{ type: 'client_credentials', token_url: `${remote.baseUrl.replace('localhost', '127.0.0.1')}/v1/idp/oidc/token` },
    ...{ client_id: remote.adminClientId, client_secret: remote.adminClientSecret, scope: 'scim:read scim:write' },
  });
  const usersThere = async (): Promise<readonly Resource[]> => {
    const { Resources } = (await scim('GET', '/Users?count=200')) as { readonly Resources: readonly Resource[] };
    return Resources.filter(({ userName }) => userName?.includes('@') === true);
  };
  const itemsAt = async (path: string): Promise<readonly Json[]> =>
    (await tenant.make<{ readonly items: readonly Json[] }>('GET', path)).items;
  return {
    server,
    proxy,
    get tenant() {
      return tenant;
    },
    get remote() {
      return remote;
    },
    get scim() {
      return scim;
    },
    fresh: async () => {
      for (const { id } of await itemsAt('/connectors')) await tenant.make('DELETE', `/connectors/${id}`);
      tenant = await createTestTenant(server);
      remote = await createTestTenant(server);
      scim = await scimAt(remote);
      proxy.intercept = undefined;
      proxy.take();
    },
    run: () => runConnectors(server),
    advance: async (ms) => {
      await server.clock.advance(ms);
      tenant = managedWith(await clientCredentialsToken(tenant.baseUrl, tenant.adminClientId, tenant.adminClientSecret), tenant);
      scim = await scimAt(remote);
    },
    connect: (fields = {}) =>
      tenant.make('POST', '/connectors', { name: 'Payroll', base_url: proxy.url, auth: oauth(), rate: 200, ...fields }),
    usersThere,
    userThere: async (name) => (await usersThere()).find(({ userName }) => userName === name),
    statusOf: (id) => tenant.make('GET', `/connectors/${id}/status`),
    linksOf: (id, query = '') => itemsAt(`/connectors/${id}/links${query}`),
    close: async () => {
      await server.close();
      await proxy.close();
    },
  };
}
