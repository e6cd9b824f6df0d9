// Where clients of the Model Context Protocol go other ways than at the server of the guide, unmodified and registered by nobody: a server that is
// all of its host, with and without the slash; one that names no scopes; one that asks for more at a tool (step-up); and refusals, which they
// hear at their callback.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { allow, openTenant, personOf, toConsent } from '../support/agents.ts';
import { eventually } from '../support/eventually.ts';
import { startOtherServer } from '../support/guide-mcp-server.ts';
import type { Json, Managed } from '../support/management.ts';
import { type McpJudge, mcpJudges, type RunningJudge, startMcpJudge } from '../support/mcp-judges.ts';
import { decodeJwt } from '../support/oidc.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

describe('other ways of clients of the Model Context Protocol', () => {
  let server: TestServer;
  before(async () => {
    server = await startTestServer('sqlite');
  });
  after(() => server.close());

  const open = async (managed: Managed, identifier: string, more: Json = {}): Promise<unknown> => {
    const scopes = [{ name: 'tools', is_default: true }, { name: 'admin' }];
    return managed.make('POST', '/resources', { identifier, name: 'Tools', clients: 'any', scopes, ...more });
  };
  /** The person lets the program in where it sends them; gives the scope it asked for. */
  const letIn = async (judge: McpJudge, running: RunningJudge, email: string): Promise<string | null> => {
    const { authorize = '' } = await running.next();
    await server.clock.advance(60_000); // a code may be mailed again
    const { login } = await toConsent(server, await fetch(authorize, { redirect: 'manual' }), email);
    const { href } = await allow(login);
    if (judge.listens === undefined) running.write(href);
    else await eventually(() => fetch(href).catch(() => undefined)); // it listens after it sent the browser
    return new URL(authorize).searchParams.get('scope');
  };

  for (const judge of mcpJudges) {
    const skip = judge.command === undefined && 'not installed';
    for (const slash of ['', '/'])
      it(`${judge.name}: a server that is all of its host, called ${slash === '' ? 'without' : 'with'} the slash`, { skip }, async () => {
        const managed = await openTenant(server);
        const tools = await startOtherServer(managed.baseUrl, { path: '', namesScopes: true });
        await open(managed, tools.resource);
        const running = startMcpJudge(judge, `${tools.resource}${slash}`);
        try {
          const person = await personOf(server, managed);
          await letIn(judge, running, person.email);
          const { called, tokens } = await running.next();
          assert.deepEqual(called, [{ type: 'text', text: person.id }]);
          assert.equal(decodeJwt(tokens!.access_token).claims['aud'], tools.resource);
        } finally {
          running.stop();
          tools.close();
        }
      });

    it(`${judge.name}: a server that names no scopes; what is asked of another one’s is left out`, { skip }, async () => {
      const managed = await openTenant(server);
      const tools = await startOtherServer(managed.baseUrl, { path: '/mcp', namesScopes: false });
      await open(managed, tools.resource);
      const running = startMcpJudge(judge, tools.resource);
      try {
        const person = await personOf(server, managed);
        await letIn(judge, running, person.email);
        const { called, tokens } = await running.next();
        assert.deepEqual(called, [{ type: 'text', text: person.id }]);
        assert.ok(tokens!.scope.split(' ').includes('tools'));
      } finally {
        running.stop();
        tools.close();
      }
    });

    // What it hears is ours alone: one of each language does.
    if (judge.name === 'SDK 2.4' || judge.name === 'PyPI mcp')
      it(`${judge.name}: declined, it hears so at its callback`, { skip }, async () => {
        const managed = await openTenant(server);
        const tools = await startOtherServer(managed.baseUrl, { path: '/mcp', namesScopes: true });
        await open(managed, tools.resource);
        const running = startMcpJudge(judge, tools.resource);
        try {
          const { authorize = '' } = await running.next();
          const asked = new URL(authorize).searchParams;
          const { login } = await toConsent(
            server,
            await fetch(authorize, { redirect: 'manual' }),
            (await personOf(server, managed)).email,
          );
          const { redirect_to: to } = (await (await login.post('cancel')).json()) as { redirect_to: string };
          const unknown = new URL(authorize);
          unknown.searchParams.set('scope', 'nobody-has-it');
          const refused = await fetch(unknown, { redirect: 'manual' });
          for (const [at, error] of [
            [to, 'access_denied'],
            [refused.headers.get('location') ?? '', 'invalid_scope'],
          ] as const) {
            assert.ok(at.startsWith(asked.get('redirect_uri') ?? '-'), at);
            assert.deepEqual([new URL(at).searchParams.get('error'), new URL(at).searchParams.get('state')], [error, asked.get('state')]);
          }
        } finally {
          running.stop();
          tools.close();
        }
      });

    if (judge.name === 'SDK 1.20') continue; // it does not step up
    it(`${judge.name}: a tool that asks for more: the person is asked again, and it is called`, { skip }, async () => {
      const managed = await openTenant(server);
      const tools = await startOtherServer(managed.baseUrl, { path: '/mcp', namesScopes: true, toolScope: 'admin' });
      // Versions 1 refresh what they have instead of asking for more.
      await open(managed, tools.resource, { refresh: false });
      const running = startMcpJudge(judge, tools.resource);
      try {
        const person = await personOf(server, managed);
        await letIn(judge, running, person.email);
        assert.match(String(await letIn(judge, running, person.email)), /\badmin\b/);
        const { called, tokens } = await running.next();
        assert.deepEqual(called, [{ type: 'text', text: person.id }]);
        assert.ok(tokens!.scope.split(' ').includes('admin'));
      } finally {
        running.stop();
        tools.close();
      }
    });
  }
});
