// The official client of the Model Context Protocol against the server of docs/how-to/mcp-server.md and this provider: current and old
// versions, unmodified, which nobody registered: by document and by registration, up to a tool call, and again by a refresh.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import type { Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, before, describe, it } from 'node:test';
import { pathToFileURL } from 'node:url';
import { allow, type DocumentServer, loopbackUri, openTenant, personOf, startDocumentServer, toConsent } from '../support/agents.ts';
import { fileBlockOf, root } from '../support/documents.ts';
import { freePort } from '../support/free-port.ts';
import { findJudge } from '../support/judge-binaries.ts';
import type { Json, Managed } from '../support/management.ts';
import { decodeJwt, type Tokens } from '../support/oidc.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

const judge = findJudge('mcp-client');

interface Said {
  readonly authorize?: string;
  readonly called?: readonly Json[];
  readonly client_id?: string;
  readonly tokens?: Tokens;
  readonly failed?: string;
}

describe('clients of the Model Context Protocol', { skip: judge === undefined && 'mcp-client is not installed' }, () => {
  let server: TestServer;
  let documents: DocumentServer;
  let managed: Managed;
  let tools: Server;
  let resource: string;
  let folder: string;
  before(async () => {
    server = await startTestServer('sqlite', { flags: { egress_allow: '127.0.0.0/8' } });
    documents = await startDocumentServer(server);
    folder = mkdtempSync(join(tmpdir(), 'mcp-server-'));
    symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
    const file = join(folder, 'mcp-server.ts');
    for (const name of ['protect.ts', 'mcp-server.ts']) writeFileSync(join(folder, name), fileBlockOf('docs/how-to/mcp-server.md', name));
    const { protectedServer } = (await import(pathToFileURL(file).href)) as {
      protectedServer: (issuer: string, resource: string) => Server;
    };
    managed = await openTenant(server);
    const port = await freePort();
    resource = `http://127.0.0.1:${port}/mcp`;
    tools = protectedServer(managed.baseUrl, resource);
    await new Promise<void>((done) => tools.listen(port, '127.0.0.1', done));
    const scopes = [{ name: 'tools', description: 'Use the tools', is_default: true }];
    await managed.make('POST', '/resources', { identifier: resource, name: 'Our tools', clients: 'any', scopes });
  });
  after(async () => {
    tools.closeAllConnections();
    tools.close();
    rmSync(folder, { recursive: true, force: true });
    await documents.close();
    await server.close();
  });

  for (const version of ['1.32', '1.25', '1.20'])
    for (const how of ['document', 'registration'] as const) {
      if (version === '1.20' && how === 'document') continue; // it does not know documents
      it(`SDK ${version}, by ${how}: signs in, calls a tool, refreshes`, async () => {
        const person = await personOf(server, managed);
        const url = documents.publish(`/sdk-${version}`, {
          client_name: 'SDK',
          redirect_uris: [loopbackUri],
          grant_types: ['authorization_code', 'refresh_token'],
          token_endpoint_auth_method: 'none',
        });
        const child = spawn(judge!, [version, resource, ...(how === 'document' ? [url] : [])], { stdio: ['pipe', 'pipe', 'inherit'] });
        const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
        const next = async (): Promise<Said> => {
          const said = JSON.parse(String((await lines.next()).value)) as Said;
          assert.equal(said.failed, undefined);
          return said;
        };
        try {
          const { authorize } = await next();
          const started = await fetch(authorize!, { redirect: 'manual' });
          const { login } = await toConsent(server, started, person.email);
          child.stdin.write(`${(await allow(login)).href}\n`);
          const { called, client_id: id, tokens } = await next();
          assert.deepEqual(called, [{ type: 'text', text: person.id }]);
          assert.equal(decodeJwt(tokens!.access_token).claims['aud'], resource);
          if (how === 'document') assert.equal(id, url);
          else assert.match(String(id), /^open\./);
          assert.ok(tokens!.refresh_token);
          child.stdin.write('refresh\n');
          const again = await next();
          assert.deepEqual(again.called, called);
          assert.notEqual(again.tokens!.refresh_token, tokens!.refresh_token);
        } finally {
          child.kill();
        }
      });
    }
});
