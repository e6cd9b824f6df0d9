// The router before several deployments: one public address whose requests go to the one that has the tenant.
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Router {
  readonly url: string;
  /** Sends requests to this port from now on. */
  readonly sendTo: (port: number) => void;
  readonly close: () => Promise<void>;
}

export async function startRouter(): Promise<Router> {
  let port = 0;
  // The answers say how long the deployment keeps a connection; one that ended before, as Node's do by themselves, would end as it is used again.
  const server = createServer({ keepAliveTimeout: 0 }, (incoming, outgoing) => {
    const { method, url, headers } = incoming;
    // A connection for each: one that is kept may end as it is used again.
    const forward = request({ host: '127.0.0.1', port, method, path: url, headers, agent: false }, (answer) => {
      outgoing.writeHead(answer.statusCode!, answer.rawHeaders);
      answer.pipe(outgoing);
    });
    forward.on('error', () => outgoing.destroy());
    incoming.pipe(forward);
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    sendTo: (to) => {
      port = to;
    },
    close: async () => {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
}
