// The console's page of mapping rules: rows, a form that adds one, removal, and what they give one person (design 16, section 1). On both
// databases.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { createConsoleTenant, openConsole } from '../support/console.ts';
import { databases } from '../support/databases.ts';
import type { AppVisitor } from '../support/first-party-app.ts';
import { createTestClient, createTestUser, type Json, type Managed } from '../support/management.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

for (const database of databases) {
  describe(`mappings in the console on ${database}`, () => {
    let server: TestServer;
    let tenant: Managed;
    let visitor: AppVisitor;
    let client: string;
    before(async () => {
      server = await startTestServer(database);
      const created = await createConsoleTenant(server);
      tenant = created.tenant;
      ({ visitor } = await openConsole(server, tenant, created.email));
      client = String((await createTestClient(tenant))['client_id']);
      await createTestUser(tenant, 'ada@example.com', { enterprise: { department: 'Sales' } });
    });
    after(() => server.close());
    const rules = async (): Promise<readonly Json[]> => (await tenant.make('GET', '/mappings/oidc'))['rules'] as readonly Json[];

    it('says that there are none; a rule is added by its fields and stands as a row; the API has the rule', async () => {
      assert.match(await (await visitor.page('/mappings')).text(), /id="no-rules"/);
      const page = await visitor.act('/mappings?kind=oidc', {
        to: 'department',
        from: 'enterprise.department',
        'only.prefix': 'Sa\nMa',
        values: 'Sales = sales <team>\n* = other',
        'when.group': '',
        in: 'userinfo',
        scope: 'profile',
        value: '',
        template: '',
      });
      assert.match(page, /The rule for department was added\./);
      assert.match(
        page,
        /<td[^>]*>.*values that begin with <code>Sa<\/code>, <code>Ma<\/code>; <code>Sales = sales &#60;team&#62;<\/code>/s,
      );
      assert.deepEqual(await rules(), [
        {
          to: 'department',
          from: 'enterprise.department',
          only: { prefix: ['Sa', 'Ma'] },
          values: { Sales: 'sales <team>', '*': 'other' },
          in: ['userinfo'],
          scope: 'profile',
        },
      ]);
    });

    it('a mistake is told in words, the form keeps what was typed, and nothing is written', async () => {
      const before = await rules();
      const refused = await visitor.submit('/mappings?kind=oidc', { to: 'x', from: 'groops' });
      const text = await refused.text();
      assert.equal(refused.status, 400);
      assert.match(text, /role="alert"[^>]*>A mistake in rule 2, from: &#34;groops&#34; is not known; the nearest is &#34;groups&#34;/);
      assert.match(text, /name="from"[^>]*value="groops"/);
      assert.deepEqual(await rules(), before);
    });

    it('shows what one person gives, and why not; an unknown person is told', async () => {
      const page = await (await visitor.page('/mappings?kind=oidc&person=ada%40example.com')).text();
      assert.match(page, /What ada@example\.com gives/);
      assert.match(page, /<code>sales &#60;team&#62;<\/code>/);
      assert.match(await (await visitor.page('/mappings?kind=oidc&person=nobody')).text(), /id="preview-refused"/);
    });

    it('an application has rules of its own, of either kind; an unknown one is 404', async () => {
      const at = `/mappings?kind=oidc&target=${client}`;
      const page = await visitor.act(at, { to: 'region', value: 'eu\nus', several: 'first' });
      assert.match(page, /“eu, us”/);
      assert.deepEqual((await tenant.make('GET', `/clients/${client}`))['mappings'], [{ to: 'region', value: ['eu', 'us'], first: true }]);
      const acs = [{ url: 'https://sp.example/acs' }];
      const { id } = await tenant.make('POST', '/service-providers', { entity_id: 'https://sp.example', acs });
      await visitor.act(`/mappings?kind=saml&target=${id}`, { to: 'role', from: 'groups', name_format: 'uri', 'when.group': 'staff' });
      assert.deepEqual((await tenant.make('GET', `/service-providers/${id}`))['mappings'], [
        { to: 'role', from: 'groups', name_format: 'uri', when: { group: 'staff' } },
      ]);
      assert.equal((await visitor.page('/mappings?kind=oidc&target=nobody')).status, 404);
    });

    it('another provider has rules for its people, tried with what it says', async () => {
      const fields = { alias: 'acme', kind: 'oidc', name: 'Acme', issuer: 'https://acme.example', client_id: 'gatehouse' };
      const { id } = await tenant.make('POST', '/identity-providers', { ...fields, client_secret: 'secret-of-gatehouse-at-acme' });
      const at = `/mappings?kind=inbound&target=${String(id)}`;
      assert.doesNotMatch(await (await visitor.page(at)).text(), /name="when\.group"/);
      const page = await visitor.act(at, { to: 'title', from: 'upstream.job', case: 'upper', apply: 'always' });
      assert.match(page, /Attributes of people of Acme.*<code>upstream\.job<\/code>.*at every sign-in/s);
      assert.deepEqual((await tenant.make('GET', `/identity-providers/${String(id)}`))['mappings'], [
        { to: 'title', from: 'upstream.job', case: 'upper', apply: 'always' },
      ]);
      const said = encodeURIComponent('job = <seller>\njob = other = one\ngiven_name = Ada');
      const tried = await (await visitor.page(`${at}&said=${said}`)).text();
      assert.match(tried, /What the provider gives.*<code>Ada<\/code>.*<code>&#60;SELLER&#62;<\/code>, <code>OTHER = ONE<\/code>/s);
      const refused = await visitor.submit(at, { to: 'roles', from: 'upstream.job', apply: 'create' });
      assert.match(await refused.text(), /role="alert"[^>]*>.*&#34;roles&#34; cannot be written/);
      await visitor.act(at.replace('/mappings', '/mappings/remove'), { at: '0', to: 'title' });
      assert.deepEqual((await tenant.make('GET', `/identity-providers/${String(id)}`))['mappings'], []);
    });

    it('a row is removed, once, and only while it is what it was', async () => {
      await visitor.act('/mappings/remove?kind=oidc', { at: '0', to: 'another' });
      assert.equal((await rules()).length, 1);
      const page = await visitor.act('/mappings/remove?kind=oidc', { at: '0', to: 'department' });
      assert.match(page, /The rule for department was removed\./);
      assert.deepEqual(await rules(), []);
    });
  });
}
