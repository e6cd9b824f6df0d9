// Webhooks in tests: an endpoint that answers as it is told and keeps what arrives, and a tenant whose webhooks are delivered on demand.
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Json, Managed } from './management.ts';
import type { TestServer } from './server.ts';

export interface Received {
  readonly path: string;
  readonly headers: IncomingHttpHeaders & Readonly<Record<string, string>>;
  readonly body: string;
  readonly atMs: number;
}

export interface WebhookReceiver {
  readonly url: (path: string) => string;
  readonly received: Received[];
  /** What arrived at a path, parsed. */
  readonly at: (path: string) => readonly (Json & { readonly type: string; readonly seq: number })[];
  /** How a path is answered from now on; 204 unless told. */
  readonly answer: (path: string, how: (response: ServerResponse) => void) => void;
  readonly close: () => Promise<void>;
}

export async function startWebhookReceiver(): Promise<WebhookReceiver> {
  const received: Received[] = [];
  const answers = new Map<string, (response: ServerResponse) => void>();
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    const path = request.url ?? '';
    received.push({ path, headers: request.headers as Received['headers'], body, atMs: performance.now() }); // each header is sent once
    (answers.get(path) ?? ((one) => void one.writeHead(204).end()))(response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo; // listening on TCP
  return {
    url: (path) => `http://127.0.0.1:${port}${path}`,
    received,
    at: (path) => received.filter((one) => one.path === path).map(({ body }) => JSON.parse(body)),
    answer: (path, how) => void answers.set(path, how),
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** Answers with a status, headers and text. */
export const answerWith =
  (status: number, headers: Readonly<Record<string, string>> = {}, text = ''): ((response: ServerResponse) => void) =>
  (response) =>
    void response.writeHead(status, headers).end(text);

export const loopbackAllowed = { egress_allow: '127.0.0.0/8' };

export type Hook = Json & { readonly id: string; readonly secret: string };
export type Delivery = Json & { readonly id: string; readonly event_id: string; readonly state: string; readonly status: number | null };

/** Registers a webhook of a tenant. */
export const makeHook = (tenant: Managed, url: string, fields: Json = {}): Promise<Hook> =>
  tenant.make('POST', '/webhooks', { url, types: ['group.*'], ...fields });

export const deliveriesOf = async (tenant: Managed, id: string, query = ''): Promise<readonly Delivery[]> =>
  (await tenant.make<{ readonly items: readonly Delivery[] }>('GET', `/webhooks/${id}/deliveries${query}`)).items;

/** Queues what has happened and makes every attempt that is due. */
export async function deliverNow({ gatehouse: { services } }: TestServer): Promise<void> {
  await services.jobs.runNow('webhook-feed');
  await services.jobs.runNow('deliveries');
}
