// The code that an MCP server needs to take tokens of this tenant, which is that of docs/how-to/mcp-server.md byte by byte (a test holds
// both together, another runs the guide's), and the lines that put the values of one resource into it.

/** Node: `npm install jose`. */
export const protectTypeScript = `// protect.ts
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createRemoteJWKSet, jwtVerify } from 'jose';

/** Gives the claims of who calls; undefined: it is answered, with where tokens come from (RFC 9728), because it asked or had no token. */
export function protect(issuer: string, resource: string, scopes: readonly string[]) {
  const keys = createRemoteJWKSet(new URL(\`\${issuer}/v1/idp/oidc/jwks\`));
  const { origin, pathname } = new URL(resource);
  const metadata = \`/.well-known/oauth-protected-resource\${pathname === '/' ? '' : pathname}\`;
  const document = { resource, authorization_servers: [issuer], scopes_supported: [...scopes, 'offline_access'] }; // the last one refreshes
  return async (request: IncomingMessage, response: ServerResponse) => {
    const send = (status: number, headers: Record<string, string>, body: unknown) =>
      void response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
    if (request.url === metadata) return send(200, {}, document);
    const token = /^Bearer (.+)$/i.exec(request.headers.authorization ?? '')?.[1] ?? '';
    const verified = await jwtVerify(token, keys, { issuer, audience: resource, typ: 'at+jwt' }).catch(() => undefined);
    const granted = String(verified?.payload['scope']).split(' ');
    if (scopes.some((scope) => granted.includes(scope))) return verified?.payload;
    return send(401, { 'www-authenticate': \`Bearer resource_metadata="\${origin}\${metadata}"\` }, {});
  };
}
`;

/** Any ASGI application: `pip install pyjwt cryptography`. */
export const protectPython = `# protect.py
import asyncio
import json
from urllib.parse import urlsplit

import jwt


def protect(app, issuer, resource, scopes):
    """Lets requests through to an ASGI application that have a token for it; others hear where tokens come from (RFC 9728)."""
    keys = jwt.PyJWKClient(f"{issuer}/v1/idp/oidc/jwks")
    at = urlsplit(resource)
    metadata = "/.well-known/oauth-protected-resource" + ("" if at.path == "/" else at.path)
    document = {"resource": resource, "authorization_servers": [issuer], "scopes_supported": [*scopes, "offline_access"]}
    challenge = f'Bearer resource_metadata="{at.scheme}://{at.netloc}{metadata}"'

    def claims_of(token):
        if jwt.get_unverified_header(token).get("typ") != "at+jwt":
            raise jwt.InvalidTokenError("not an access token")
        key = keys.get_signing_key_from_jwt(token)
        return jwt.decode(token, key, algorithms=["ES256", "RS256"], issuer=issuer, audience=resource)

    async def protected(request, receive, send):
        async def answer(status, body, *headers):
            await send({"type": "http.response.start", "status": status, "headers": [(b"content-type", b"application/json"), *headers]})
            await send({"type": "http.response.body", "body": json.dumps(body).encode()})

        if request["type"] == "lifespan":
            return await app(request, receive, send)
        if request["path"] == metadata:
            return await answer(200, document)
        kind, _, token = dict(request["headers"]).get(b"authorization", b"").decode("latin-1").partition(" ")
        try:
            claims = await asyncio.to_thread(claims_of, token if kind.lower() == "bearer" else "")
        except jwt.PyJWTError:
            claims = {}
        if not set(scopes) & set(claims.get("scope", "").split()):
            return await answer(401, {}, (b"www-authenticate", challenge.encode()))
        return await app({**request, "claims": claims}, receive, send)

    return protected
`;

/** What a server of a resource needs to be told. */
export interface Protected {
  readonly issuer: string;
  readonly resource: string;
  readonly scopes: readonly string[];
}

// All of them are of ASCII without " and \ (client-uris.ts, resource.ts), so that they are literals of both languages as JSON is.
const literals = ({ issuer, resource, scopes }: Protected): string =>
  `${JSON.stringify(issuer)}, ${JSON.stringify(resource)}, [${scopes.map((scope) => JSON.stringify(scope)).join(', ')}]`;

export const useTypeScript = (what: Protected): string => `const callerOf = protect(${literals(what)});`;
export const usePython = (what: Protected): string => `app = protect(app, ${literals(what)})`;

/** The protected resource metadata (RFC 9728 2) of a resource, and where it is asked for (3.1): between the host and the path. */
export function metadataOf({ issuer, resource, scopes }: Protected): { readonly address: string; readonly document: string } {
  const { origin, pathname } = new URL(resource);
  const document = { resource, authorization_servers: [issuer], scopes_supported: [...scopes, 'offline_access'] };
  return {
    address: `${origin}/.well-known/oauth-protected-resource${pathname === '/' ? '' : pathname}`,
    document: JSON.stringify(document, null, 2),
  };
}
