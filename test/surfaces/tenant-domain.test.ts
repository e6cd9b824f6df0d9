// A tenant's own domain (design 13, 3): asked for by its owner, shown to be its own by a TXT record at a name server, put in force, given
// up; and what a reverse proxy is told that gets certificates at the first request of a name.
import assert from 'node:assert/strict';
import type { RequestListener } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { checkDomain, requestDomain } from '../../src/administration/tenant-domain.ts';
import type { TenantId } from '../../src/domain/ids.ts';
import { createOutbound } from '../../src/platform/net/outbound.ts';
import { makeIdentity } from '../support/certificates.ts';
import { createConsoleTenant, openConsole } from '../support/console.ts';
import { databases } from '../support/databases.ts';
import { startDns, type TestDns } from '../support/dns-server.ts';
import { callSystem, clientCredentialsToken, createTestTenant, type Json, type Managed, managedWith } from '../support/management.ts';
import { sendRaw } from '../support/raw-http.ts';
import { assertRefusal } from '../support/refusal.ts';
import { machineWith } from '../support/roles.ts';
import { manageRootTenant } from '../support/root-tenant.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

interface Pending {
  readonly domain: string;
  readonly verified_at: string | null;
  readonly records: readonly { readonly type: string; readonly name: string; readonly value: string }[];
}
const pendingOf = (json: Json): Pending => json['pending'] as Pending;

