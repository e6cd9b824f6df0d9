// SCIM services that others wrote, unmodified, as targets of a connector: scim2-server, SCIMMY, and what UnboundID's SDK checks and applies. People and a group are brought, changed,
// suspended, and ended; a second run sends nothing, and what a reconciliation reads there is what was sent.
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { after, before, describe, it } from 'node:test';
import { hourMs, type RecordingProxy, type Resource, runConnectors, startRecordingProxy } from '../support/connectors.ts';
import { until } from '../support/deliveries.ts';
import { freePort } from '../support/free-port.ts';
import { findJudge } from '../support/judge-binaries.ts';
import { createTestTenant, createTestUser, type Json, type Managed } from '../support/management.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { loopbackAllowed } from '../support/webhooks.ts';

const token = 'judged';
const headers = { authorization: `Bearer ${token}` };
const judges = [
  { name: 'scim2-server', args: (port: number) => ['--port', String(port), '--bearer-token', token] },
  { name: 'scimmy', args: (port: number) => [String(port)] },
  { name: 'unboundid-target', args: (port: number) => [String(port), token] },
];

for (const { name, args } of judges) {
  const program = findJudge(name);
  if (program === undefined) continue;
  describe(`${name} as the target of a connector`, () => {
    let judge: ChildProcess;
    let base: string;
    let server: TestServer;
    let proxy: RecordingProxy;
    let tenant: Managed;
    before(async () => {
      const port = await freePort();
      base = `http://127.0.0.1:${port}/v2`;
      judge = spawn(program, args(port), { stdio: 'ignore' });
      server = await startTestServer('sqlite', { flags: loopbackAllowed });
      tenant = await createTestTenant(server);
      proxy = await startRecordingProxy(() => base);
      await until(() =>
        fetch(`${base}/ServiceProviderConfig`, { headers }).then(
          ({ ok }) => ok,
          () => false,
        ),
      );
    });
    after(async () => {
      judge?.kill();
      await server?.close();
      await proxy?.close();
    });
    const listed = async (kind: 'Users' | 'Groups'): Promise<readonly Resource[]> =>
      ((await (await fetch(`${base}/${kind}`, { headers })).json()) as { readonly Resources?: readonly Resource[] }).Resources ?? [];
    const there = async (userName: string): Promise<Resource> => (await listed('Users')).find((one) => one.userName === userName)!;
    const membersThere = async (): Promise<readonly string[]> =>
      (((await listed('Groups'))[0]?.['members'] ?? []) as readonly Json[]).map(({ value }) => String(value));
    const run = async (): Promise<readonly string[]> => {
      await runConnectors(server);
      return proxy.take();
    };

    it('people and a group are brought, changed, suspended and ended, nothing is sent twice', async () => {
      const ada = await createTestUser(tenant, 'ada@example.com', {
        name: { given_name: 'Ada', family_name: 'Lovelace' },
        title: 'Countess',
      });
      const bob = await createTestUser(tenant, 'bob@example.com');
      const before = await fetch(`${base}/Users`, {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/scim+json' },
        body: JSON.stringify({ schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'], userName: 'eve@example.com' }),
      });
      const adopted = (await before.json()) as Resource;
      await createTestUser(tenant, 'eve@example.com', { title: 'Adopted' });
      const group = await tenant.make('POST', '/groups', { display_name: 'Staff' });
      await tenant.make('POST', `/groups/${group['id']}/members`, { user_id: ada.id });
      const auth = { type: 'bearer', token };
      const { id } = await tenant.make('POST', '/connectors', { name, base_url: proxy.url, auth, groups: ['Staff'], rate: 200 });
      const settled = async (): Promise<void> => {
        const { items } = await tenant.make<{ readonly items: readonly Json[] }>('GET', `/connectors/${id}/links`);
        const odd = items.filter(({ state, next_attempt_at: next }) => (state !== 'linked' && state !== 'off') || next !== null);
        assert.deepEqual(odd, []);
      };
      await run();
      await settled();
      const adaThere = await there('ada@example.com');
      const bobThere = await there('bob@example.com');
      assert.deepEqual(
        [adaThere['externalId'], adaThere.active, (adaThere['name'] as Json)['familyName'], adaThere['title']],
        [ada.id, true, 'Lovelace', 'Countess'],
      );
      assert.equal((adaThere['emails'] as readonly Json[])[0]?.['value'], 'ada@example.com');
      assert.deepEqual([(await there('eve@example.com')).id, (await there('eve@example.com'))['title']], [adopted.id, 'Adopted']);
      assert.deepEqual([(await listed('Groups')).map(({ displayName }) => displayName), await membersThere()], [['Staff'], [adaThere.id]]);

      await tenant.make('POST', `/connectors/${id}/sync`);
      assert.deepEqual(await run(), [], 'a second run sends nothing');

      await tenant.make('PATCH', `/users/${ada.id}`, { title: null, name: { given_name: 'Ada', family_name: 'King' } });
      assert.deepEqual(await run(), [`PATCH /Users/${adaThere.id}`]);
      const changed = await there('ada@example.com');
      assert.deepEqual([changed['title'], (changed['name'] as Json)['familyName']], [undefined, 'King']);

      await tenant.make('POST', `/groups/${group['id']}/members`, { user_id: bob.id });
      await tenant.make('DELETE', `/groups/${group['id']}/members/${ada.id}`);
      await tenant.make('PATCH', `/groups/${group['id']}`, { display_name: 'Everybody' });
      await tenant.make('PATCH', `/connectors/${id}`, { groups: [group['id']] });
      await run();
      assert.deepEqual(
        [(await listed('Groups')).map(({ displayName }) => displayName), await membersThere()],
        [['Everybody'], [bobThere.id]],
      );

      await tenant.make('POST', `/users/${bob.id}/suspend`);
      await run();
      assert.equal((await there('bob@example.com')).active, false);
      await tenant.make('POST', `/users/${bob.id}/activate`);
      await run();
      assert.equal((await there('bob@example.com')).active, true);
      await tenant.make('DELETE', `/users/${ada.id}`);
      await run();
      assert.equal((await there('ada@example.com')).active, false);
      await settled();

      await server.clock.advance(25 * hourMs);
      const reconciled = await run();
      assert.ok(reconciled.includes('GET /Users'));
      assert.deepEqual(
        reconciled.filter((one) => !one.startsWith('GET ')),
        [],
        'what is read there is what was sent',
      );
      await tenant.make('PATCH', `/connectors/${id}`, { deprovision: 'delete' });
      await tenant.make('DELETE', `/users/${bob.id}`);
      await run();
      assert.equal(await there('bob@example.com'), undefined);
    });
  });
}
