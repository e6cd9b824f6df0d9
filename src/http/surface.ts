// A surface is one family of endpoints with one error envelope: an encapsulated Fastify plugin whose error handler renders
// contract rows and nothing else. It resolves the tenant, reads bodies within limits and maps framework errors to rows.
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest, HTTPMethods } from 'fastify';
import { ContractError, reject } from '../contract/contract-error.ts';
import { type Answer, render } from '../contract/envelopes.ts';
import type { Envelope } from '../contract/row.ts';
import type { SharedName } from '../contract/shared.ts';
import type { Tenant } from '../domain/tenant.ts';
import { rootTenantSlug } from '../domain/tenant.ts';
import { StorageUnavailable } from '../storage/database.ts';
import type { Page } from './pages/page.ts';
import { isEncoded } from './request-sanity.ts';
import type { Services } from './services.ts';
import { parseStrictJson } from './strict-json.ts';
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

export interface SurfaceDefinition {
  readonly name: string;
  readonly envelope: Envelope;
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
  /** The error for a body over the limit where the surface has its own; undefined keeps the shared one. */
  readonly bodyTooLarge?: (request: FastifyRequest) => Error | undefined;
  /** Gives another representation of an error answer (a page), or undefined for JSON. */
  readonly present?: (answer: Answer, request: FastifyRequest) => Page | undefined;
}

export type Handler = (request: FastifyRequest, reply: FastifyReply) => unknown;
export type Handlers = Readonly<Partial<Record<HTTPMethods, Handler>>>;
export type Route = (path: string, handlers: Handlers) => void;

/** The methods a path may answer; others are refused by the HTTP server. */
export const everyMethod: readonly HTTPMethods[] = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];

/** Registers a surface; `define` adds its routes. Methods a route does not name are answered 405 with Allow. */
export function registerSurface(
  app: FastifyInstance,
  services: Services,
  definition: SurfaceDefinition,
  define: (route: Route) => void,
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
      define((path, handlers) => addRoute(scope, definition, path, handlers));
    },
    { prefix: definition.prefix },
  );
}

/** The error of a row that exists in every envelope. */
export function sharedError(envelope: Envelope, name: SharedName, reason: string): ContractError {
  return reject(`${envelope}.${name}`, reason);
}

/** 405 with Allow (RFC 9110 15.5.6) for a path that has these methods; HEAD comes with GET. */
export function methodNotAllowed(envelope: Envelope, methods: readonly string[]): ContractError {
  const allow = methods.includes('GET') ? [...methods, 'HEAD'] : methods;
  return reject(`${envelope}.method_not_allowed`, 'method', { allow: allow.join(', ') });
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
    const known = name.kind === 'slug' ? services.tenants.peekSlug(name.slug) : undefined;
    if (known !== undefined) return settle(request, known.tenant, done);
    findTenant(services, name).then((tenant) => settle(request, tenant, done), done);
  };
}

async function findTenant(services: Services, name: ReturnType<typeof tenantNameOf>): Promise<Tenant | undefined> {
  if (name.kind === 'slug') return services.tenants.bySlug(name.slug);
  return (await services.tenants.byDomain(name.origin)) ?? (await services.tenants.bySlug(rootTenantSlug));
}

/** Turns anything thrown into the answer of a contract row; unknown errors become the envelope's 500 and are logged. */
export function toContractError(services: Services, envelope: Envelope, error: Error, request: FastifyRequest): ContractError {
  if (error instanceof ContractError) return error;
  if (error instanceof StorageUnavailable) {
    services.log.error({ err: error, request_id: request.id }, 'the database cannot answer');
    return reject(`${envelope}.unavailable`, 'storage_unavailable', { retryAfterSeconds: 2 });
  }
  const { code, statusCode } = error as FastifyError;
  const framework = code === undefined ? undefined : frameworkRows[code];
  if (framework !== undefined) return sharedError(envelope, framework, code);
  if (typeof code === 'string' && code.startsWith('FST_') && statusCode !== undefined && statusCode < 500)
    return sharedError(envelope, 'malformed', code);
  services.log.error({ err: error, request_id: request.id, url: request.url.split('?', 1)[0] }, 'request failed');
  return sharedError(envelope, 'server_error', 'fault');
}

const frameworkRows: Readonly<Record<string, SharedName>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: 'payload_too_large',
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'unsupported_media_type',
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: 'malformed',
  FST_ERR_CTP_EMPTY_JSON_BODY: 'malformed',
  FST_ERR_BAD_URL: 'malformed',
};

function answerError(
  services: Services,
  definition: SurfaceDefinition,
  error: Error,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  const own = (error as FastifyError).code === 'FST_ERR_CTP_BODY_TOO_LARGE' ? definition.bodyTooLarge?.(request) : undefined;
  const contractError = toContractError(services, definition.envelope, own ?? error, request);
  recordRefusal(services, request, contractError);
  const answer = render(contractError);
  const page = definition.present?.(answer, request);
  reply.code(answer.status).headers(answer.headers);
  return page === undefined ? reply.send(JSON.stringify(answer.body)) : reply.headers(page.headers).send(page.markup);
}

function recordRefusal(services: Services, request: FastifyRequest, error: ContractError): void {
  services.metrics?.countRefusal(error.row);
  if (request.tenant === null) return; // decorated as null until the tenant is known; refusals of no tenant go to the log
  services.activity.countRefusal(request.tenant.id, error.row);
  services.refusals.record({
    tenant: request.tenant.id,
    requestId: request.id,
    error,
    actor: request.auditActor,
    method: request.method,
    path: request.url.split('?', 1)[0]!,
    ip: request.clientAddress,
  });
}
