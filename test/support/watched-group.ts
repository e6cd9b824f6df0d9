// What a group answers, with a test between: it sees each request before the group does and each answer before the caller does, and may
// keep either to itself.
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Seen {
  readonly method: string;
  readonly path: string;
  /** `asked`: the group has not heard of it; `answered`: the caller has not. */
  readonly when: 'asked' | 'answered';
}

/** Gives true to keep it: the caller's connection ends instead. */
export type Watch = (seen: Seen) => boolean | Promise<boolean>;

export interface WatchedGroup {
  readonly url: string;
  readonly watch: (by: Watch) => void;
  readonly close: () => Promise<void>;
}

export async function startWatchedGroup(groupUrl: string): Promise<WatchedGroup> {
  let watch: Watch = () => false;
  // As the router's (router.ts): answers say how long the group keeps a connection.
  const server = createServer({ keepAliveTimeout: 0 }, (incoming, outgoing) => {
    const { method = '', url = '', headers } = incoming;
    const path = url.replace('/v1/system', '').split('?', 1)[0]!;
    const forward = async (): Promise<void> => {
      if (await watch({ method, path, when: 'asked' })) {
        outgoing.destroy();
        return;
      }
      const asked = request(`${groupUrl}${url}`, { method, headers, agent: false }, async (answer) => {
        if (await watch({ method, path, when: 'answered' })) {
          answer.resume();
          outgoing.destroy();
          return;
        }
        outgoing.writeHead(answer.statusCode!, answer.rawHeaders);
        answer.pipe(outgoing);
      });
      asked.on('error', () => outgoing.destroy());
      incoming.pipe(asked);
    };
    void forward();
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    watch: (by) => {
      watch = by;
    },
    close: async () => {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
}
