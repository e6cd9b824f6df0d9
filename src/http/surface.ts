// A surface is one family of endpoints with one error envelope: an encapsulated Fastify plugin whose error handler renders
// contract rows and nothing else. It resolves the tenant, reads bodies within limits and maps framework errors to rows.
import { isUtf8 } from 'node:buffer';
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest, HTTPMethods } from 'fastify';
import { type ContractError, reject } from '../contract/contract-error.ts';
import { overloadRetrySeconds } from '../contract/limits.ts';
import type { Tenant } from '../domain/tenant/tenant.ts';
import { publishedAgeMsMax } from '../storage/engine/config/config-pulse.ts';
import { findOverload, type Shedding } from './load-shedding.ts';
import { pageOnLocalhost } from './loopback.ts';
import { isEncoded } from './request-sanity.ts';
import { findTenant, peekTenant } from './request-tenant.ts';
import { routeOf } from './route-of.ts';
import type { Parts } from './services.ts';
import { parseStrictJson } from './strict-json.ts';
import { strictTransport } from './strict-transport.ts';
import {
  answerError,
  type ErrorAnswers,
  type ErrorDeps,
  malformedError,
  methodNotAllowed,
  sharedError,
  tenantClosed,
  unknownPath,
} from './surface-errors.ts';
import { tenantNameOf } from './tenant-name.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The tenant of the request; set before any handler of a tenant surface runs. */
    tenant: Tenant;
    /** Address of the client by the trusted-proxy rule. */
    readonly clientAddress: string;
    /** Who acts, once known, for the audit trail: `client:<id>`, `user:<id>`. */
    auditActor: string | undefined;
  }
}

export interface SurfaceDefinition extends ErrorAnswers {
  readonly name: string;
  /** Path below the tenant's base_url, e.g. `/v1/idp/oidc`. */
  readonly prefix: string;
  /** Content types whose bodies are read: forms arrive as raw text, JSON parsed, `raw` as bytes. Others are 415. */
  readonly bodies: Readonly<Record<string, 'form' | 'json' | 'raw'>>;
  readonly bodyBytesMax: number;
  /** True: a JSON body of no bytes is an object without members, as clients send it with every request that needs none. */
  readonly takesEmptyJson?: true;
  /** False for surfaces of the deployment itself (system API, health). */
  readonly ofTenant: boolean;
  /** True for pages: browsers that came by a loopback address are led to localhost, where their cookies are. */
  readonly isPages?: boolean;
  /** Routes that publish keys and discovery: answered from memory for ten minutes while the database is away. */
  readonly published?: readonly string[];
  /** What of it an overloaded server refuses; everything, but last, unless said. */
  readonly shedding?: Shedding;
  /** Looks at every request of a tenant surface before routing decides; throws to refuse. */
  readonly beforeRoute?: (request: FastifyRequest) => void;
  /** The error for a NUL in the query where the surface has its own; undefined keeps the shared one. */
  readonly nulInQuery?: (path: string) => Error | undefined;
  /** Runs for requests that have an endpoint, before their body is read; throws to refuse. */
  readonly beforeBody?: (request: FastifyRequest) => Promise<void>;
}

export type Handler = (request: FastifyRequest, reply: FastifyReply) => unknown;
export type Handlers = Readonly<Partial<Record<HTTPMethods, Handler>>>;
export type Route = (path: string, handlers: Handlers) => void;

/** The methods a path may answer; others are refused by the HTTP server. */
export const everyMethod: readonly HTTPMethods[] = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];

type SheddingDeps = Parts<'cache' | 'database' | 'metrics'>;
export type SurfaceDeps = ErrorDeps & SheddingDeps & Parts<'admitLookUp' | 'config' | 'publicUrl' | 'tenants'>;

