// What the process counts for Prometheus. Labels come from fixed lists (surfaces, route templates, methods, statuses, contract rows,
// grant types), never from a request: no tenant, client or address. Series are bounded all the same. Made only when metrics are
// switched on; prom-client is loaded then. Each metric says how those of several workers become one: added up unless it says more.

import { routeSeriesMax } from '../contract/limits.ts';
import { type Bucket, quantileOf } from './quantile.ts';
import type { Readings } from './workers/messages.ts';

/** How long a surface took to answer since the node started, estimated within the buckets of its histogram. */
interface SurfaceLatency {
  readonly surface: string;
  readonly requests: number;
  readonly p50Seconds: number;
  readonly p99Seconds: number;
}

interface AnsweredRequest {
  readonly surface: string;
  /** Template of the route, e.g. `/v1/idp/oidc/token`; undefined when there is none. */
  readonly route: string | undefined;
  readonly method: string;
  readonly status: number;
  /** From its first byte to the end of the answer. */
  readonly seconds: number;
}

/** What is looked at when metrics are read. */
export interface Gauges {
  readonly connections: () => { readonly open: number; readonly idle: number; readonly waiting: number };
  readonly configurationAgeMs: () => Promise<number>;
  readonly isReadOnly: () => boolean;
  /** Deliveries (mail, CIBA, logout, push) that are due and in nobody's hand, and for how long the oldest is. */
  readonly deliveries: () => Promise<readonly { readonly kind: string; readonly count: number; readonly oldestMs: number }[]>;
}

/** What deliveries count, on whichever thread they are made. */
export interface Counters {
  /** One attempt to deliver, by kind and what came of it. */
  readonly countDelivery: (kind: string, result: string) => void;
  /** One call of a hook, or one spared by its breaker. */
  readonly countHook: (point: string, result: string, seconds: number) => void;
}

export interface Metrics extends Counters {
  readonly countRequest: (answered: AnsweredRequest) => void;
  /** One refusal by contract row. */
  readonly countRefusal: (row: string) => void;
  /** One refusal that is not stored by itself. */
  readonly countSummarised: () => void;
  /** One request refused because the server is overloaded. */
  readonly countShed: (reason: string) => void;
  /** One successful token answer by grant type. */
  readonly countTokens: (grantType: string) => void;
  /** Times to answer by surface, in the order of their names; surfaces nobody asked are absent. */
  readonly latencies: () => Promise<readonly SurfaceLatency[]>;
  /** What was counted, for the supervisor of workers to add up. */
  readonly values: () => Promise<readonly object[]>;
  /** The exposition text and its content type. */
  readonly read: () => Promise<{ readonly type: string; readonly text: string }>;
}

const secondsName = 'gatehouse_request_seconds';
const latencyBucketsSeconds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];

/** Of these the worst of a node's workers is told; all others are added up. */
const worst = /_(lag|age)_/;

/** @param readNode what every worker of this node counted; undefined when that is this process alone */
export async function createMetrics(gauges: Gauges, readNode?: () => Promise<readonly Readings[] | undefined>): Promise<Metrics> {
  const { default: prometheus } = await import('prom-client');
  const registry = new prometheus.Registry();
  collectProcess(prometheus, registry);
  const registers = [registry];
  const counter = <L extends string>(name: string, help: string, ...labelNames: readonly L[]): import('prom-client').Counter<L> =>
    new prometheus.Counter({ name, help, labelNames, registers });
  const requests = counter('gatehouse_requests_total', 'Answered requests', 'surface', 'status');
  const seconds = new prometheus.Histogram({
    name: secondsName,
    help: 'Time to answer',
    labelNames: ['surface'],
    buckets: latencyBucketsSeconds,
    registers,
  });
  const durations = new prometheus.Histogram({
    name: 'gatehouse_http_request_duration_seconds',
    help: 'Time to answer by route template, method and status class',
    labelNames: ['route', 'method', 'status'],
    buckets: latencyBucketsSeconds,
    registers,
  });
  const routes = createRouteLabels();
  registerGauges(prometheus, registry, gauges);
  const refusals = counter('gatehouse_refusals_total', 'Refusals by contract row', 'row');
  const summarised = counter(
    'gatehouse_refusals_summarised_total',
    'Refusals counted in the summary of their minute and not stored by themselves',
  );
  const shed = counter('gatehouse_shed_total', 'Requests refused because the server is overloaded', 'reason');
  const tokens = counter('gatehouse_token_answers_total', 'Successful token answers', 'grant');
  const deliveries = counter('gatehouse_delivery_attempts_total', 'Attempts to deliver by kind and what came of them', 'kind', 'result');
  const hookCalls = counter('gatehouse_hook_calls_total', 'Calls of hooks by point and what came of them', 'point', 'result');
  const hookSeconds = new prometheus.Histogram({
    name: 'gatehouse_hook_seconds',
    help: 'Time to the answer of a hook, waiting for a turn included',
    labelNames: ['point'],
    buckets: latencyBucketsSeconds,
    registers,
  });
  return {
    countRequest: (answered) => {
      const { surface, status, seconds: elapsedSeconds } = answered;
      requests.inc({ surface, status });
      seconds.observe({ surface }, elapsedSeconds);
      durations.observe(routes(answered), elapsedSeconds);
    },
    countRefusal: (row) => refusals.inc({ row }),
    countSummarised: () => summarised.inc(),
    countShed: (reason) => shed.inc({ reason }),
    countDelivery: (kind, result) => deliveries.inc({ kind, result }),
    countHook: (point, result, elapsedSeconds) => {
      hookCalls.inc({ point, result });
      hookSeconds.observe({ point }, elapsedSeconds);
    },
    countTokens: (grant) => tokens.inc({ grant }),
    latencies: async () => {
      const all = await readNode?.();
      const together = all && prometheus.AggregatorRegistry.aggregate(all as object[][]).getSingleMetric(secondsName);
      return latenciesOf((await (together ?? seconds).get()).values);
    },
    values: () => registry.getMetricsAsJSON(),
    read: async () => ({ type: registry.contentType, text: await registry.metrics() }),
  };
}

