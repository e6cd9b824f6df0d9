// Takes a request through the steps every endpoint of the management and system APIs shares: find the endpoint, authenticate,
// rate limit, capability, validation, handler, answer. The endpoints are loaded at the first request.
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type ContractError, reject } from '../contract/contract-error.ts';
import { rootTenantSlug } from '../domain/tenant/tenant.ts';
import { createLateRoutes, type LateRoutes } from '../http/late-routes.ts';
import { inTurn } from '../http/long-work.ts';
import { prefersLines } from '../platform/accept.ts';
import { paceOfLongWork } from '../platform/turns/long-work.ts';
import { type Call, type Endpoint, type Json, type ManagementDeps, requireCapabilities, settleAnswer } from './endpoint.ts';
import { requireOver } from './over-people.ts';
import { refusedWrite } from './refused-write.ts';
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

/** The one handler of an API's paths and methods. */
export function createDispatch(services: ManagementDeps, api: Api): (request: FastifyRequest, reply: FastifyReply) => Promise<unknown> {
  let routes: LateRoutes<Endpoint> | undefined;
  let endpoints: readonly Endpoint[] = [];
  return async (request, reply) => {
    if (routes === undefined) {
      endpoints = await api.load();
      routes = createLateRoutes(endpoints.map((endpoint) => [endpoint.method, endpoint.path, endpoint]));
    }
    const path = pathBelow(request, api.prefix);
    const found = routes.find(request.method === 'HEAD' ? 'GET' : request.method, path);
    if (found === undefined) throw refusalOf(endpoints, routes, path);
    const { target: endpoint, params } = found;
    const isOfDeployment = endpoint.operatorOnly === true;
    if (isOfDeployment && request.tenant.slug !== rootTenantSlug) throw reject('management.not_found', 'no_such_path');
    const identify = async (): Promise<Caller> => {
      const known = await api.authenticate(request);
      return isOfDeployment ? operatorOf(known) : known;
    };
    const caller = await identify();
    request.auditActor = caller.actor;
    await api.limit(request, caller);
    requireEntry(endpoint, caller.scopes);
    const call = await readCall(services, request, endpoint, params, caller);
    await requireOver(endpoint, call);
    const answer = await handle(endpoint, call, identify);
    const { status, body } = settleAnswer(endpoint, answer);
    reply.header('cache-control', 'no-store').code(status);
    if (endpoint.inLines !== undefined && prefersLines(request.headers.accept)) {
      const { lines, link } = endpoint.inLines(body);
      reply.header('link', link).type('application/x-ndjson; charset=utf-8');
      return reply.send(lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
    }
    return status === 204 || endpoint.answer === undefined
      ? reply.send()
      : reply.type('application/json; charset=utf-8').send(JSON.stringify(body));
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
  return { ...caller, actor: `operator:${caller.actor}` };
}

/** @throws management.forbidden */
function requireEntry({ capability, orCapability }: Endpoint, scopes: readonly string[]): void {
  if (capability === undefined || (orCapability !== undefined && scopes.includes(orCapability))) return;
  requireCapabilities([capability], scopes);
}

async function handle(endpoint: Endpoint, call: Call<unknown, unknown>, identify: () => Promise<Caller>): Promise<unknown> {
  try {
    if (endpoint.isLong !== true) return await endpoint.handle(call as Call<never, never>); // query and body were checked by the endpoint's own schemas
    const { services, tenant, isGone } = call;
    const waiting = { envelope: 'management', tenant: tenant.id, isGone } as const;
    return await inTurn(services, waiting, async (pace) => {
      const { scopes } = await identify(); // who waited for a turn may have lost what let them in
      requireEntry(endpoint, scopes);
      return endpoint.handle({ ...call, scopes, pace } as Call<never, never>);
    });
  } catch (error) {
    throw refusedWrite(error);
  }
}

async function readCall(
  services: ManagementDeps,
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
  const isGone = (): boolean => request.raw.socket.destroyed || request.server.draining.isOn();
  return {
    services,
    tenant: request.tenant,
    actor,
    scopes,
    requestId: request.id,
    params,
    query: query.value,
    body,
    isGone,
    pace: paceOfLongWork(),
  };
}

function pathBelow(request: FastifyRequest, prefix: string): string {
  const target = request.raw.url ?? '/';
  const path = target.split('?', 1)[0]!;
  const start = path.indexOf(prefix);
  return path.slice(start + prefix.length);
}

/** Unknown path, or the methods it has, in the order of the list. */
function refusalOf(endpoints: readonly Endpoint[], routes: LateRoutes<Endpoint>, path: string): ContractError {
  const here = endpoints.filter((endpoint) => routes.find(endpoint.method, path)?.target === endpoint);
  if (here.length === 0) return reject('management.not_found', 'no_such_path');
  const allow = [...new Set(here.flatMap(({ method }) => (method === 'GET' ? ['GET', 'HEAD'] : [method])))].join(', ');
  return reject('management.method_not_allowed', 'method', { allow });
}
