// Calls of our own applications (console, account page) on their tenant's endpoints over HTTP semantics, inside the process.
// The sign-in of both is made of them; for the console they are the only way to data.
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Tenant } from '../../domain/tenant.ts';

export interface ApiAnswer {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

export interface ApiCall {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** Below base_url, with query. */
  readonly path: string;
  readonly bearer?: string;
  readonly json?: unknown;
  readonly form?: Readonly<Record<string, string>>;
}

/** Calls an endpoint of the request's tenant as the same client address. */
export async function callApi(app: FastifyInstance, request: FastifyRequest, call: ApiCall): Promise<ApiAnswer> {
  const { pathname, host } = baseOf(request.tenant);
  const payload =
    call.json !== undefined ? JSON.stringify(call.json) : call.form !== undefined ? new URLSearchParams(call.form).toString() : undefined;
  const type = call.json !== undefined ? 'application/json' : 'application/x-www-form-urlencoded';
  const response = await app.inject({
    method: call.method,
    url: `${pathname}${call.path}`,
    remoteAddress: request.clientAddress,
    headers: {
      host,
      ...(call.bearer === undefined ? {} : { authorization: `Bearer ${call.bearer}` }),
      ...(payload === undefined ? {} : { 'content-type': type }),
    },
    ...(payload === undefined ? {} : { payload }),
  });
  return { status: response.statusCode, body: response.body === '' ? {} : JSON.parse(response.body) };
}

function baseOf(tenant: Tenant): { readonly pathname: string; readonly host: string } {
  const url = new URL(tenant.baseUrl);
  return { pathname: url.pathname.replace(/\/$/, ''), host: url.host };
}