type HistogramValues = Awaited<ReturnType<import('prom-client').Histogram['get']>>['values'];

type Prometheus = typeof import('prom-client');

/** What every Node process tells of itself. */
function collectProcess(prometheus: Pick<Prometheus, 'collectDefaultMetrics'>, registry: import('prom-client').Registry): void {
  prometheus.collectDefaultMetrics({ register: registry });
  for (const metric of registry.getMetricsAsArray()) if (worst.test(metric.name)) Object.assign(metric, { aggregator: 'max' });
}

function latenciesOf(values: HistogramValues): readonly SurfaceLatency[] {
  const buckets = new Map<string, Bucket[]>();
  for (const { labels, value, metricName } of values) {
    if (metricName?.endsWith('_bucket') !== true) continue;
    const surface = String(labels['surface']);
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
}

interface RouteLabels {
  readonly route: string;
  readonly method: string;
  readonly status: string;
}

/** The labels of a request's route. Routes and methods are ours; that series stay few rests on a count nevertheless. */
function createRouteLabels(): (answered: AnsweredRequest) => RouteLabels {
  const known = new Map<string, RouteLabels>();
  return ({ route = 'none', method, status }) => {
    const labels = { route, method, status: `${Math.floor(status / 100)}xx` };
    const key = `${method} ${labels.status} ${route}`;
    const found = known.get(key);
    if (found !== undefined) return found;
    if (known.size >= routeSeriesMax) return { route: 'other', method: 'other', status: labels.status };
    known.set(key, labels);
    return labels;
  };
}

type Gauge = import('prom-client').Gauge;

/** Values read when metrics are; of several workers the worst is told, but of connections the sum. */
function registerGauges(prometheus: Pick<Prometheus, 'Gauge'>, registry: import('prom-client').Registry, gauges: Gauges): void {
  const gauge = (name: string, help: string, aggregator: 'max' | 'min', read: () => number | Promise<number>): void => {
    const registered: Gauge = new prometheus.Gauge({
      name,
      help,
      aggregator,
      registers: [registry],
      collect: async (): Promise<void> => registered.set(await read()),
    });
  };
  const connections = new prometheus.Gauge({
    name: 'gatehouse_database_connections',
    help: 'Connections to PostgreSQL: open, idle among them, and accesses that wait for one',
    labelNames: ['state'],
    aggregator: 'sum',
    registers: [registry],
    collect: () => {
      for (const [state, count] of Object.entries(gauges.connections())) connections.set({ state }, count);
    },
  });
  // A day is told for what is not known at all: infinity does not travel between workers.
  const ageSeconds = async (): Promise<number> => Math.min((await gauges.configurationAgeMs()) / 1000, 86_400);
  gauge('gatehouse_configuration_age_seconds', 'Age of the configuration in memory', 'max', ageSeconds);
  gauge('gatehouse_database_read_only', '1 while the database refuses to be written to', 'max', () => Number(gauges.isReadOnly()));
  gauge('gatehouse_ready', '1 while requests can be answered', 'min', async () =>
    Number((await ageSeconds()) <= 5 && !gauges.isReadOnly()),
  );
  // Both figures of a scrape come from one reading, which they wait for.
  let reading: ReturnType<Gauges['deliveries']> | undefined;
  const readDeliveries = (): ReturnType<Gauges['deliveries']> => {
    reading ??= gauges
      .deliveries()
      .catch(() => [])
      .finally(() => {
        reading = undefined;
      });
    return reading;
  };
  const overdue = new prometheus.Gauge({
    name: 'gatehouse_deliveries_overdue',
    help: 'Deliveries that are due and in no hand',
    labelNames: ['kind'],
    aggregator: 'max',
    registers: [registry],
    collect: async () => {
      for (const { kind, count } of await readDeliveries()) overdue.set({ kind }, count);
    },
  });
  gauge('gatehouse_oldest_delivery_seconds', 'How long the oldest delivery is overdue', 'max', async () => {
    return Math.max(0, ...(await readDeliveries()).map(({ oldestMs }) => oldestMs)) / 1000;
  });
}
