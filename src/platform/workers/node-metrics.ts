// The metrics of a node of several workers: theirs added up, ages and lag by the worst of them, and what the supervisor counts itself.
import prometheus from 'prom-client';
import type { Readings } from './messages.ts';

interface NodeMetrics {
  readonly countDeath: () => void;
  /** The exposition text and its content type. */
  readonly read: () => Promise<{ readonly type: string; readonly text: string }>;
}

/** @param readWorkers what each worker counted, as its registry gives it */
export function createNodeMetrics(readWorkers: () => Promise<readonly Readings[]>): NodeMetrics {
  const own = new prometheus.Registry();
  const deaths = new prometheus.Counter({ name: 'gatehouse_worker_deaths_total', help: 'Workers that died', registers: [own] });
  return {
    countDeath: () => deaths.inc(),
    read: async () => {
      const all = [...(await readWorkers()), (await own.getMetricsAsJSON()) as Readings];
      const together = prometheus.AggregatorRegistry.aggregate(all as object[][]);
      return { type: together.contentType, text: await together.metrics() };
    },
  };
}
