// The MCP server of docs/how-to/mcp-server.md, as its reader has it, on a free port; and one that is behind the same code of the guide, but
// asks for more scopes at its tool, names none in its document, or is all of its host.
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { pathToFileURL } from 'node:url';
import { fileBlockOf, root } from './documents.ts';
import { freePort } from './free-port.ts';
import type { Json } from './management.ts';

export interface GuideServer {
  readonly resource: string;
  readonly close: () => void;
}

/** Starts the one of the guide, which takes tokens of this issuer. */
export function startGuideServer(issuer: string): Promise<GuideServer> {
  return serve('/mcp', async (folder, resource) => {
    const { protectedServer } = (await import(pathToFileURL(join(folder, 'mcp-server.ts')).href)) as {
      protectedServer: (issuer: string, resource: string) => Server;
    };
    return protectedServer(issuer, resource);
  });
}

interface Variation {
  /** Of the resource, below its host. */
  readonly path: string;
  /** Whether its document names scopes. */
  readonly namesScopes: boolean;
  /** A scope that its tool asks for, once somebody is in. */
  readonly toolScope?: string;
}

type CallerOf = (request: IncomingMessage, response: ServerResponse) => Promise<Json | undefined>;

/** Starts one that differs. */
export function startOtherServer(issuer: string, { path, namesScopes, toolScope }: Variation): Promise<GuideServer> {
  return serve(path, async (folder, resource) => {
    const { protect } = (await import(pathToFileURL(join(folder, 'protect.ts')).href)) as {
      protect: (issuer: string, resource: string, scopes: readonly string[]) => CallerOf;
    };
    const callerOf = protect(issuer, resource, ['tools']);
    const { origin, pathname } = new URL(resource);
    const metadata = `/.well-known/oauth-protected-resource${pathname === '/' ? '' : pathname}`;
    return createServer(async (request, response) => {
      const send = (status: number, body: unknown, headers: Readonly<Record<string, string>> = {}): void =>
        void response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
      if (request.url === metadata && !namesScopes) return send(200, { resource, authorization_servers: [issuer] });
      const caller = await callerOf(request, response);
      if (caller === undefined) return undefined;
      if (request.method !== 'POST') return send(405, {});
      const { id, method, params } = JSON.parse(await text(request)) as { id?: number; method: string; params?: Json };
      if (id === undefined) return send(202, {});
      if (method === 'tools/call' && toolScope !== undefined && !String(caller['scope']).split(' ').includes(toolScope))
        return send(
          403,
          {},
          {
            'www-authenticate': `Bearer error="insufficient_scope", scope="tools ${toolScope}", resource_metadata="${origin}${metadata}"`,
          },
        );
      const serverInfo = { name: 'tools', version: '1.0.0' };
      const results: Readonly<Record<string, unknown>> = {
        initialize: { protocolVersion: params?.['protocolVersion'], capabilities: { tools: {} }, serverInfo },
        'tools/list': { tools: [{ name: 'whoami', inputSchema: { type: 'object' } }] },
        'tools/call': { content: [{ type: 'text', text: caller['sub'] }] },
      };
      return send(200, { jsonrpc: '2.0', id, result: results[method] ?? {} });
    });
  });
}

async function serve(path: string, make: (folder: string, resource: string) => Promise<Server>): Promise<GuideServer> {
  const folder = mkdtempSync(join(tmpdir(), 'mcp-server-'));
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  for (const name of ['protect.ts', 'mcp-server.ts']) writeFileSync(join(folder, name), fileBlockOf('docs/how-to/mcp-server.md', name));
  const port = await freePort();
  const resource = `http://127.0.0.1:${port}${path}`;
  const server = await make(folder, resource);
  await new Promise<void>((done) => server.listen(port, '127.0.0.1', done));
  return {
    resource,
    close: () => {
      server.closeAllConnections();
      server.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
