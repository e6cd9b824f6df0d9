// One endpoint on the fast path: finds the tenant, runs the handler and words what it throws, as its surface does.
import type { IncomingHttpHeaders } from 'node:http';
import type { Socket } from 'node:net';
import type { Tenant } from '../domain/tenant.ts';
import { randomId } from '../platform/random.ts';
import type { AddressOf } from './client-address.ts';
import type { Endpoint, EndpointRequest } from './endpoint.ts';
import type { PlainAnswerer, PlainCall } from './fast-path.ts';
import { PlainReply } from './plain-reply.ts';
import { peekTenant } from './request-tenant.ts';
import type { Services } from './services.ts';
import type { SurfaceDefinition } from './surface.ts';
import { answerError } from './surface-errors.ts';
import { tenantNameFrom } from './tenant-name.ts';

/** Endpoints of the fast path answer programs: their errors are JSON. */
type PlainSurface = Pick<SurfaceDefinition, 'name' | 'envelope'>;

export function createPlainAnswerer(addressOf: AddressOf, services: Services, surface: PlainSurface, endpoint: Endpoint): PlainAnswerer {
  return (call) => {
    const { headers } = call.head;
    const tenant = peekTenant(services, tenantNameFrom(call.slug, headers.host, services.publicUrl))?.tenant;
    return tenant?.enabled === true ? run(services, surface, endpoint, new PlainEndpointRequest(call, tenant, addressOf)) : undefined;
  };
}

async function run(services: Services, surface: PlainSurface, endpoint: Endpoint, request: PlainEndpointRequest): Promise<PlainReply> {
  const { metrics } = services;
  const startedMs = metrics === undefined ? 0 : performance.now();
  const reply = new PlainReply(request.id);
  try {
    const body = await endpoint(request, reply);
    if (typeof body === 'string') reply.send(body);
  } catch (error) {
    answerError(services, surface, error as Error, request, reply); // handlers throw ContractErrors and faults, both Errors
  }
  metrics?.countRequest(surface.name, reply.status, (performance.now() - startedMs) / 1000);
  return reply;
}

class PlainEndpointRequest implements EndpointRequest {
  readonly id = randomId();
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string | undefined;
  tenant: Tenant;
  auditActor: string | undefined = undefined;
  readonly #socket: Socket;
  readonly #addressOf: AddressOf;

  constructor({ head, form, url, socket }: PlainCall, tenant: Tenant, addressOf: AddressOf) {
    this.method = head.method;
    this.url = url;
    this.headers = head.headers;
    this.body = form;
    this.tenant = tenant;
    this.#socket = socket;
    this.#addressOf = addressOf;
  }

  get clientAddress(): string {
    return this.#addressOf({ socket: this.#socket, headers: this.headers });
  }
}
