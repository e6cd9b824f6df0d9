// A collector of OpenTelemetry traces: takes OTLP over HTTP as JSON (OTLP specification 1, JSON encoding) and keeps the spans.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface CollectedSpan {
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string | undefined;
  readonly attributes: Readonly<Record<string, unknown>>;
}

export interface Collector {
  readonly url: string;
  readonly spans: readonly CollectedSpan[];
  readonly paths: ReadonlySet<string>;
  /** Resolves once a span is there of which `is` says so. */
  readonly waitFor: (is: (span: CollectedSpan) => boolean) => Promise<CollectedSpan>;
  readonly close: () => Promise<void>;
}

interface ExportRequest {
  readonly resourceSpans: readonly { readonly scopeSpans: readonly { readonly spans: readonly WireSpan[] }[] }[];
}
interface WireSpan {
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly attributes?: readonly { readonly key: string; readonly value: Readonly<Record<string, unknown>> }[];
}

export async function startCollector(): Promise<Collector> {
  const spans: CollectedSpan[] = [];
  const paths = new Set<string>();
  const waiting = new Set<() => void>();
  const server = createServer((request, response) => {
    request.toArray().then((chunks: Buffer[]) => {
      paths.add(`${request.method} ${request.url} ${request.headers['content-type']}`);
      const { resourceSpans } = JSON.parse(Buffer.concat(chunks).toString()) as ExportRequest; // as the specification has it
      spans.push(...resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope) => scope.spans.map(read))));
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
      for (const look of waiting) look();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    paths,
    waitFor: (is) =>
      new Promise((resolve) => {
        const look = (): void => {
          const found = spans.find(is);
          if (found === undefined) return;
          waiting.delete(look);
          resolve(found);
        };
        waiting.add(look);
        look();
      }),
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const read = ({ name, traceId, spanId, parentSpanId, attributes = [] }: WireSpan): CollectedSpan => ({
  name,
  traceId,
  spanId,
  parentSpanId: parentSpanId === '' ? undefined : parentSpanId,
  attributes: Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]])),
});
