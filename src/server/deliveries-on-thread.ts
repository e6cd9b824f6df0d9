// Deliveries on a thread of their own: hundreds of calls a second to endpoints of others, signed and written down, take nothing from the
// time in which requests are answered. The thread is a server like any other process on the database, without a port.
// Reasons: docs/decisions/0042-a-thread-for-deliveries.md.
import type { Config } from '../config.ts';
import type { Woken } from '../platform/jobs.ts';
import type { Log } from '../platform/log.ts';
import type { Counters } from '../platform/metrics.ts';
import { wokenOnThread } from '../platform/woken-thread.ts';
import { endTurn } from '../storage/engine/dialects/write-turn.ts';

/** What the thread is started with. */
export interface DeliveryThreadGiven {
  readonly config: Config;
  /** The public URL in force. */
  readonly publicUrl: string;
  readonly isCounting: boolean;
  readonly turnMemory: SharedArrayBuffer;
}

/** What it tells: a call of one of the counters. */
export type DeliveryThreadTold = {
  readonly [Name in keyof Counters]: { readonly counter: Name; readonly counted: Parameters<Counters[Name]> };
}[keyof Counters];

/** Connections of the thread to PostgreSQL, beside those of the process. */
const poolMax = 4;

/** As the composition takes it: what delivers, on a thread. */
export const deliveringOnThread =
  (config: Config, turnMemory: SharedArrayBuffer, log: Log) =>
  (publicUrl: () => string, counters: Counters | undefined): Woken =>
    wokenOnThread<DeliveryThreadGiven, DeliveryThreadTold>(
      {
        name: 'deliveries',
        // The compiled package has .js files beside each other just as the sources have .ts files.
        file: new URL(`./delivery-thread${import.meta.url.endsWith('.ts') ? '.ts' : '.js'}`, import.meta.url),
        given: () => ({
          config: { ...config, redisUrl: undefined, metricsListen: undefined, databasePoolMax: poolMax },
          publicUrl: publicUrl(),
          isCounting: counters !== undefined,
          turnMemory,
        }),
        onTold: (told) => {
          if (told.counter === 'countDelivery') counters?.countDelivery(...told.counted);
          else counters?.countHook(...told.counted);
        },
        onEnd: (threadId) => endTurn(turnMemory, threadId),
      },
      log,
    );
