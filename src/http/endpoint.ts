// What an endpoint may know of its request and do with its reply, whichever way the request came in: through Fastify, or
// on the fast path for plain requests (fast-path.ts). Fastify's own request and reply are of these shapes.
import type { IncomingHttpHeaders } from 'node:http';
import type { Tenant } from '../domain/tenant.ts';

export interface EndpointRequest {
  /** The request id, on every answer and every record. */
  readonly id: string;
  readonly method: string;
  /** The request target below the tenant's base_url, path and query. */
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  /** The body as the surface reads it: text of a form, a parsed JSON value, undefined without one. */
  readonly body: unknown;
  /** The tenant of the request; set before any handler of a tenant surface runs. */
  tenant: Tenant;
  /** Address of the client by the trusted-proxy rule. */
  readonly clientAddress: string;
  /** Who acts, once known, for the audit trail: `client:<id>`, `user:<id>`. */
  auditActor: string | undefined;
}

export interface EndpointReply {
  code(status: number): EndpointReply;
  header(name: string, value: string): EndpointReply;
  headers(values: Readonly<Record<string, string>>): EndpointReply;
  /** Answers; the status is 200 unless `code` said otherwise. */
  send(body?: string): EndpointReply;
}

/** A handler that needs no more than this. Gives the body, or the reply it sent. */
export type Endpoint = (request: EndpointRequest, reply: EndpointReply) => Promise<string | EndpointReply>;
