// Connectors in documents: exported without secrets unless asked, applied by name; a known secret stays, and goes nowhere else; one made
// without a secret asks nobody.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { applyDocument } from '../../src/administration/declaration/apply.ts';
import { exportDocument } from '../../src/administration/declaration/export.ts';
import { readDeclarations } from '../../src/administration/declaration/reader.ts';
import { openSession, reconcile } from '../../src/administration/declaration/reconcile.ts';
import { type RecordingProxy, runConnectors, startRecordingProxy } from '../support/connectors.ts';
import { databases } from '../support/databases.ts';
import { type LaxScimService, startLaxScimService } from '../support/lax-scim-service.ts';
import { createTestTenant, createTestUser, type Json, type Managed } from '../support/management.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { loopbackAllowed } from '../support/webhooks.ts';

for (const database of databases) {
  describe(`connectors in documents on ${database}`, () => {
    let server: TestServer;
    let target: LaxScimService;
    let proxy: RecordingProxy;
    before(async () => {
      server = await startTestServer(database, { flags: loopbackAllowed });
      target = await startLaxScimService();
      proxy = await startRecordingProxy(() => target.url);
    });
    after(async () => {
      await server?.close();
      await proxy?.close();
      await target?.close();
    });
    const sessionOf = async ({ slug }: Managed) => {
      const { services } = server.gatehouse;
      return openSession(services, (await services.tenants.bySlug(slug))!, { actor: 'operator' });
    };
    const exported = async (tenant: Managed, withSecrets: boolean): Promise<string> => {
      const parts: string[] = [];
      for await (const part of exportDocument(await sessionOf(tenant), { withSecrets, asJson: false })) parts.push(part);
      return /^connectors:\n(?: .*\n)*/m.exec(parts.join(''))?.[0] ?? '';
    };
    const apply = ({ slug }: Managed, section: string) =>
      applyDocument(server.gatehouse.services, slug, ['gatehouse: 1', ...section.trimEnd().split('\n')]);
    const only = async (tenant: Managed): Promise<Json> =>
      (await tenant.make<{ readonly items: readonly Json[] }>('GET', '/connectors')).items[0]!;
    const described = (more: readonly string[]): string =>
      ['connectors:', '  - name: Payroll', ...more.map((line) => `    ${line}`)].join('\n');

    it('an export has secrets when asked for, and makes the same connector elsewhere, where it works', async () => {
      const tenant = await createTestTenant(server);
      await tenant.make('POST', '/connectors', {
        ...{ name: 'Payroll', base_url: proxy.url, auth: { type: 'basic', username: 'gatehouse', password: 'known there' } },
        ...{ groups: ['Staff'], rate: 200, mappings: [{ to: 'title', value: null }] },
      });
      const plain = await exported(tenant, false);
      assert.match(plain, / {4}auth:\n {6}type: basic\n {6}username: gatehouse\n/);
      assert.doesNotMatch(plain, /known there|password|deprovision/);
      const whole = await exported(tenant, true);
      assert.match(whole, / {6}password: known there\n/);
      const elsewhere = await createTestTenant(server);
      await apply(elsewhere, whole);
      const { created_at: _made, updated_at: _changed, ...there } = await only(elsewhere);
      const { created_at: _made2, updated_at: _changed2, ...here } = await only(tenant);
      assert.deepEqual(there, here);
      await runConnectors(server);
      proxy.asked.length = 0;
      await createTestUser(elsewhere, 'ada@x.example');
      await runConnectors(server);
      assert.equal(proxy.asked[0]?.headers.authorization, `Basic ${Buffer.from('gatehouse:known there').toString('base64')}`);
      assert.ok([...target.users.values()].some(({ userName }) => userName === 'ada@x.example'));
      const again = await reconcile(await sessionOf(tenant), readDeclarations(['gatehouse: 1', ...whole.trimEnd().split('\n')]), {
        write: false,
        prune: false,
      });
      assert.equal(again.unchanged, 1);
      for (const one of [tenant, elsewhere]) await one.make('DELETE', `/connectors/${(await only(one))['id']}`);
    });

    it('a document without a secret leaves the known one alone, and sends it to nobody else', async () => {
      const tenant = await createTestTenant(server);
      const known = ['auth: {type: bearer, token: known there}', `base_url: ${proxy.url}`];
      await apply(tenant, described(known));
      await apply(tenant, described(['auth: {type: bearer}', `base_url: ${proxy.url}`, 'rate: 50']));
      assert.equal((await only(tenant))['rate'], 50);
      await createTestUser(tenant, 'cara@x.example');
      await runConnectors(server);
      assert.equal(proxy.asked.at(-1)?.headers.authorization, 'Bearer known there');
      await assert.rejects(
        apply(tenant, described(['auth: {type: bearer}', 'base_url: https://elsewhere.example'])),
        /connectors\[0\] \(Payroll\): auth has no token, and the one that is known would be told somewhere else/,
      );
      assert.equal((await only(tenant))['base_url'], proxy.url);
      const lines = described(['auth: {type: bearer, token: another}', `base_url: ${proxy.url}`]).split('\n');
      const planned: unknown[] = [];
      await reconcile(await sessionOf(tenant), readDeclarations(['gatehouse: 1', ...lines]), {
        write: false,
        prune: false,
        onChange: (change) => void planned.push(change),
      });
      assert.match(JSON.stringify(planned), /"name":"secret","from":"\(secret\)","to":"\(secret\)"/);
      await apply(tenant, described(['auth: {type: basic, username: us, password: another}', `base_url: ${proxy.url}`, 'rate: 50']));
      const { items } = await tenant.make<{ items: readonly { data: Json }[] }>('GET', '/events?type=connector.updated&limit=1');
      assert.deepEqual(items[0]?.data['fields'], ['auth'], 'named once, whatever of it changed');
      await tenant.make('DELETE', `/connectors/${(await only(tenant))['id']}`);
    });

    it('rules for all connectors, changed by a document, are followed for people who are there already', async () => {
      const tenant = await createTestTenant(server);
      await apply(tenant, described(['auth: {type: bearer, token: known there}', `base_url: ${proxy.url}`, 'rate: 200']));
      await createTestUser(tenant, 'dora@x.example', { title: 'Countess' });
      await runConnectors(server);
      const there = (): unknown => [...target.users.values()].find(({ userName }) => userName === 'dora@x.example')?.['title'];
      assert.equal(there(), 'Countess');
      await apply(tenant, 'mappings:\n  scim:\n    - {to: title, value: Doctor}');
      await runConnectors(server);
      assert.equal(there(), 'Doctor');
      await tenant.make('DELETE', `/connectors/${(await only(tenant))['id']}`);
    });

    it('one made without a secret asks nobody; a mistake names its place and no secret', async () => {
      const tenant = await createTestTenant(server);
      proxy.asked.length = 0;
      await apply(tenant, described(['auth: {type: bearer}', `base_url: ${proxy.url}`]));
      await createTestUser(tenant, 'bob@x.example');
      await runConnectors(server);
      assert.deepEqual(proxy.asked, []);
      const { id } = await only(tenant);
      const status = await tenant.make('GET', `/connectors/${id}/status`);
      assert.deepEqual([status['state'], status['quarantine_reason']], ['quarantined', 'unauthorized']);
      await apply(tenant, described(['auth: {type: bearer, token: known there}', `base_url: ${proxy.url}`]));
      await tenant.make('POST', `/connectors/${id}/resume`);
      await runConnectors(server);
      assert.equal((await tenant.make('GET', `/connectors/${id}/status`))['state'], 'idle');
      await assert.rejects(apply(tenant, described(['auth: {type: basic, password: hidden}', `base_url: ${proxy.url}`])), (error: Error) =>
        /connectors\[0\]\.auth: expected a value that .*username, found "basic"/.test(error.message),
      );
      await tenant.make('DELETE', `/connectors/${id}`);
    });
  });
}
