// A surface is one family of endpoints with one error envelope: an encapsulated Fastify plugin whose error handler renders
// contract rows and nothing else. It resolves the tenant, reads bodies within limits and maps framework errors to rows.
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest, HTTPMethods } from 'fastify';
import { type ContractError, reject } from '../contract/contract-error.ts';
import type { Envelope } from '../contract/row.ts';
import type { Tenant } from '../domain/tenant.ts';
import type { Endpoint } from './endpoint.ts';
import { createPlainAnswerer } from './plain-endpoint.ts';
import { isEncoded } from './request-sanity.ts';
import { findTenant, peekTenant } from './request-tenant.ts';
import type { Services } from './services.ts';
import { parseStrictJson } from './strict-json.ts';
import { answerError, type ErrorAnswers, methodNotAllowed, sharedError } from './surface-errors.ts';
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

export interface SurfaceDefinition extends ErrorAnswers<FastifyRequest> {
  readonly name: string;
  /** Path below the tenant's base_url, e.g. `/v1/idp/oidc`. */
  readonly prefix: string;
  /** Content types whose bodies are read: forms arrive as raw text, JSON parsed, `raw` as bytes. Others are 415. */
  readonly bodies: Readonly<Record<string, 'form' | 'json' | 'raw'>>;
  readonly bodyBytesMax: number;
  /** False for surfaces of the deployment itself (system API, health). */
  readonly ofTenant: boolean;
  /** Looks at every request of a tenant surface before routing decides; throws to refuse. */
  readonly beforeRoute?: (request: FastifyRequest) => void;
  /** Runs for requests that have an endpoint, before their body is read; throws to refuse. */
  readonly beforeBody?: (request: FastifyRequest) => Promise<void>;
}

export type Handler = (request: FastifyRequest, reply: FastifyReply) => unknown;
export type Handlers = Readonly<Partial<Record<HTTPMethods, Handler>>>;
export type Route = (path: string, handlers: Handlers) => void;
/** Lets an endpoint that programs call take part in the fast path; gives it back as the handler of its route. */
export type Plain = (method: 'GET' | 'POST', path: string, endpoint: Endpoint) => Handler;

/** The methods a path may answer; others are refused by the HTTP server. */
export const everyMethod: readonly HTTPMethods[] = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];

/** Registers a surface; `define` adds its routes. Methods a route does not name are answered 405 with Allow. */
export function registerSurface(
  app: FastifyInstance,
  services: Services,
  definition: SurfaceDefinition,
  define: (route: Route, plain: Plain) => void,
): void {
  app.surfacePrefixes.push({ prefix: definition.prefix, envelope: definition.envelope });
  app.register(
    async (scope) => {
      readBodies(scope, definition);
      scope.addHook('onRequest', sanityHook(definition.envelope));
      const { metrics } = services;
      if (metrics !== undefined)
        scope.addHook('onResponse', async (_request, reply) =>
          metrics.countRequest(definition.name, reply.statusCode, reply.elapsedTime / 1000),
        );
      if (definition.ofTenant) scope.addHook('onRequest', tenantHook(services, definition.envelope));
      if (definition.beforeRoute) scope.addHook('onRequest', async (request) => definition.beforeRoute?.(request));
      scope.setErrorHandler((error: FastifyError, request, reply) => answerError(services, definition, error, request, reply));
      scope.setNotFoundHandler((request, reply) =>
        answerError(services, definition, sharedError(definition.envelope, 'not_found', 'no_such_path'), request, reply),
      );
      define(
        (path, handlers) => addRoute(scope, definition, path, handlers),
        (method, path, endpoint) => {
          const { name, envelope } = definition;
          app.plainEndpoints.set(
            `${method} ${definition.prefix}${path}`,
            createPlainAnswerer(app.addressOf, services, { name, envelope }, endpoint),
          );
          return endpoint;
        },
      );
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

function readBodies(scope: FastifyInstance, definition: SurfaceDefinition): void {
  scope.removeAllContentTypeParsers();
  for (const [type, kind] of Object.entries(definition.bodies)) {
    if (kind === 'json') {
      scope.addContentTypeParser(type, { parseAs: 'buffer', bodyLimit: definition.bodyBytesMax }, (_request, body, done) => {
        const parsed = parseStrictJson(body as Buffer); // parseAs: 'buffer'
        if (parsed.ok) done(null, parsed.value);
        else done(reject(`${definition.envelope}.malformed`, parsed.reason));
      });
    } else {
      const parseAs = kind === 'form' ? 'string' : 'buffer';
      scope.addContentTypeParser(type, { parseAs, bodyLimit: definition.bodyBytesMax }, (_request, body, done) => done(null, body));
    }
  }
}

type Hook = (request: FastifyRequest, reply: FastifyReply, done: (error?: Error) => void) => void;

function sanityHook(envelope: Envelope): Hook {
  return (request, _reply, done) => {
    // No value of ours holds a NUL, and PostgreSQL cannot be asked about one.
    if (request.raw.url?.includes('%00') === true) done(sharedError(envelope, 'malformed', 'nul_in_target'));
    else if (isEncoded(request.raw)) done(sharedError(envelope, 'unsupported_media_type', 'content_encoding'));
    else done();
  };
}

function tenantHook(services: Services, envelope: Envelope): Hook {
  const unknown = (): ContractError => sharedError(envelope, 'not_found', 'unknown_tenant');
  const settle = (request: FastifyRequest, tenant: Tenant | undefined, done: (error?: Error) => void): void => {
    if (tenant === undefined || !tenant.enabled) {
      done(unknown());
      return;
    }
    request.tenant = tenant;
    done();
  };
  return (request, _reply, done) => {
    const name = tenantNameOf(request.raw, services.publicUrl);
    const known = peekTenant(services, name);
    if (known !== undefined) return settle(request, known.tenant, done);
    findTenant(services, name).then((tenant) => settle(request, tenant, done), done);
  };
}
