// OpenTelemetry traces to a collector (OTLP over HTTP). The SDK and its exporter are loaded only where GATEHOUSE_OTLP_URL names one.
// One trace in a hundred is taken, or those a trusted proxy has taken; spans wait in a bounded queue and are dropped when it is full.
import type { Context, Span as OtelSpan, Tracer } from '@opentelemetry/api';
import { spanQueueMax } from '../../contract/limits.ts';
import type { Attributes, Span } from './span.ts';

export interface Tracing {
  /** Begins a trace, or goes on with the one of `traceparent`; undefined when it is not sampled. */
  readonly begin: (name: string, attributes: Attributes, traceparent?: string) => Span | undefined;
  /** Sends what waits. */
  readonly close: () => Promise<void>;
}

const sampledShare = 0.01;
const exportEveryMs = 2000;
const exportTimeoutMs = 5000;
const spansPerExport = 512;

/** @param url of the collector; without a path `/v1/traces` of it */
export async function createTracing(url: string): Promise<Tracing> {
  const [api, { BatchSpanProcessor, ParentBasedSampler, TraceIdRatioBasedSampler, TracerProvider }, { OTLPTraceExporter }, resources] =
    await Promise.all([
      import('@opentelemetry/api'),
      import('@opentelemetry/sdk-trace'),
      import('@opentelemetry/exporter-trace-otlp-http'),
      import('@opentelemetry/resources'),
    ]);
  const exporter = new OTLPTraceExporter({ url: endpointOf(url), timeoutMillis: exportTimeoutMs });
  const provider = new TracerProvider({
    resource: resources.resourceFromAttributes({ 'service.name': 'gatehouse' }),
    sampler: new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(sampledShare) }),
    spanProcessors: [
      new BatchSpanProcessor({
        exporter,
        maxQueueSize: spanQueueMax,
        maxExportBatchSize: spansPerExport,
        scheduledDelayMillis: exportEveryMs,
        exportTimeoutMillis: exportTimeoutMs,
      }),
    ],
  });
  const tracer = provider.getTracer('gatehouse');
  return {
    begin: (name, attributes, traceparent) => {
      const context = contextOf(api, traceparent);
      const span = tracer.startSpan(name, { kind: api.SpanKind.SERVER, attributes }, context);
      return span.isRecording() ? wrap({ api, tracer }, span, context) : undefined;
    },
    close: () => provider.shutdown().catch(() => undefined), // a collector that is away keeps nobody from stopping
  };
}

function endpointOf(url: string): string {
  const parsed = new URL(url);
  return parsed.pathname === '/' ? new URL('/v1/traces', parsed).href : url;
}

type Api = typeof import('@opentelemetry/api');

/** W3C Trace Context 1, version 00. What cannot be read begins a trace of its own. */
function contextOf({ trace, ROOT_CONTEXT, isSpanContextValid }: Api, traceparent: string | undefined): Context {
  const [, traceId, spanId, flags] = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/.exec(traceparent ?? '') ?? [];
  if (traceId === undefined || spanId === undefined || flags === undefined) return ROOT_CONTEXT;
  const parent = { traceId, spanId, traceFlags: Number.parseInt(flags, 16) & 1, isRemote: true };
  return isSpanContextValid(parent) ? trace.setSpanContext(ROOT_CONTEXT, parent) : ROOT_CONTEXT;
}

function wrap(tools: { readonly api: Api; readonly tracer: Tracer }, span: OtelSpan, context: Context): Span {
  const { api, tracer } = tools;
  const { traceId, spanId } = span.spanContext();
  const own = api.trace.setSpan(context, span);
  return {
    traceId,
    traceparent: `00-${traceId}-${spanId}-01`,
    set: (attributes) => void span.setAttributes(attributes),
    child: (name) => wrap(tools, tracer.startSpan(name, { kind: api.SpanKind.INTERNAL }, own), own),
    end: (outcome) => {
      if (outcome === 'failed') span.setStatus({ code: api.SpanStatusCode.ERROR });
      span.end();
    },
  };
}
