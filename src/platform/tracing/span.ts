// Spans of traces as the house sees them: whoever does something worth seeing in a trace says so with inSpan, which costs nothing
// unless the request in hand is traced. Which requests are, and where spans go, is platform/tracing/tracing.ts.
import { AsyncLocalStorage } from 'node:async_hooks';

export type Attributes = Readonly<Record<string, string | number>>;

export interface Span {
  readonly traceId: string;
  /** Value of the `traceparent` header that makes calls part of the trace (W3C Trace Context). */
  readonly traceparent: string;
  readonly set: (attributes: Attributes) => void;
  readonly child: (name: SpanName) => Span;
  readonly end: (outcome: 'ok' | 'failed') => void;
}

type SpanName = 'transaction' | 'signature' | 'outbound call' | 'delivery';

const current = new AsyncLocalStorage<Span>();

/** The span of what runs now; undefined when it is not traced. */
export const currentSpan = (): Span | undefined => current.getStore();

/** Runs `work` as part of the span. */
export const runInside = <T>(span: Span, work: () => T): T => current.run(span, work);

/** Runs `work` in a span below the current one, if there is one. */
export function inSpan<T>(name: SpanName, work: () => Promise<T>): Promise<T> {
  const parent = current.getStore();
  return parent === undefined ? work() : endingWith(parent.child(name), work);
}

/** Runs `work` in the span and ends it: as failed when it rejects. */
export async function endingWith<T>(span: Span, work: () => Promise<T>): Promise<T> {
  try {
    const result = await current.run(span, work);
    span.end('ok');
    return result;
  } catch (error) {
    span.end('failed');
    throw error;
  }
}
