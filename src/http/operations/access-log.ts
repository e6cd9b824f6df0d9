// One line of JSON a request (GATEHOUSE_ACCESS_LOG=1), on standard error beside the logs and whatever their level: who asked for
// which route and what became of it. Never a path or a query, which may carry what is secret.
import type { FastifyInstance } from 'fastify';
import { accessLineBytesMax } from '../../contract/limits.ts';
import { routeOf } from '../route-of.ts';

export interface Access {
  readonly id: string;
  readonly trace?: string | undefined;
  readonly tenant?: string | undefined;
  readonly route: string;
  readonly method: string;
  readonly status: number;
  readonly ms: number;
  readonly bytes: number;
  readonly address: string;
}

/** To be called before surfaces register. */
export function logAccess(app: FastifyInstance, write: (line: string) => void, nowMs: () => number): void {
  app.addHook('onResponse', (request, reply, done) => {
    write(
      accessLine(nowMs(), {
        id: request.id,
        trace: request.span?.traceId,
        tenant: request.tenant?.slug, // null until it is known
        route: routeOf(request) ?? 'none',
        method: request.method,
        status: reply.statusCode,
        ms: Math.round(reply.elapsedTime * 10) / 10,
        bytes: Number(reply.getHeader('content-length') ?? 0),
        address: request.clientAddress,
      }),
    );
    done();
  });
}

/** The line with its end; the route gives way where it would be too long. */
export function accessLine(nowMs: number, access: Access): string {
  const line = (route: string): string =>
    `${JSON.stringify({ time: new Date(nowMs).toISOString(), message: 'access', ...access, route })}\n`;
  const whole = line(access.route);
  return Buffer.byteLength(whole) <= accessLineBytesMax ? whole : line('');
}
