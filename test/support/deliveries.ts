// Deliveries in tests: an endpoint that holds what it receives until it is told to answer, and logout notices queued by ending grants.
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { decodeJwt } from 'jose';
import type { Tenant } from '../../src/domain/tenant/tenant.ts';
import type { Services } from '../../src/http/services.ts';
import { revokeGrantsOfUser } from '../../src/storage/oidc/grants.ts';
import { createClient, createUser, type TestClient } from './fixtures.ts';
import { issueTokens } from './issued-tokens.ts';

export interface Arrival {
  readonly path: string;
  /** auth_req_id, or jti of a logout token. */
  readonly id: string;
  readonly atMs: number;
  /** It ended without an answer. */
  readonly wasCut: boolean;
}

export interface HoldingReceiver {
  readonly url: (path: string) => string;
  readonly arrived: readonly Arrival[];
  /** How many at a path have no answer yet; of all paths without one. */
  readonly held: (path?: string) => number;
  /** Ids that arrived again while the receiver held them. */
  readonly doubled: readonly string[];
  /** Answers what is held at a path with 204, at most `count`. */
  readonly answer: (path: string, count?: number) => void;
  /** Answers everything held, and from now on at once. */
  readonly open: () => void;
  readonly close: () => Promise<void>;
}

interface Held {
  readonly arrival: { -readonly [K in keyof Arrival]: Arrival[K] };
  readonly response: ServerResponse;
}

export async function startHoldingReceiver(): Promise<HoldingReceiver> {
  const arrived: Arrival[] = [];
  const doubled: string[] = [];
  let held: readonly Held[] = [];
  let isOpen = false;
  const end = (some: readonly Held[]): void => {
    held = held.filter((one) => !some.includes(one));
    for (const { response } of some) response.writeHead(204).end();
  };
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    const id = body.startsWith('{') ? JSON.parse(body).auth_req_id : decodeJwt(new URLSearchParams(body).get('logout_token')!).jti;
    const one = { arrival: { path: request.url!, id, atMs: performance.now(), wasCut: false }, response };
    if (held.some(({ arrival }) => arrival.id === id)) doubled.push(id);
    arrived.push(one.arrival);
    held = [...held, one];
    response.on('close', () => {
      if (!held.includes(one)) return;
      one.arrival.wasCut = true;
      held = held.filter((other) => other !== one);
    });
    if (isOpen) end([one]);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo; // listening on TCP
  const at = (path: string): readonly Held[] => held.filter(({ arrival }) => arrival.path === path);
  return {
    url: (path) => `http://127.0.0.1:${port}${path}`,
    arrived,
    held: (path) => (path === undefined ? held : at(path)).length,
    doubled,
    answer: (path, count) => end(at(path).slice(0, count)),
    open: () => {
      isOpen = true;
      end(held);
    },
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** Clients that are told of logouts, one at each path. */
export const createToldClients = (
  services: Services,
  tenant: Tenant,
  receiver: HoldingReceiver,
  paths: readonly string[],
): Promise<readonly TestClient[]> =>
  Promise.all(paths.map((path) => createClient(services, tenant, { backchannelLogoutUri: receiver.url(path) })));

/** Ends `count` grants of each client at once; gives the ids of the logout tokens that tell of them. */
export async function queueLogouts(
  services: Services,
  tenant: Tenant,
  clients: readonly TestClient[],
  count: number,
): Promise<readonly string[]> {
  const user = await createUser(services, tenant);
  const ids: string[] = [];
  for (const client of clients)
    for (let made = 0; made < count; made += 1) ids.push(`logout-${(await issueTokens(services, tenant, client, user.id)).grantId}`);
  await services.database.write(tenant.id, (queries) => revokeGrantsOfUser(queries, tenant.id, user.id, 'administrator'));
  return ids;
}

/** Looks until it is so; the test's own time-out ends it. */
export async function until(is: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await is())) await wait(10);
}
