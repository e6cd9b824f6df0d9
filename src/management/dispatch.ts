// Takes a request through the steps every endpoint of the management and system APIs shares: find the endpoint, authenticate,
// rate limit, capability, validation, handler, answer. The endpoints are loaded at the first request.
import type { FastifyReply, FastifyRequest } from 'fastify';
import { reject } from '../contract/contract-error.ts';
import { capabilities } from '../domain/capabilities.ts';
import { rootTenantSlug } from '../domain/tenant.ts';
import { matchPath } from '../http/path-pattern.ts';
import type { Services } from '../http/services.ts';
import { isForeignKeyViolation } from '../storage/foreign-key-violation.ts';
import { type Call, type Endpoint, type Json, notFound, requireCapabilities, settleAnswer } from './endpoint.ts';
import { checkBody, readQuery } from './validation.ts';

/** Who calls, once known: throws the surface's 401. */
export interface Caller {
  readonly actor: string;
  readonly scopes: readonly string[];
  /** True for a person who was found to be an administrator just now, false for clients. */
  readonly isAdministrator: boolean;
  /** Key of the caller's rate limit. */
  readonly key: string;
}

export interface Api {
  readonly prefix: string;
  readonly load: () => Promise<readonly Endpoint[]>;
  readonly authenticate: (request: FastifyRequest) => Promise<Caller>;
  readonly limit: (request: FastifyRequest, caller: Caller) => Promise<void>;
}

interface Match {
  readonly endpoint: Endpoint;
  readonly params: Readonly<Record<string, string>>;
}

/** The one handler of an API's paths and methods. */
export function createDispatch(services: Services, api: Api): (request: FastifyRequest, reply: FastifyReply) => Promise<unknown> {
  let endpoints: readonly Endpoint[] | undefined;
  return async (request, reply) => {
    endpoints ??= await api.load();
    const { endpoint, params } = find(endpoints, request.method, pathBelow(request, api.prefix));
    const isOfDeployment = endpoint.operatorOnly === true;
    if (isOfDeployment && request.tenant.slug !== rootTenantSlug) throw reject('management.not_found', 'no_such_path');
    const known = await api.authenticate(request);
    const caller = isOfDeployment ? operatorOf(known) : known;
    request.auditActor = caller.actor;
    await api.limit(request, caller);
    const { capability } = endpoint;
    if (capability !== undefined) requireCapabilities([capability], caller.scopes);
    const call = await readCall(services, request, endpoint, params, caller);
    const answer = await handle(endpoint, call);
    const { status, body } = settleAnswer(endpoint, answer);
    reply.header('cache-control', 'no-store').code(status);
    return status === 204 ? reply.send() : reply.type('application/json; charset=utf-8').send(JSON.stringify(body));
  };
}

/** The caller as an operator of the deployment. Its acts are recorded in the tenants they touch, where its user id means nobody. */
function operatorOf(caller: Caller): Caller {
  if (!caller.isAdministrator)
    throw reject(
      'management.forbidden',
      { reason: 'not_an_operator', expected: 'an administrator of the root tenant', received: caller.actor },
      { text: 'Only administrators of the root tenant, signed in as people, manage tenants.' },
    );
  // A token that was narrowed to less than all of a tenant must not reach all tenants.
  requireCapabilities(capabilities, caller.scopes);
  return { ...caller, actor: `operator:${caller.actor}` };
}

async function handle(endpoint: Endpoint, call: Call<unknown, unknown>): Promise<unknown> {
  try {
    return await endpoint.handle(call as Call<never, never>); // query and body were checked by the endpoint's own schemas
  } catch (error) {
    throw isForeignKeyViolation(error) ? notFound('deleted_meanwhile') : error;
  }
}

async function readCall(
  services: Services,
  request: FastifyRequest,
  endpoint: Endpoint,
  params: Readonly<Record<string, string>>,
  caller: Caller,
): Promise<Call<unknown, unknown>> {
  const query = await readQuery(endpoint.query, request.query as Json); // Fastify's parsed query string
  if (query instanceof Error) throw query;
  const { body } = request;
  if (Buffer.isBuffer(body) && endpoint.takesBytes !== true) throw reject('management.unsupported_media_type', 'bytes');
  if (endpoint.body !== undefined && endpoint.takesBytes !== true) {
    const fault = await checkBody(endpoint.body, body);
    if (fault !== undefined) throw fault;
  }
  const { actor, scopes } = caller;
  return { services, tenant: request.tenant, actor, scopes, requestId: request.id, params, query: query.value, body };
}

function pathBelow(request: FastifyRequest, prefix: string): string {
  const target = request.raw.url ?? '/';
  const path = target.split('?', 1)[0]!;
  const start = path.indexOf(prefix);
  return path.slice(start + prefix.length);
}

function find(endpoints: readonly Endpoint[], method: string, path: string): Match {
  const parts = path.split('/').slice(1);
  const wanted = method === 'HEAD' ? 'GET' : method;
  const allowed: string[] = [];
  for (const endpoint of endpoints) {
    const params = matchPath(endpoint.path, parts);
    if (params === undefined) continue;
    if (endpoint.method === wanted) return { endpoint, params };
    allowed.push(endpoint.method);
  }
  if (allowed.length === 0) throw reject('management.not_found', 'no_such_path');
  const allow = [...new Set(allowed.flatMap((name) => (name === 'GET' ? ['GET', 'HEAD'] : [name])))].join(', ');
  throw reject('management.method_not_allowed', 'method', { allow });
}