for (const database of databases) {
  describe(`a tenant's own domain on ${database}`, () => {
    let dns: TestDns;
    let server: TestServer;
    before(async () => {
      dns = await startDns();
      server = await startTestServer(database, { flags: { dns_servers: dns.address } });
    });
    after(async () => {
      await server?.close();
      await dns?.close();
    });
    const publish = (json: Json, change: (value: string) => string = (value) => value): void => {
      const { name = '', value = '' } = pendingOf(json).records.find(({ type }) => type === 'TXT') ?? {};
      dns.records.set(name, ['v=spf1 -all', change(value)]);
    };
    const ask = (tenant: Managed, domain: string): Promise<Json> => tenant.make('PUT', '/domain', { domain });
    const check = (tenant: Managed): Promise<Json> => tenant.make('POST', '/domain/check');
    const atHost = (host: string, path: string): Promise<Response> =>
      sendRaw(server.url, `GET ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
    const proxyIsTold = async (host: string): Promise<number> => {
      const told = await fetch(`${server.url}/health/domain?domain=${host}`);
      const named = await fetch(`${server.url}/health/domain?name=${host}`);
      assert.equal(
        await named.text().then((text) => text.replace(/"request_id":"[^"]*"/, '')),
        (await told.text()).replace(/"request_id":"[^"]*"/, ''),
      );
      assert.equal(named.status, told.status);
      return told.status;
    };

    it('is asked for, verified by its TXT record, put in force and given up', async () => {
      const tenant = await createTestTenant(server);
      const host = `${tenant.slug}.example`;
      assert.deepEqual(await tenant.make('GET', '/domain'), { domain: null, default_base_url: tenant.baseUrl, pending: null });
      const asked = await ask(tenant, host);
      const { domain, verified_at, records } = pendingOf(asked);
      assert.deepEqual([domain, verified_at], [`https://${host}`, null]);
      assert.deepEqual(
        records.map(({ type, name }) => [type, name]),
        [
          ['TXT', `_gatehouse.${host}`],
          ['CNAME', host],
        ],
      );
      assert.equal(records[1]?.value, new URL(server.url).hostname);

      assert.equal((await check(tenant))['txt'], 'missing');
      publish(asked, (value) => value.slice(0, -1));
      assert.equal((await check(tenant))['txt'], 'missing');
      await assertRefusal(await tenant.call('POST', '/domain/activate'), 'management.conflict', {
        ...{ text: 'The TXT record of the domain is not there.', kind: 'domain' },
      });
      assert.equal(await proxyIsTold(host), 404);

      publish(asked);
      const checked = await check(tenant);
      assert.deepEqual([checked['txt'], checked['https']], ['found', 'unresolved']);
      assert.notEqual(pendingOf(checked).verified_at, null);
      assert.equal(await proxyIsTold(host), 200, 'so that there is a certificate before the domain is in force');
      assert.equal((await atHost(host, `/t/${tenant.slug}/.well-known/openid-configuration`)).status, 200);
      dns.setBroken(true);
      assert.deepEqual([(await check(tenant))['txt'], await proxyIsTold(host)], ['unanswered', 200], 'silence changes nothing');
      dns.setBroken(false);
      dns.records.clear();
      assert.deepEqual([(await check(tenant))['txt'], await proxyIsTold(host)], ['missing', 404]);
      publish(asked);

      const active = await tenant.make('POST', '/domain/activate');
      assert.deepEqual(active, { domain: `https://${host}`, default_base_url: tenant.baseUrl, pending: null });
      const discovery = await (await atHost(host, '/.well-known/openid-configuration')).json();
      assert.equal((discovery as Json)['issuer'], `https://${host}`);
      assert.equal(await proxyIsTold(host), 200);
      assert.equal((await tenant.call('GET', '/users')).status, 401, 'a token of the old issuer');

      const token = await clientCredentialsToken(tenant.baseUrl, tenant.adminClientId, tenant.adminClientSecret);
      const moved = managedWith(token, tenant);
      assert.equal((await moved.make('GET', '/domain'))['domain'], `https://${host}`);
      await moved.make('DELETE', '/domain');
      assert.equal(await proxyIsTold(host), 404);
      assert.equal((await moved.call('GET', '/domain')).status, 401, 'a token of the domain');
      assert.equal((await tenant.make('GET', '/domain'))['domain'], null);
    });

    it('what is asked for is withdrawn before what is in force; without either there is nothing', async () => {
      const tenant = await createTestTenant(server);
      await assertRefusal(await tenant.call('DELETE', '/domain'), 'management.not_found');
      await ask(tenant, 'https://one.example');
      await ask(tenant, 'two.example');
      assert.equal(pendingOf(await tenant.make('GET', '/domain')).domain, 'https://two.example');
      await tenant.make('DELETE', '/domain');
      assert.equal((await tenant.make('GET', '/domain'))['pending'], null);
      for (const act of ['check', 'activate'])
        await assertRefusal(await tenant.call('POST', `/domain/${act}`), 'management.conflict', {
          text: 'No domain is asked for.',
          kind: 'domain',
        });
      const types = (await tenant.make<{ items: readonly Json[] }>('GET', '/events?type=domain.*')).items.map(({ type }) => type);
      assert.deepEqual(types.toSorted(), ['domain.requested', 'domain.requested', 'domain.withdrawn']);
    });

    it('the root tenant’s is put in force with its record and domain:write there, and never by /tenants', async () => {
      const root = await manageRootTenant(server);
      const host = 'operators.example';
      const asked = await ask(root, host);
      await assertRefusal(await root.call('POST', '/domain/activate'), 'management.conflict', {
        ...{ text: 'The TXT record of the domain is not there.', kind: 'domain' },
      });
      await assertRefusal(await callSystem(server, 'PATCH', `/tenants/${root.id}`, { domain: `https://${host}` }), 'management.conflict', {
        ...{ text: 'The root tenant changes its domain by /domain of its Management API, with a DNS record.', kind: 'domain' },
      });
      await assertRefusal(await callSystem(server, 'PATCH', `/tenants/${root.id}`, { enabled: false }), 'management.conflict', {
        ...{ text: 'The root tenant cannot be disabled.', kind: 'enabled' },
      });
      const own = { domain: `https://${new URL(server.url).host}` };
      const refused = { text: 'This is the public URL of the server.', kind: 'domain' };
      const other = await createTestTenant(server);
      await assertRefusal(await callSystem(server, 'PATCH', `/tenants/${other.id}`, own), 'management.conflict', refused);
      await assertRefusal(
        await callSystem(server, 'POST', '/tenants', { slug: 'own-host', name: 'x', ...own }),
        'management.conflict',
        refused,
      );
      const renamed = await callSystem(server, 'PATCH', `/tenants/${root.id}`, { name: 'Operators', domain: null, enabled: true });
      assert.equal(renamed.status, 200);
      publish(asked);
      assert.equal((await root.make('POST', '/domain/activate'))['domain'], `https://${host}`);
      const there = await callSystem(server, 'GET', `/tenants/${root.id}`);
      assert.equal(((await there.json()) as Json)['base_url'], `https://${host}`);
      await assertRefusal(await callSystem(server, 'PATCH', `/tenants/${root.id}`, { domain: null }), 'management.conflict', {
        ...{ text: 'The root tenant changes its domain by /domain of its Management API, with a DNS record.', kind: 'domain' },
      });
    });

    it('another name than asked for, another tenant’s record, and a domain in use are refused', async () => {
      const [tenant, other] = [await createTestTenant(server), await createTestTenant(server)];
      const host = `shared-${tenant.slug}.example`;
      const [mine, theirs] = [await ask(tenant, host), await ask(other, host)];
      publish(theirs);
      assert.equal((await check(tenant))['txt'], 'missing');
      publish(mine);
      await check(tenant);
      await callSystem(server, 'PATCH', `/tenants/${other.id}`, { domain: `https://${host}` });
      await assertRefusal(await tenant.call('POST', '/domain/activate'), 'management.conflict', {
        ...{ text: 'The domain is in use.', kind: 'domain' },
      });
      const publicUrl = 'https://id.example';
      const own = await requestDomain({ ...server.gatehouse.services, publicUrl }, tenant.id as TenantId, publicUrl, { actor: 'test' });
      assert.deepEqual(own, { ok: false, reason: 'own' });
      for (const domain of [new URL(server.url).hostname, `${new URL(server.url).hostname}:8443`])
        await assertRefusal(await tenant.call('PUT', '/domain', { domain }), 'management.conflict', {
          ...{ text: 'This is the public URL of the server.', kind: 'domain' },
        });
      for (const domain of ['http://plain.example', 'https://x.example/path', 'https://user@x.example', ''])
        await assertRefusal(await tenant.call('PUT', '/domain', { domain }), 'management.invalid_request', {
          ...{ text: 'This field must be an https origin such as https://login.acme.example.', kind: 'domain' },
        });
    });

    it('two that activate the same name at once: one gets it', async () => {
      const tenants = [await createTestTenant(server), await createTestTenant(server)];
      const host = `race-${tenants[0]!.slug}.example`;
      const values: string[] = [];
      for (const tenant of tenants) values.push(pendingOf(await ask(tenant, host)).records[0]!.value);
      dns.records.set(`_gatehouse.${host}`, values);
      const answers = await Promise.all(tenants.map((tenant) => tenant.call('POST', '/domain/activate')));
      assert.deepEqual(answers.map(({ status }) => status).toSorted(), [200, 409]);
    });

    it('is the owner’s to set: a machine without domain:write may look at most', async () => {
      const tenant = await createTestTenant(server);
      const reader = await machineWith(tenant, ['domain:read', 'settings:write']);
      assert.equal((await reader.call('GET', '/domain')).status, 200);
      for (const [method, path, body] of [
        ['PUT', '/domain', { domain: 'x.example' }],
        ['POST', '/domain/check', undefined],
        ['POST', '/domain/activate', undefined],
        ['DELETE', '/domain', undefined],
      ] as const)
        await assertRefusal(await reader.call(method, path, body), 'management.forbidden', {
          text: 'The token lacks the capability domain:write.',
        });
    });

    it('https is looked at: this server answers there, something else does', async () => {
      const tenant = await createTestTenant(server);
      const identity = await makeIdentity({ subject: 'CN=own.example', names: [{ type: 'dns', value: 'own.example' }], isAuthority: true });
      let answer: RequestListener = (_request, response) => void response.end('{"status":"ok"}');
      const secure = createServer({ key: identity.key, cert: identity.cert }, (request, response) => answer(request, response));
      await new Promise<void>((done) => secure.listen(0, '127.0.0.1', done));
      const { port } = secure.address() as AddressInfo; // listening on TCP
      try {
        publish(await ask(tenant, `https://own.example:${port}`));
        const outbound = createOutbound({
          allow: ['127.0.0.0/8'],
          resolve: async () => [{ address: '127.0.0.1', family: 4 }],
          ca: identity.cert,
        });
        const look = () => checkDomain({ ...server.gatehouse.services, outbound }, tenant.id as TenantId, { actor: 'test' });
        assert.equal((await look())?.https, 'answers');
        answer = (_request, response) => void response.end('<h1>Under construction</h1>');
        assert.equal((await look())?.https, 'other');
      } finally {
        secure.closeAllConnections();
        await new Promise((done) => secure.close(done));
      }
    });

    it('the console leads through it, and asks before the issuer changes', async () => {
      const { tenant, email } = await createConsoleTenant(server, { role: 'user', admin_roles: ['owner'] });
      const { visitor } = await openConsole(server, tenant, email);
      const host = `console-${tenant.slug}.example`;
      const refused = await visitor.submit('/domain', { domain: 'http://plain.example' });
      assert.equal(refused.status, 400);
      assert.match(await refused.text(), /id="field-domain" value="http:\/\/plain\.example" required aria-invalid="true"/);
      assert.match(await visitor.act('/domain', { domain: host }), /Add the DNS records, then check[\s\S]*_gatehouse\.console-/);
      const missing = await visitor.submit('/domain/check', {});
      assert.equal(missing.status, 400);
      assert.match(await missing.text(), /The TXT record is not there yet/);
      publish(await tenant.make('GET', '/domain'));
      assert.match(await visitor.act('/domain/check', {}), /The TXT record is there\. The name has no address yet/);
      assert.match(await (await visitor.submit('/domain/activate', {})).text(), /passkeys that were added at [\s\S]* stop working/);
      assert.match(await visitor.act('/domain/withdraw', {}), /The domain is no longer asked for/);
      await visitor.act('/domain', { domain: host });
      const moved = await visitor.submit('/domain/activate', { sure: 'yes' });
      assert.match(await moved.text(), new RegExp(`id="go-on" href="https://${host}/console"`));
    });
  });
}