/** Registers a surface; `define` adds its routes. Methods a route does not name are answered 405 with Allow. */
export function registerSurface(
  app: FastifyInstance,
  services: SurfaceDeps,
  definition: SurfaceDefinition,
  define: (route: Route) => void,
): void {
  app.surfacePrefixes.push(definition);
  app.surfacePrefixes.sort((left, right) => right.prefix.length - left.prefix.length);
  app.register(
    async (scope) => {
      readBodies(scope, definition);
      scope.addHook('onRequest', sheddingHook(scope, services, definition));
      scope.addHook('onRequest', sanityHook(definition));
      const { metrics } = services;
      if (metrics !== undefined)
        scope.addHook('onResponse', async (request, reply) =>
          metrics.countRequest({
            surface: definition.name,
            route: routeOf(request),
            method: request.method,
            status: reply.statusCode,
            seconds: reply.elapsedTime / 1000,
          }),
        );
      if (definition.isPages === true) scope.addHook('onRequest', localhostHook(services));
      if (definition.ofTenant) scope.addHook('onRequest', tenantHook(services, definition));
      if (definition.beforeRoute) scope.addHook('onRequest', async (request) => definition.beforeRoute?.(request));
      scope.setErrorHandler((error: FastifyError, request, reply) => answerError(services, definition, error, request, reply));
      define((path, handlers) => addRoute(scope, definition, path, handlers));
      refuseUnknownPaths(scope, definition);
    },
    { prefix: definition.prefix },
  );
}

function addRoute(scope: FastifyInstance, definition: SurfaceDefinition, path: string, handlers: Handlers): void {
  const own = Object.keys(handlers) as HTTPMethods[]; // the keys of a Partial<Record<HTTPMethods, …>>
  const allowed: readonly HTTPMethods[] = own.includes('GET') ? [...own, 'HEAD'] : own;
  const onRequest = definition.beforeBody === undefined ? {} : { onRequest: definition.beforeBody };
  for (const method of own) scope.route({ method, url: path, ...onRequest, handler: handlers[method]!, exposeHeadRoute: true });
  const refused = everyMethod.filter((method) => !allowed.includes(method));
  if (refused.length === 0) return;
  const refuse = async (): Promise<never> => {
    throw methodNotAllowed(definition.envelope, own);
  };
  scope.route({ method: refused, url: path, onRequest: refuse, handler: refuse });
}

/**
 * Refuses at and below the prefix what has no route there, after the surface's hooks and before a body is read. These are routes: a
 * not-found handler of Fastify's has a router of its own with every method HTTP ever had, a quarter of what a server needs to start.
 */
function refuseUnknownPaths(scope: FastifyInstance, { prefix, envelope }: SurfaceDefinition): void {
  const refuse = async (): Promise<never> => {
    throw unknownPath(envelope);
  };
  // The prefix itself is a path of the surface around it, where there is one.
  const isWithin = scope.surfacePrefixes.some((other) => prefix.startsWith(`${other.prefix}/`));
  for (const url of isWithin ? ['/*'] : ['', '/*']) {
    const method = everyMethod.filter((free) => !scope.hasRoute({ method: free, url: `${prefix}${url}` }));
    if (method.length > 0) scope.route({ method, url, config: { isUnknownPath: true }, onRequest: refuse, handler: refuse });
  }
}

function readBodies(scope: FastifyInstance, definition: SurfaceDefinition): void {
  scope.removeAllContentTypeParsers();
  for (const [type, kind] of Object.entries(definition.bodies)) {
    if (kind === 'json') {
      scope.addContentTypeParser(type, { parseAs: 'buffer', bodyLimit: definition.bodyBytesMax }, (_request, body, done) => {
        const bytes = body as Buffer; // parseAs: 'buffer'
        if (bytes.length === 0 && definition.takesEmptyJson === true) return done(null, {});
        const parsed = parseStrictJson(bytes);
        if (parsed.ok) done(null, parsed.value);
        else done(malformedError(definition, parsed.reason));
      });
    } else {
      scope.addContentTypeParser(type, { parseAs: 'buffer', bodyLimit: definition.bodyBytesMax }, (_request, body, done) => {
        const bytes = body as Buffer; // parseAs: 'buffer'
        if (kind === 'raw') done(null, bytes);
        else if (isUtf8(bytes)) done(null, bytes.toString());
        else done(malformedError(definition, 'not_utf8')); // RFC 6749 appendix B; decoded, it would say something else
      });
    }
  }
}

