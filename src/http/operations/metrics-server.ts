// GET /metrics on an address of its own (GATEHOUSE_METRICS_LISTEN), never on the public one.
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Metrics } from '../../platform/metrics.ts';
import { createServer } from '../../platform/net/node-http.ts';

export interface MetricsServer {
  readonly url: string;
  readonly close: () => Promise<void>;
}

export async function startMetricsServer(
  metrics: Pick<Metrics, 'read'>,
  listen: { readonly host: string; readonly port: number },
): Promise<MetricsServer> {
  const server = createServer((request, response) => {
    if (request.url !== '/metrics' || (request.method !== 'GET' && request.method !== 'HEAD')) {
      response.writeHead(404).end();
      return;
    }
    metrics.read().then(
      ({ type, text }) => response.writeHead(200, { 'content-type': type, 'cache-control': 'no-store' }).end(text),
      () => response.writeHead(500).end(),
    );
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(listen.port, listen.host, resolve);
  });
  return { url: urlOf(server), close: () => closed(server) };
}

function urlOf(server: Server): string {
  const { address, port, family } = server.address() as AddressInfo; // a TCP server that listens
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}/metrics`;
}

function closed(server: Server): Promise<void> {
  server.closeAllConnections();
  return new Promise((resolve) => server.close(() => resolve()));
}
