// Calls of our first-party applications (console, account page) on their tenant's endpoints over HTTP semantics, inside the process.
// The sign-in of both is made of them; for the console they are the only way to data.
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Tenant } from '../domain/tenant/tenant.ts';
import { ownTrialHeaders } from '../http/own-trial.ts';
import { requestIdHeader } from '../http/server.ts';

export interface ApiAnswer {
  readonly status: number;
  /** What `explain` takes. */
  readonly requestId: string;
  readonly body: Readonly<Record<string, unknown>>;
}

export interface ApiCall {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Below base_url, with query. */
  readonly path: string;
  readonly bearer?: string;
  /** Client authentication by the Authorization header (RFC 6749 2.3.1). */
  readonly basic?: { readonly clientId: string; readonly secret: string };
  readonly json?: unknown;
  readonly form?: Readonly<Record<string, string>>;
  readonly xml?: Uint8Array;
  /** Its type is in its bytes. */
  readonly image?: Uint8Array;
  /** True: it tries what somebody has just set up, and is no use of it. */
  readonly isTrial?: true;
}

/** Calls an endpoint of the request's tenant as the same client address. */
export async function callApi(app: FastifyInstance, request: FastifyRequest, call: ApiCall): Promise<ApiAnswer> {
  const { pathname, host } = baseOf(request.tenant);
  const body = bodyOf(call);
  const response = await app.inject({
    method: call.method,
    url: `${pathname}${call.path}`,
    remoteAddress: request.clientAddress,
    headers: {
      host,
      ...authorizationOf(call),
      ...(call.isTrial === true ? ownTrialHeaders : {}),
      ...(body === undefined ? {} : { 'content-type': body.type }),
    },
    ...(body === undefined ? {} : { payload: body.payload }),
  });
  const requestId = String(response.headers[requestIdHeader]);
  return { status: response.statusCode, requestId, body: readBody(response.body, String(response.headers['content-type'] ?? '')) };
}

/** JSON, or else what it is as `text`. */
function readBody(text: string, type: string): ApiAnswer['body'] {
  if (text === '') return {};
  return /[/+]json\b/.test(type) ? JSON.parse(text) : { text };
}

function bodyOf({ json, form, xml, image }: ApiCall): { readonly type: string; readonly payload: string | Buffer } | undefined {
  if (json !== undefined) return { type: 'application/json', payload: JSON.stringify(json) };
  if (form !== undefined) return { type: 'application/x-www-form-urlencoded', payload: new URLSearchParams(form).toString() };
  if (image !== undefined) return { type: 'image/png', payload: Buffer.from(image) };
  return xml === undefined ? undefined : { type: 'application/xml', payload: Buffer.from(xml) };
}

function authorizationOf({ bearer, basic }: ApiCall): { readonly authorization?: string } {
  if (bearer !== undefined) return { authorization: `Bearer ${bearer}` };
  if (basic === undefined) return {};
  const pair = [basic.clientId, basic.secret].map(encodeURIComponent).join(':');
  return { authorization: `Basic ${Buffer.from(pair).toString('base64')}` };
}

function baseOf(tenant: Tenant): { readonly pathname: string; readonly host: string } {
  const url = new URL(tenant.baseUrl);
  return { pathname: url.pathname.replace(/\/$/, ''), host: url.host };
}
