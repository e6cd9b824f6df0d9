// RFC 6797: a server reached by https is reached by nothing else for a year, wherever on it a request goes; tenants of other hosts say it
// for themselves (surface.ts). Called by the composition, before any surface.
import type { FastifyInstance } from 'fastify';

export const strictTransport = { 'strict-transport-security': 'max-age=31536000' } as const;

/** Adds the header to every answer of a server whose public address is https. */
export function installStrictTransport(app: FastifyInstance, publicUrl: string): void {
  if (!publicUrl.startsWith('https:')) return;
  app.addHook('onRequest', (_request, reply, done) => {
    reply.headers(strictTransport);
    done();
  });
}
