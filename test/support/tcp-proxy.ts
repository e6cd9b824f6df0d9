// A TCP proxy of our own between a server under test and PostgreSQL or Redis: it can fall silent and cut connections at a
// chosen message, which a test cannot ask of the real servers that other tests share.
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export interface TcpProxy {
  readonly port: number;
  /** Both directions stop; new connections are accepted and hear nothing, like a stopped process. */
  readonly stall: () => void;
  readonly resume: () => void;
  /** Cuts the next connection whose client sends `text` after `first`: before the server sees it, or when its reply arrives. */
  readonly cutAt: (first: string, text: string, when: 'before' | 'after') => void;
  /** Cuts every connection and refuses new ones until `accept`. */
  readonly refuse: () => void;
  readonly accept: () => void;
  readonly connections: () => number;
  readonly close: () => Promise<void>;
}

interface Pair {
  readonly client: Socket;
  readonly server: Socket;
}

export async function startTcpProxy(target: { readonly host: string; readonly port: number }): Promise<TcpProxy> {
  const pairs = new Set<Pair>();
  let stalled = false;
  let refusing = false;
  let cut: { readonly first: string; readonly text: string; readonly when: 'before' | 'after'; by?: Pair } | undefined;
  const drop = ({ client, server }: Pair): void => {
    client.destroy();
    server.destroy();
  };
  const listener = createServer((client) => {
    if (refusing) {
      client.destroy();
      return;
    }
    const server = connect(target.port, target.host);
    const pair = { client, server };
    pairs.add(pair);
    if (stalled) pause(pair);
    for (const [from, to] of [
      [client, server],
      [server, client],
    ] as const) {
      from.on('error', () => undefined);
      from.on('close', () => {
        to.end();
        pairs.delete(pair);
      });
      from.on('end', () => to.end());
    }
    client.on('data', (chunk) => {
      if (cut?.by === undefined && cut !== undefined && chunk.includes(cut.first)) cut.by = pair;
      else if (cut?.by === pair && chunk.includes(cut.text)) {
        const { when } = cut;
        cut = undefined;
        if (when === 'before') return drop(pair);
        server.removeAllListeners('data');
        server.once('data', () => drop(pair));
      }
      server.write(chunk);
    });
    server.on('data', (chunk) => void client.write(chunk));
  });
  await new Promise<void>((done) => listener.listen(0, '127.0.0.1', done));
  const port = (listener.address() as AddressInfo).port;
  return {
    port,
    stall: () => {
      stalled = true;
      for (const pair of pairs) pause(pair);
    },
    resume: () => {
      stalled = false;
      for (const { client, server } of pairs) {
        client.resume();
        server.resume();
      }
    },
    cutAt: (first, text, when) => {
      cut = { first, text, when };
    },
    refuse: () => {
      refusing = true;
      for (const pair of pairs) drop(pair);
    },
    accept: () => {
      refusing = false;
    },
    connections: () => pairs.size,
    close: async () => {
      for (const pair of pairs) drop(pair);
      await new Promise((done) => listener.close(done));
    },
  };
}

function pause({ client, server }: Pair): void {
  client.pause();
  server.pause();
}

/** The same URL through the proxy. */
export function throughProxy(url: string, proxy: TcpProxy): string {
  const changed = new URL(url);
  changed.host = `127.0.0.1:${proxy.port}`;
  return changed.href;
}

/** Host and port a URL names. */
export function targetOf(url: string, portDefault: number): { readonly host: string; readonly port: number } {
  const { hostname, port } = new URL(url);
  return { host: hostname, port: port === '' ? portDefault : Number(port) };
}
