// One span a traced request, named by method and route template, with tenant, contract row and request id; never a path, a query or
// an address. A trace that was begun elsewhere goes on only where the caller is a proxy we trust.
import type { FastifyInstance } from 'fastify';
import { runInside, type Span } from '../../platform/tracing/span.ts';
import type { Tracing } from '../../platform/tracing/tracing.ts';
import type { IsTrustedPeer } from '../client-address.ts';
import { routeOf } from '../route-of.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Undefined when the request is not traced. */
    span: Span | undefined;
    /** Contract row of the refusal that answered it. */
    refusedRow: string | undefined;
  }
}

/** To be called before surfaces register. */
export function traceRequests(app: FastifyInstance, tracing: Tracing, isTrustedPeer: IsTrustedPeer): void {
  app.addHook('onRequest', (request, _reply, done) => {
    const { traceparent } = request.headers;
    const isTheirs = typeof traceparent === 'string' && isTrustedPeer(request.raw);
    const route = routeOf(request) ?? 'none';
    const span = tracing.begin(
      `${request.method} ${route}`,
      { 'http.request.method': request.method, 'http.route': route, 'gatehouse.request_id': request.id },
      isTheirs ? traceparent : undefined,
    );
    request.span = span;
    if (span === undefined) done();
    else runInside(span, done);
  });
  // A body arrives in events of the connection, which know nothing of the request's span.
  app.addHook('preHandler', (request, _reply, done) => (request.span === undefined ? done() : runInside(request.span, done)));
  app.addHook('onResponse', (request, reply, done) => {
    const { span, refusedRow } = request;
    if (span !== undefined) {
      const tenant = request.tenant?.slug; // null until it is known
      span.set({
        'http.response.status_code': reply.statusCode,
        ...(tenant === undefined ? {} : { 'gatehouse.tenant': tenant }),
        ...(refusedRow === undefined ? {} : { 'gatehouse.contract_row': refusedRow }),
      });
      span.end(reply.statusCode >= 500 ? 'failed' : 'ok');
    }
    done();
  });
}
