// The time between being asked to stop and stopping, in which load balancers and clients learn of it: readiness is refused and every
// answer closes its connection, while everything is still answered. Begun by serve on SIGTERM.
import { Server } from 'node:net';
import type { FastifyInstance } from 'fastify';

export interface Draining {
  readonly isOn: () => boolean;
  readonly begin: () => void;
  /** Refuses new connections and keeps those there are; HTTP's own close would end the unused ones at once. */
  readonly stopListening: () => void;
}

declare module 'fastify' {
  interface FastifyInstance {
    readonly draining: Draining;
  }
}

/** Lets a server be told to drain; to be called before surfaces register. */
export function installDraining(app: FastifyInstance): void {
  let isOn = false;
  app.decorate('draining', {
    isOn: () => isOn,
    begin: () => {
      isOn = true;
    },
    stopListening: () => void Server.prototype.close.call(app.server),
  });
  app.addHook('onRequest', (_request, reply, done) => {
    if (isOn) reply.header('connection', 'close');
    done();
  });
}
