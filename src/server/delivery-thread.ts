// The thread of deliveries (deliveries-on-thread.ts): composed like the server that started it, on connections of its own to the same
// database, with the one job of delivering what is queued.

import { systemClock } from '../platform/clock.ts';
import { createLog } from '../platform/log.ts';
import type { Counters } from '../platform/metrics.ts';
import { createTracing } from '../platform/tracing/tracing.ts';
import { serveThread, stepBack, threadOf } from '../platform/woken-thread.ts';
import { closeServices, composeServices } from './compose-services.ts';
import type { DeliveryThreadGiven, DeliveryThreadTold } from './deliveries-on-thread.ts';
import { openStore } from './open-store.ts';

stepBack();
const { given, tell } = threadOf<DeliveryThreadGiven, DeliveryThreadTold>();
const { config, publicUrl, isCounting, turnMemory } = given;
const environment = { clock: systemClock, log: createLog(config.logLevel) };
const told: Counters = {
  countDelivery: (...counted) => tell({ counter: 'countDelivery', counted }),
  countHook: (...counted) => tell({ counter: 'countHook', counted }),
};

const tracing = config.otlpUrl === undefined ? undefined : await createTracing(config.otlpUrl);
const store = await openStore(config, environment, { serving: false, turnMemory });
const services = await composeServices(config, { ...environment, counters: isCounting ? told : undefined }, store, tracing);
const { jobs } = services;
services.setPublicUrl(publicUrl);
jobs.start();
jobs.keepWoken();
serveThread({
  wake: jobs.wake,
  settled: () => jobs.runNow('deliveries'),
  stop: async () => {
    await closeServices(services);
    await store.close();
    await tracing?.close();
  },
});
