// Clients of the Model Context Protocol against the server of docs/how-to/mcp-server.md and this provider: the official one for TypeScript in
// current and old versions, the official one for Python, and fastmcp; unmodified, and registered by nobody (by document, by registration) or by
// hand, up to a tool call, and again by a refresh.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { allow, type DocumentServer, loopbackUri, openTenant, personOf, startDocumentServer, toConsent } from '../support/agents.ts';
import { eventually } from '../support/eventually.ts';
import { type GuideServer, startGuideServer } from '../support/guide-mcp-server.ts';
import type { Managed } from '../support/management.ts';
import { type How, type McpJudge, mcpJudges, startMcpJudge } from '../support/mcp-judges.ts';
import { decodeJwt } from '../support/oidc.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

describe('clients of the Model Context Protocol', () => {
  let server: TestServer;
  let documents: DocumentServer;
  let managed: Managed;
  let tools: GuideServer;
  let resource: string;
  before(async () => {
    server = await startTestServer('sqlite', { flags: { egress_allow: '127.0.0.0/8' } });
    documents = await startDocumentServer(server);
    managed = await openTenant(server);
    tools = await startGuideServer(managed.baseUrl);
    ({ resource } = tools);
    const scopes = [{ name: 'tools', description: 'Use the tools', is_default: true }];
    await managed.make('POST', '/resources', { identifier: resource, name: 'Our tools', clients: 'any', scopes });
  });
  after(async () => {
    tools.close();
    await documents.close();
    await server.close();
  });

  /** How a judge is told who it is. */
  const clientOf = async ({ listens = loopbackUri, name }: McpJudge, how: How): Promise<string> => {
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

  for (const judge of mcpJudges)
    for (const how of judge.ways)
      it(`${judge.name}, by ${how}: signs in, calls a tool, refreshes`, {
        skip: judge.command === undefined && 'not installed',
      }, async () => {
        const person = await personOf(server, managed);
        const client = how === 'registration' ? undefined : await clientOf(judge, how);
        const { next, write, stop } = startMcpJudge(judge, resource, client === undefined ? undefined : [how, client]);
        try {
          const { authorize } = await next();
          const started = await fetch(authorize!, { redirect: 'manual' });
          const { login } = await toConsent(server, started, person.email);
          const { href } = await allow(login);
          if (judge.listens === undefined) write(href);
          else assert.equal((await eventually(() => fetch(href).catch(() => undefined)))?.status, 200); // it listens after it sent the browser
          const { called, client_id: id, tokens } = await next();
          assert.deepEqual(called, [{ type: 'text', text: person.id }]);
          assert.equal(decodeJwt(tokens!.access_token).claims['aud'], resource);
          if (client === undefined) assert.match(String(id), /^open\./);
          else assert.equal(id, client);
          assert.ok(tokens!.refresh_token);
          write('refresh');
          const again = await next();
          assert.deepEqual(again.called, called);
          assert.notEqual(again.tokens!.refresh_token, tokens!.refresh_token);
        } finally {
          stop();
        }
      });
});
