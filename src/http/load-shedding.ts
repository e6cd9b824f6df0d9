// What an overloaded server still answers. When the event loop is late, what programs do in bulk and can do again is refused first
// (provisioning, management), so that people sign in and tokens are issued; when it is very late, or nobody got a connection to the
// database for a second, all but health. Refused before anything is begun, with 503 and when to come back.
import type { FastifyInstance } from 'fastify';
import { connectionWaitMsMax, loopLagFirstMsMax, loopLagMsMax } from '../contract/limits.ts';

/** When a surface is given up: before others, never, or (unless said) last. */
export type Shedding = 'first' | 'never';

type Overload = 'loop_lag' | 'connections';

declare module 'fastify' {
  interface FastifyInstance {
    /** How late the event loop is, in milliseconds: the median of the last measurements. */
    readonly loopLagMs: () => number;
  }
}

const measureEveryMs = 25;
const measurements = 11;

/**
 * Lets the server know how late its event loop is; to be called before surfaces register. The median, because a single long turn
 * (a start, a large import, a machine that slept) is no overload, and a mean would take it for one. Only time in which the loop was at
 * work counts: one that had nothing to do and was not let run by its machine is late, and refusing requests would not help it.
 */
export function watchLoopLag(app: FastifyInstance): void {
  const lagsMs: number[] = [];
  let medianMs = 0;
  let timer: NodeJS.Timeout | undefined;
  const measure = (): void => {
    const dueMs = performance.now() + measureEveryMs;
    const before = performance.eventLoopUtilization();
    timer = setTimeout(() => {
      const { active: workedMs } = performance.eventLoopUtilization(before);
      lagsMs.push(Math.max(0, Math.min(performance.now() - dueMs, workedMs)));
      if (lagsMs.length > measurements) lagsMs.shift();
      if (lagsMs.length === measurements) medianMs = lagsMs.toSorted((left, right) => left - right)[(measurements - 1) / 2]!;
      measure();
    }, measureEveryMs).unref();
  };
  measure();
  app.decorate('loopLagMs', () => medianMs);
  app.addHook('onClose', (_instance, done) => {
    clearTimeout(timer);
    done();
  });
}

export interface Load {
  /** How late the event loop is, in milliseconds. */
  readonly lagMs: number;
  /** How long somebody has been waiting for a connection to the database. */
  readonly connectionWaitMs: number;
}

/** Why a request is refused now, or undefined. `isRemembered`: it is answered from memory, without the database. */
export function findOverload(load: Load, shedding: 'first' | 'never' | 'last', isRemembered: boolean): Overload | undefined {
  if (shedding === 'never') return undefined;
  if (load.lagMs > (shedding === 'first' ? loopLagFirstMsMax : loopLagMsMax)) return 'loop_lag';
  return load.connectionWaitMs > connectionWaitMsMax && !isRemembered ? 'connections' : undefined;
}
