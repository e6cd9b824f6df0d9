// mcp-remote, unmodified: the bridge for programs that speak the Model Context Protocol to local servers alone. As the guide has it, it registers
// itself, or is known by a document, or by hand; the person lets it in, and a call comes back from the server of docs/how-to/mcp-server.md.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, before, describe, it } from 'node:test';
import { allow, type DocumentServer, openTenant, personOf, startDocumentServer, toConsent } from '../support/agents.ts';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/free-port.ts';
import { type GuideServer, startGuideServer } from '../support/guide-mcp-server.ts';
import { findJudge } from '../support/judge-binaries.ts';
import type { Json, Managed } from '../support/management.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

const program = findJudge('mcp-remote');
const ways = ['registration', 'document', 'registered'] as const;

describe('mcp-remote', { skip: program === undefined && 'mcp-remote is not installed' }, () => {
  let server: TestServer;
  let documents: DocumentServer;
  let managed: Managed;
  let tools: GuideServer;
  before(async () => {
    server = await startTestServer('sqlite', { flags: { egress_allow: '127.0.0.0/8' } });
    documents = await startDocumentServer(server);
    managed = await openTenant(server);
    tools = await startGuideServer(managed.baseUrl);
    const scopes = [{ name: 'tools', description: 'Use the tools', is_default: true }];
    await managed.make('POST', '/resources', { identifier: tools.resource, name: 'Our tools', clients: 'any', scopes });
  });
  after(async () => {
    tools.close();
    await documents.close();
    await server.close();
  });

  /** The options by which it is that client. */
  const optionsOf = async (way: (typeof ways)[number], port: number): Promise<readonly string[]> => {
    if (way === 'registration') return [];
    const redirect_uris = [`http://localhost:${port}/oauth/callback`];
    const grant_types = ['authorization_code', 'refresh_token'];
    if (way === 'document') {
      const metadata = { client_name: 'mcp-remote', redirect_uris, grant_types, token_endpoint_auth_method: 'none' };
      return ['--client-metadata-url', documents.publish('/mcp-remote', metadata)];
    }
    const more = { type: 'public', scopes: ['tools', 'offline_access'], resources: [tools.resource], authorize_error_delivery: 'redirect' };
    const { client_id } = await managed.make('POST', '/clients', { name: 'mcp-remote', redirect_uris, grant_types, ...more });
    return ['--static-oauth-client-info', JSON.stringify({ client_id })];
  };

  for (const way of ways)
    it(`by ${way}: the person lets it in, and it calls a tool as them`, async () => {
      const person = await personOf(server, managed);
      const port = await freePort();
      const folder = mkdtempSync(join(tmpdir(), 'mcp-remote-'));
      const child = spawn(program!, [tools.resource, String(port), ...(await optionsOf(way, port))], {
        stdio: 'pipe',
        env: { ...process.env, MCP_REMOTE_CONFIG_DIR: folder, BROWSER: 'true' },
      });
      const said: string[] = [];
      createInterface({ input: child.stderr }).on('line', (line) => said.push(line));
      const answers = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
      const send = (message: Json): void => void child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
      try {
        const authorize = (await eventually(() => said.find((line) => line.trim().startsWith(`${managed.baseUrl}/`)))) ?? '';
        const started = await fetch(authorize.trim(), { redirect: 'manual' });
        const { login } = await toConsent(server, started, person.email);
        const { href } = await allow(login);
        assert.equal(new URL(href).port, String(port));
        assert.equal((await fetch(href)).status, 200);
        const clientInfo = { name: 'judge', version: '1.0.0' };
        send({ id: 1, method: 'initialize', params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo } });
        assert.equal((JSON.parse(String((await answers.next()).value)) as Json)['id'], 1);
        send({ method: 'notifications/initialized' });
        send({ id: 2, method: 'tools/call', params: { name: 'whoami', arguments: {} } });
        const { id, result } = JSON.parse(String((await answers.next()).value)) as { id: number; result: Json };
        assert.deepEqual([id, result['content']], [2, [{ type: 'text', text: person.id }]]);
      } catch (error) {
        throw new Error(`mcp-remote said: ${said.join('\n')}`, { cause: error });
      } finally {
        child.kill();
        rmSync(folder, { recursive: true, force: true });
      }
    });
});
