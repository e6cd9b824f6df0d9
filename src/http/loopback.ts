// `localhost` is two addresses: a server that is called so answers at both, and leads browsers that came by the address to the name,
// where their cookies and passkeys are.
import { createServer, type Server } from 'node:net';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { prefersHtml } from '../platform/accept.ts';

export interface Loopback {
  readonly close: () => Promise<void>;
}

/** Listens at 127.0.0.1 and at ::1 where the machine has it; port 0 picks one. Rejects when another program has the port at either. */
export async function listenOnLoopback(app: FastifyInstance, port: number): Promise<Loopback> {
  await app.listen({ host: '127.0.0.1', port });
  const address = app.server.address();
  const chosen = typeof address === 'object' && address !== null ? address.port : port;
  const second = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => app.server.emit('connection', socket));
  const hasIpv6 = await listenAt(second, '::1', chosen);
  return { close: () => (hasIpv6 ? new Promise((resolve) => second.close(() => resolve())) : Promise.resolve()) };
}

/** False: the machine has no such address. */
function listenAt(server: Server, host: string, port: number): Promise<boolean> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRNOTAVAIL' || error.code === 'EAFNOSUPPORT') resolve(false);
      else reject(error);
    });
    server.listen({ host, port }, () => resolve(true));
  });
}

const loopbackAddress = /^(?:127(?:\.\d{1,3}){3}|\[::1\])(?=:|$)/;

/** Where a browser finds a page it asked for by a loopback address while the public URL says localhost; undefined: here. */
export function pageOnLocalhost(request: FastifyRequest, publicUrl: string): string | undefined {
  if (!publicUrl.startsWith('http://localhost')) return undefined;
  const { host = '', accept } = request.headers;
  if (!loopbackAddress.test(host) || !['GET', 'HEAD'].includes(request.method) || !prefersHtml(accept)) return undefined;
  if (new URL(publicUrl).host !== host.replace(loopbackAddress, 'localhost')) return undefined;
  return `${publicUrl}${request.originalUrl}`;
}
