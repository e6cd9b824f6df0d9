// Clients of the Model Context Protocol against the server of docs/how-to/mcp-server.md and this provider: the official one for TypeScript in
// current and old versions, the official one for Python, and fastmcp; unmodified, and registered by nobody (by document, by registration) or by
// hand, up to a tool call, and again by a refresh.
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
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/free-port.ts';
import { findJudge } from '../support/judge-binaries.ts';
import type { Json, Managed } from '../support/management.ts';
import { decodeJwt, type Tokens } from '../support/oidc.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

type How = 'document' | 'registration' | 'registered';
interface Judge {
  readonly name: string;
  /** Its program, and what it is given before the server's address; undefined: not installed. */
  readonly command: readonly [string, ...string[]] | undefined;
  readonly ways: readonly How[];
  /** Where it lets people come back to: a port it listens at, or undefined, and the test hands it the answer. */
  readonly listens?: string;
}

const sdk = findJudge('mcp-client');
const python = findJudge('python3-agents');
const program = join(root, 'test', 'interop', 'judges', 'mcp-client.py');
const ofSdk = (version: string, ways: readonly How[]): Judge => ({
  name: `SDK ${version}`,
  command: sdk === undefined ? undefined : [sdk, version],
  ways,
});
const ofPython = (name: string): Judge => ({
  name: `PyPI ${name}`,
  command: python === undefined ? undefined : [python, program, name],
  ways: ['document', 'registration', 'registered'],
  ...(name === 'fastmcp' && { listens: 'http://localhost:7777/callback' }),
});
const judges: readonly Judge[] = [
  ofSdk('2.4', ['document', 'registration']),
  ofSdk('1.32', ['document', 'registration']),
  ofSdk('1.25', ['document', 'registration']),
  ofSdk('1.20', ['registration']), // it does not know documents
  ofPython('mcp'),
  ofPython('fastmcp'),
];

interface Said {
  readonly authorize?: string;
  readonly called?: readonly Json[];
  readonly client_id?: string;
  readonly tokens?: Tokens;
  readonly failed?: string;
}

describe('clients of the Model Context Protocol', () => {
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

  /** How a judge is told who it is. */
  const clientOf = async ({ listens = loopbackUri, name }: Judge, how: How): Promise<string> => {
    const redirect_uris = [listens];
    const grant_types = ['authorization_code', 'refresh_token'];
    const token_endpoint_auth_method = 'none';
    if (how === 'document')
      return documents.publish(`/${name.replaceAll(' ', '-')}`, {
        client_name: name,
        redirect_uris,
        grant_types,
        token_endpoint_auth_method,
      });
    const more = { type: 'public', scopes: ['tools', 'offline_access'], resources: [resource], authorize_error_delivery: 'redirect' };
    return String((await managed.make('POST', '/clients', { name, redirect_uris, grant_types, ...more }))['client_id']);
  };

  for (const judge of judges)
    for (const how of judge.ways)
      it(`${judge.name}, by ${how}: signs in, calls a tool, refreshes`, {
        skip: judge.command === undefined && 'not installed',
      }, async () => {
        const person = await personOf(server, managed);
        const client = how === 'registration' ? undefined : await clientOf(judge, how);
        const isSdk = judge.name.startsWith('SDK');
        const [command, ...given] = judge.command!;
        const told = client === undefined ? [] : isSdk ? [client] : [how, client];
        const child = spawn(command, [...given, resource, ...told], { stdio: ['pipe', 'pipe', 'inherit'] });
        const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
        const next = async (): Promise<Said> => {
          const line = String((await lines.next()).value);
          const said = line.startsWith('http') ? { authorize: line } : (JSON.parse(line) as Said);
          assert.equal(said.failed, undefined);
          return said;
        };
        try {
          const { authorize } = await next();
          const started = await fetch(authorize!, { redirect: 'manual' });
          const { login } = await toConsent(server, started, person.email);
          const { href } = await allow(login);
          if (judge.listens === undefined) child.stdin.write(`${href}\n`);
          else assert.equal((await eventually(() => fetch(href).catch(() => undefined)))?.status, 200); // it listens after it sent the browser
          const { called, client_id: id, tokens } = await next();
          assert.deepEqual(called, [{ type: 'text', text: person.id }]);
          assert.equal(decodeJwt(tokens!.access_token).claims['aud'], resource);
          if (client === undefined) assert.match(String(id), /^open\./);
          else assert.equal(id, client);
          assert.ok(tokens!.refresh_token);
          child.stdin.write('refresh\n');
          const again = await next();
          assert.deepEqual(again.called, called);
          assert.notEqual(again.tokens!.refresh_token, tokens!.refresh_token);
        } finally {
          child.kill();
        }
      });
});
