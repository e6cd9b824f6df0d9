// A server of LDAP that a test plays itself, byte by byte, over TLS: what no real one says.
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer, type TLSSocket } from 'node:tls';
import { BerReader } from 'ldapts';
import { doneMessage, entryMessage } from './ldap-messages.ts';
import { makeServerIdentity } from './slapd.ts';

export interface LdapRequest {
  readonly id: number;
  readonly operation: 'bind' | 'search' | 'extended' | 'abandon' | 'unbind';
  /** As it came. */
  readonly bytes: Buffer;
  /** Of a search. */
  readonly base: string;
}

const operations: Readonly<Record<number, LdapRequest['operation']>> = {
  ...{ 96: 'bind', 99: 'search', 119: 'extended', 80: 'abandon', 66: 'unbind' },
};

export interface PlayedServer {
  readonly port: number;
  readonly url: string;
  readonly ca: string;
  readonly requests: readonly LdapRequest[];
  /** Connections that were taken. */
  readonly connections: () => number;
  readonly stop: () => Promise<void>;
}

/** What answers a request; a bind is answered well, and what the server says of itself is nothing, unless it does otherwise (gives true). */
export type Play = (request: LdapRequest, socket: Socket) => unknown;

/** @param names of its certificate */
export async function playServer(play: Play, names: readonly string[] = ['localhost'], notAfter?: Date): Promise<PlayedServer> {
  const { authority, identity } = await makeServerIdentity(names, notAfter);
  const requests: LdapRequest[] = [];
  const server = createTlsServer({ key: identity.key, cert: identity.cert }, (socket) => readRequests(socket, requests, play));
  return { ...(await listening(server)), url: `ldaps://localhost:${portOf(server)}`, ca: authority.cert, requests };
}

/** Without TLS, whatever is done with the connection. */
export async function playSocket(play: (socket: Socket) => void): Promise<Omit<PlayedServer, 'ca' | 'requests'>> {
  const server = createServer(play);
  return { ...(await listening(server)), url: `ldaps://localhost:${portOf(server)}` };
}

const portOf = (server: Server): number => (server.address() as AddressInfo).port;

async function listening(server: Server) {
  const open = new Set<Socket>();
  let taken = 0;
  server.on('connection', (socket: Socket) => {
    taken += 1;
    open.add(socket.on('error', () => undefined).on('close', () => open.delete(socket)));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    port: portOf(server),
    connections: () => taken,
    stop: async () => {
      for (const socket of open) socket.destroy();
      server.close();
    },
  };
}

export function readRequests(socket: Socket | TLSSocket, requests: LdapRequest[], play: Play): void {
  let kept = Buffer.alloc(0);
  socket.on('error', () => undefined);
  socket.on('data', async (chunk) => {
    kept = Buffer.concat([kept, chunk as Buffer]);
    for (;;) {
      const reader = new BerReader(kept);
      if (reader.readSequence() === null || reader.remain < reader.length) return;
      const bytes = kept.subarray(0, reader.offset + reader.length);
      kept = kept.subarray(bytes.length);
      const id = reader.readInt() ?? 0;
      const operation = operations[reader.peek() ?? 0] ?? 'unbind';
      const base = operation === 'search' && reader.readSequence() !== null ? (reader.readString() ?? '') : '';
      const request: LdapRequest = { id, operation, bytes, base };
      requests.push(request);
      if ((await play(request, socket)) === true) continue;
      if (operation === 'bind') socket.write(doneMessage(id, 0, '', { operation: 'bind' }));
      if (operation === 'search' && base === '') socket.write(Buffer.concat([entryMessage(id, '', {}), doneMessage(id, 0)]));
    }
  });
}
