// Cross-origin reads (Fetch standard) for clients that live in a browser page: token, PAR, revocation, UserInfo, keys and discovery. Nothing
// here is authorized by a cookie, so any origin may read what it has the credentials for.
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Handler } from '../http/surface.ts';

const exposed = 'DPoP-Nonce, WWW-Authenticate, X-Request-Id, Retry-After';
/** The last two go with every request of an MCP client, those to its authorization server too. */
const allowed = 'Authorization, Content-Type, DPoP, MCP-Protocol-Version, Mcp-Method';
const preflightSeconds = '3600';

/** Adds the headers when the request comes from a page. */
function allowCrossOrigin(request: FastifyRequest, reply: FastifyReply): void {
  if (request.headers.origin === undefined) return;
  reply.headers({ 'access-control-allow-origin': '*', 'access-control-expose-headers': exposed });
}

/** The handler made readable from other origins, its refusals too. */
export function crossOrigin(handler: Handler): Handler {
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
        'access-control-allow-headers': allowed,
        'access-control-max-age': preflightSeconds,
      })
      .send();
}
