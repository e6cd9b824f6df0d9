// The code of docs/how-to/mcp-server.md, which the console shows too, taken out of it and run: the server in TypeScript, and the same before an
// ASGI application in Python where its libraries are installed. Both take access tokens of people for themselves alone.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { pathToFileURL } from 'node:url';
import { fileBlockOf, root } from '../support/documents.ts';
import { createClient, createUser, type TestUser } from '../support/fixtures.ts';
import { freePort } from '../support/free-port.ts';
import { findJudge } from '../support/judge-binaries.ts';
import { createTestTenant, type Json, type Managed } from '../support/management.ts';
import { exchange, issueCode, type Tokens, tokensOf } from '../support/oidc.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { startWebProgram } from '../support/web-program.ts';

const python = findJudge('guide-python');

describe('mcp-server.md', () => {
  let server: TestServer;
  let tenant: Managed;
  let person: TestUser;
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-mcp-server-'));
  before(async () => {
    symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
    writeFileSync(join(folder, 'package.json'), '{"type": "module"}');
    for (const name of ['protect.ts', 'mcp-server.ts', 'protect.py'])
      writeFileSync(join(folder, name), fileBlockOf('docs/how-to/mcp-server.md', name));
    server = await startTestServer('sqlite');
    tenant = await createTestTenant(server);
    const { services } = server.gatehouse;
    person = await createUser(services, (await services.tenants.bySlug(tenant.slug))!);
  });
  after(async () => {
    await server.close();
    rmSync(folder, { recursive: true, force: true });
  });

  /** What a client of both audiences gets for one, for the person. */
  const tokensFor = async (resources: readonly string[], resource: string, scope = 'tools'): Promise<Tokens> => {
    const { services } = server.gatehouse;
    const found = (await services.tenants.bySlug(tenant.slug))!;
    const agent = await createClient(services, found, { scopes: ['tools', 'openid'], resources });
    return tokensOf(await exchange(found, agent, await issueCode(server, found, agent, person, { scope, resource })));
  };

  /** A server of the resource sends programs here, and answers what it is told to who has a token for it. */
  const check = async (at: string, resource: string, told: (response: Response) => Promise<unknown>): Promise<void> => {
    const call = (token: string): Promise<Response> =>
      fetch(`${at}/mcp`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}` },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call' }),
      });
    const metadata = `${new URL(resource).origin}/.well-known/oauth-protected-resource/mcp`;
    const refused = await call('x');
    assert.deepEqual([refused.status, refused.headers.get('www-authenticate')], [401, `Bearer resource_metadata="${metadata}"`]);
    assert.deepEqual(await (await fetch(`${at}${new URL(metadata).pathname}`)).json(), {
      resource,
      authorization_servers: [tenant.baseUrl],
      scopes_supported: ['tools', 'offline_access'],
    });
    const both = [resource, 'https://other.example'];
    assert.equal(await told(await call((await tokensFor(both, resource)).access_token)), person.id);
    assert.equal((await call((await tokensFor(both, 'https://other.example')).access_token)).status, 401);
    const openId = await tokensFor(both, resource, 'openid');
    assert.equal((await call(openId.access_token)).status, 401, 'a token without a scope of the server');
    assert.equal((await call(openId.id_token!)).status, 401, 'an ID token');
  };

  it('its server sends programs here, and takes tokens for itself alone', async () => {
    const { protectedServer } = (await import(pathToFileURL(join(folder, 'mcp-server.ts')).href)) as {
      readonly protectedServer: (issuer: string, resource: string) => Server;
    };
    const resource = 'http://127.0.0.1:3333/mcp';
    const tools = protectedServer(tenant.baseUrl, resource);
    await new Promise<void>((done) => tools.listen(0, '127.0.0.1', done));
    try {
      await check(`http://127.0.0.1:${(tools.address() as AddressInfo).port}`, resource, async (response) => {
        const { result } = (await response.json()) as { readonly result: { readonly content: readonly Json[] } };
        return result.content[0]?.['text'];
      });
    } finally {
      tools.closeAllConnections();
      tools.close();
    }
  });

  it('the same before an ASGI application in Python', { skip: python === undefined && 'guide-python is not installed' }, async () => {
    const at = `http://127.0.0.1:${await freePort()}`;
    const main = `from protect import protect

async def whoami(scope, receive, send):
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": scope["claims"]["sub"].encode()})

app = protect(whoami, "${tenant.baseUrl}", "${at}/mcp", ["tools"])
`;
    writeFileSync(join(folder, 'main.py'), main);
    const uvicorn = [join(python!, 'bin', 'uvicorn'), 'main:app', '--host', '127.0.0.1', '--port', new URL(at).port];
    const program = await startWebProgram(`${at}/.well-known/oauth-protected-resource/mcp`, uvicorn, { cwd: folder });
    try {
      await check(at, `${at}/mcp`, (response) => response.text());
    } finally {
      await program.close();
    }
  });
});
