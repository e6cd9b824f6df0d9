// Which route a request has, as operators see it: in metrics, traces and the access log.
import type { FastifyRequest } from 'fastify';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The route that answers what no other route of a surface does. */
    readonly isUnknownPath?: true;
  }
}

/** The template of its path; undefined where there is none for it. */
export function routeOf({ routeOptions: { url, config } }: FastifyRequest): string | undefined {
  return config.isUnknownPath === true ? undefined : url;
}