type Hook = (request: FastifyRequest, reply: FastifyReply, done: (error?: Error) => void) => void;

function sanityHook(definition: SurfaceDefinition): Hook {
  const { envelope, nulInQuery } = definition;
  return (request, _reply, done) => {
    // No value of ours holds a NUL, and PostgreSQL cannot be asked about one.
    if (request.raw.url?.includes('%00') === true) {
      const error = nulInQuery?.(request.url.slice(0, request.url.indexOf('?')));
      done(error ?? malformedError(definition, 'nul_in_target'));
    } else if (isEncoded(request.raw)) done(sharedError(envelope, 'unsupported_media_type', 'content_encoding'));
    else done();
  };
}

function localhostHook(services: Parts<'publicUrl'>): Hook {
  return (request, reply, done) => {
    const location = pageOnLocalhost(request, services.publicUrl);
    if (location === undefined) done();
    else reply.code(302).headers({ location, 'cache-control': 'no-store' }).send();
  };
}

/**
 * Refuses what an overloaded server does not begin. The tenant hears of it where memory knows which it is, and memory may be old: the
 * pulse is late with everything else, and a record permits nothing.
 */
function sheddingHook(scope: FastifyInstance, services: SurfaceDeps, definition: SurfaceDefinition): Hook {
  const { cache, database, metrics } = services;
  const { shedding = 'last', envelope } = definition;
  return (request, _reply, done) => {
    const route = routeOf(request);
    // A database that does not answer at all is no overload: what memory may answer then is answered (config-pulse.ts). Asking keeps the
    // pulse going while everything is refused.
    const waitedMs = database.waitingMs();
    const connectionWaitMs = waitedMs > 0 && cache.isFresh() ? waitedMs : 0;
    const load = { lagMs: scope.loopLagMs(), connectionWaitMs };
    const overload = findOverload(load, shedding, isPublished(definition, route));
    if (overload === undefined) return done();
    const tenant = definition.ofTenant ? peekTenant(services, tenantNameOf(request.raw, services), publishedAgeMsMax)?.tenant : undefined;
    if (tenant !== undefined) request.tenant = tenant;
    metrics?.countShed(overload);
    done(reject(`${envelope}.unavailable`, overload, { retryAfterSeconds: overloadRetrySeconds }));
  };
}

const isPublished = ({ prefix, published = [] }: SurfaceDefinition, route: string | undefined): boolean =>
  published.some((path) => `${prefix}${path}` === route);

/** How old the configuration may be that a route answers from while the database is away; undefined: as any other. */
function ageMsMaxOf(definition: SurfaceDefinition, route: string | undefined): number | undefined {
  return isPublished(definition, route) ? publishedAgeMsMax : undefined;
}

function tenantHook(services: SurfaceDeps, definition: SurfaceDefinition): Hook {
  const { envelope } = definition;
  const unknown = (): ContractError => sharedError(envelope, 'not_found', 'unknown_tenant');
  const settle = (request: FastifyRequest, reply: FastifyReply, tenant: Tenant | undefined, done: (error?: Error) => void): void => {
    if (tenant === undefined || !tenant.enabled) {
      done(unknown());
      return;
    }
    if (tenant.isMoving) {
      done(tenantClosed(envelope));
      return;
    }
    request.tenant = tenant;
    // RFC 6797: a tenant reached by https is reached by nothing else for a year.
    if (tenant.baseUrl.startsWith('https:')) reply.headers(strictTransport);
    done();
  };
  return (request, reply, done) => {
    const name = tenantNameOf(request.raw, services);
    const known = peekTenant(services, name);
    if (known !== undefined) return settle(request, reply, known.tenant, done);
    const admit = (): (() => void) => services.admitLookUp(request.clientAddress, envelope);
    findTenant(services, name, { ageMsMax: ageMsMaxOf(definition, routeOf(request)), admit }).then(
      (tenant) => settle(request, reply, tenant, done),
      done,
    );
  };
}
