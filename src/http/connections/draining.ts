// The time between being asked to stop and stopping, in which load balancers and clients learn of it: readiness is refused and every
// answer closes its connection, while everything is still answered. Begun by serve on SIGTERM.
import { Server } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { quietTurn } from '../../platform/turns/quiet-turn.ts';

interface Draining {
  readonly isOn: () => boolean;
  readonly begin: () => void;
  /** Refuses new connections, as soon as none is on its way, and keeps those there are; HTTP's own close would end the unused ones at once. */
  readonly stopListening: () => Promise<void>;
}

declare module 'fastify' {
  interface FastifyInstance {
    readonly draining: Draining;
  }
}

/** Lets a server be told to drain; to be called before surfaces register. */
export function installDraining(app: FastifyInstance): void {
  let isOn = false;
  let accepted = 0;
  app.server.on('connection', () => {
    accepted += 1;
  });
  app.decorate('draining', {
    isOn: () => isOn,
    begin: () => {
      isOn = true;
    },
    stopListening: async () => {
      await quietTurn(() => accepted);
      Server.prototype.close.call(app.server);
    },
  });
  app.addHook('onRequest', (_request, reply, done) => {
    if (isOn) reply.header('connection', 'close');
    done();
  });
}
