// Cross-origin reads (Fetch standard) for clients that live in a browser page: token, UserInfo, keys and discovery. Nothing
// here is authorized by a cookie, so any origin may read what it has the credentials for.
import type { EndpointReply, EndpointRequest } from '../http/endpoint.ts';
import type { Handler } from '../http/surface.ts';

const exposed = 'DPoP-Nonce, WWW-Authenticate, X-Request-Id, Retry-After';
const preflightSeconds = '3600';

/** Adds the headers when the request comes from a page. */
export function allowCrossOrigin(request: EndpointRequest, reply: EndpointReply): void {
  if (request.headers.origin === undefined) return;
  reply.headers({ 'access-control-allow-origin': '*', 'access-control-expose-headers': exposed });
}

/** The handler made readable from other origins, its refusals too. */
export function crossOrigin<Request extends EndpointRequest, Reply extends EndpointReply, Result>(
  handler: (request: Request, reply: Reply) => Result,
): (request: Request, reply: Reply) => Result {
  return (request, reply) => {
    allowCrossOrigin(request, reply);
    return handler(request, reply);
  };
}

/** Answers OPTIONS. */
export function preflight(methods: string): Handler {
  return (_request, reply) =>
    reply
      .code(204)
      .headers({
        'access-control-allow-origin': '*',
        'access-control-allow-methods': methods,
        'access-control-allow-headers': 'Authorization, Content-Type, DPoP',
        'access-control-max-age': preflightSeconds,
      })
      .send();
}
