// What the process counts for Prometheus. Labels come from fixed lists (surfaces, statuses, contract rows, grant types), never
// from a request, so the number of series is bounded. Made only when metrics are switched on; prom-client is loaded then.

import { type Bucket, quantileOf } from './quantile.ts';

/** How long a surface took to answer since the process started, estimated within the buckets of its histogram. */
export interface SurfaceLatency {
  readonly surface: string;
  readonly requests: number;
  readonly p50Seconds: number;
  readonly p99Seconds: number;
}

export interface Metrics {
  /** One answered request of a surface; `seconds` from its first byte to the end of the answer. */
  readonly countRequest: (surface: string, status: number, seconds: number) => void;
  /** One refusal by contract row. */
  readonly countRefusal: (row: string) => void;
  /** One successful token answer by grant type. */
  readonly countTokens: (grantType: string) => void;
  /** Times to answer by surface, in the order of their names; surfaces nobody asked are absent. */
  readonly latencies: () => Promise<readonly SurfaceLatency[]>;
  /** The exposition text and its content type. */
  readonly read: () => Promise<{ readonly type: string; readonly text: string }>;
}

const latencyBucketsSeconds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];

export async function createMetrics(): Promise<Metrics> {
  const { default: prometheus } = await import('prom-client');
  const registry = new prometheus.Registry();
  prometheus.collectDefaultMetrics({ register: registry });
  const registers = [registry];
  const requests = new prometheus.Counter({
    name: 'gatehouse_requests_total',
    help: 'Answered requests',
    labelNames: ['surface', 'status'],
    registers,
  });
  const seconds = new prometheus.Histogram({
    name: 'gatehouse_request_seconds',
    help: 'Time to answer',
    labelNames: ['surface'],
    buckets: latencyBucketsSeconds,
    registers,
  });
  const refusals = new prometheus.Counter({
    name: 'gatehouse_refusals_total',
    help: 'Refusals by contract row',
    labelNames: ['row'],
    registers,
  });
  const tokens = new prometheus.Counter({
    name: 'gatehouse_token_answers_total',
    help: 'Successful token answers',
    labelNames: ['grant'],
    registers,
  });
  return {
    countRequest: (surface, status, elapsedSeconds) => {
      requests.inc({ surface, status });
      seconds.observe({ surface }, elapsedSeconds);
    },
    countRefusal: (row) => refusals.inc({ row }),
    countTokens: (grant) => tokens.inc({ grant }),
    latencies: async () => {
      const { values } = await seconds.get();
      const buckets = new Map<string, Bucket[]>();
      for (const { labels, value, metricName } of values) {
        if (metricName?.endsWith('_bucket') !== true) continue;
        const surface = String(labels.surface);
        const { le } = labels as { readonly le?: string | number }; // prom-client adds it to the labels of a bucket
        const upTo = le === '+Inf' ? Number.POSITIVE_INFINITY : Number(le);
        buckets.set(surface, [...(buckets.get(surface) ?? []), { upTo, count: value }]);
      }
      return [...buckets]
        .map(([surface, own]) => ({
          surface,
          requests: own.at(-1)?.count ?? 0,
          p50Seconds: quantileOf(own, 0.5) ?? 0,
          p99Seconds: quantileOf(own, 0.99) ?? 0,
        }))
        .filter(({ requests }) => requests > 0)
        .toSorted((left, right) => (left.surface < right.surface ? -1 : 1));
    },
    read: async () => ({ type: registry.contentType, text: await registry.metrics() }),
  };
}
