// Connections that were handed to a worker and not taken yet. When it dies before it took them, node:cluster waits for its answer and keeps
// them open, so that whoever made them would wait for ever; here they are closed, and asked again elsewhere. While a worker has none, no
// connection waits in the supervisor for a worker to be free. Called by the supervisor for each worker.
import type { Worker } from 'node:cluster';

interface Connection {
  readonly close: () => void;
}

/** What node:cluster sends along with a connection, and what a worker answers when it has taken it, or not. */
interface Handing {
  readonly cmd?: string;
  readonly seq?: number;
}
interface Answer {
  readonly ack?: number;
}
type Send = (message: Handing, connection?: Connection | null, ...others: readonly unknown[]) => boolean;

export interface HandedConnections {
  /** How many were handed to it so far. */
  readonly count: () => number;
  /** How many of these it has not taken yet. */
  readonly untaken: () => number;
}

/** Counts what is handed to a worker; closes, when it ends, the connections it has not answered for. */
export function watchHanded({ process: worker }: Worker): HandedConnections {
  const handed = new Map<number, Connection>();
  let count = 0;
  const channel = worker as unknown as { send: Send }; // node:cluster sends by this method, with fewer types than it is declared with
  const send = channel.send.bind(worker);
  channel.send = (message, connection, ...others) => {
    if (message.cmd === 'NODE_CLUSTER' && message.seq !== undefined && connection) {
      handed.set(message.seq, connection);
      count += 1;
    }
    return send(message, connection, ...others);
  };
  worker.on('internalMessage', ({ ack }: Answer) => ack !== undefined && handed.delete(ack));
  worker.once('exit', () => handed.forEach((connection) => void connection.close()));
  return { count: () => count, untaken: () => handed.size };
}
