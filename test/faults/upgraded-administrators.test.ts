// What people administer by, brought from the releases before the floor under administrators (design 17): owners who have nothing but a
// mailed code, roles, other providers and the tenant's mail server. Made by the real code of those releases; nobody is locked out.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { capabilities } from '../../src/domain/people/capabilities.ts';
import { createTestDatabase, databases, type TestDatabase } from '../support/databases.ts';
import { openApp } from '../support/first-party-app.ts';
import { runGatehouse, serveEmbedded } from '../support/gatehouse-process.ts';
import { clientCredentialsToken, createTestTenant, type Json, type Managed, managedWith } from '../support/management.ts';
import { launcherOf, type PastRelease } from '../support/past-release.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

interface Past {
  readonly release: PastRelease;
  /** Who administers, by the role they were given. */
  readonly administrators: readonly string[];
  /** What is made beside people, in the words of that release. */
  readonly make: (tenant: Managed) => Promise<void>;
  /** Gives a person the role. */
  readonly appoint: (tenant: Managed, user: Json, role: string) => Promise<void>;
}

const emailOf = (role: string): string => `${role}@acme.example`;
const providerBody = {
  ...{ alias: 'company', name: 'Company', kind: 'oidc', issuer: 'https://login.company.example', client_id: 'gatehouse' },
  client_secret: 'the secret of the company',
};
const mailServer = { host: 'smtp.acme.example', port: 587, security: 'starttls', from: 'Acme <login@acme.example>', username: 'acme' };

const pasts: readonly Past[] = [
  {
    release: '0.1.0',
    administrators: ['admin'],
    make: async () => undefined,
    appoint: (tenant, { id }, role) => tenant.make('PATCH', `/users/${String(id)}`, { role }),
  },
  {
    release: '0.1.0 with roles',
    administrators: ['owner', 'admin', 'settler'],
    make: async (tenant) => {
      await tenant.make('POST', '/roles', { name: 'settler', capabilities: ['users:read', 'settings:read', 'settings:write'] });
      await tenant.make('POST', '/identity-providers', providerBody);
      await tenant.make('PUT', '/mail-server', { ...mailServer, password: 'the secret of the mail server' });
    },
    appoint: (tenant, { id }, role) => tenant.make('PUT', `/users/${String(id)}/roles`, { roles: [role] }),
  },
];

for (const name of databases)
  for (const past of pasts) {
    const launcher = launcherOf(past.release);
    if (launcher === undefined) continue;
    describe(`administrators of release ${past.release} on ${name}`, () => {
      let own: TestDatabase;
      let server: TestServer;
      let tenant: Managed;
      before(async () => {
        let made: Managed | undefined;
        own = await createTestDatabase(name, async ({ dataFolder, databaseUrl }) => {
          const environment: Record<string, string> = databaseUrl === undefined ? {} : { GATEHOUSE_DATABASE_URL: databaseUrl };
          if (databaseUrl !== undefined) {
            const { code, stderr } = await runGatehouse(dataFolder, { launcher, args: ['migrate'], environment }).ended;
            assert.equal(code, 0, stderr);
          }
          const node = serveEmbedded(dataFolder, { launcher, environment });
          try {
            made = await createTestTenant(
              { url: await node.ready, clock: { nowMs: Date.now, advance: async () => undefined } },
              { settings: { login_methods: ['email_pin'] } },
            );
            await past.make(made);
            for (const role of past.administrators) {
              const email = emailOf(role);
              const user = await made.make('POST', '/users', { user_name: email, emails: [{ value: email, primary: true }] });
              await past.appoint(made, user, role);
            }
          } finally {
            node.signal('SIGTERM');
          }
          assert.equal((await node.ended).code, 0, node.stderr());
        });
        server = await startTestServer(name, { database: own });
        const { adminClientId, adminClientSecret, ...at } = made!;
        const moved = (url: string): string => url.replace(new URL(url).origin, server.url);
        const baseUrl = moved(at.baseUrl);
        const token = await clientCredentialsToken(baseUrl, adminClientId, adminClientSecret);
        tenant = managedWith(token, { ...made!, baseUrl, managementApi: moved(at.managementApi) });
      });
      after(async () => {
        await server?.close();
        await own?.drop();
      });

      for (const role of past.administrators)
        it(`${role}, who has only a mailed code, comes into the console by it`, async () => {
          const { callback, first } = await openApp(server, 'console', tenant, emailOf(role));
          assert.equal(callback.status, 303, await callback.text());
          assert.equal(first.status, 200);
        });

      it('roles allow what they allowed, but for what decides how people sign in', async () => {
        const { items } = await tenant.make<{
          readonly items: readonly { readonly name: string; readonly capabilities: readonly string[] }[];
        }>('GET', '/roles');
        const of = (role: string): readonly string[] => items.find(({ name: one }) => one === role)?.capabilities ?? [];
        assert.deepEqual([...of('owner')].sort(), [...capabilities].filter((one) => !one.startsWith('tenants:')).sort()); // of the root tenant
        for (const one of ['settings:write', 'sign-in:read', 'sign-in:write']) assert.ok(of('admin').includes(one), one);
        if (past.administrators.includes('settler'))
          assert.deepEqual([...of('settler')].sort(), ['settings:read', 'settings:write', 'users:read']);
      });

      if (past.release !== '0.1.0')
        it('providers and the mail server are as they were, and their secrets stay where they were given for', async () => {
          const { items } = await tenant.make<{ readonly items: readonly Json[] }>('GET', '/identity-providers');
          assert.deepEqual(
            items.map(({ alias, issuer, enabled }) => [alias, issuer, enabled]),
            [['company', providerBody.issuer, true]],
          );
          const id = String(items[0]!['id']);
          await tenant.make('PATCH', `/identity-providers/${id}`, { name: 'Another name' });
          assert.equal((await tenant.call('PATCH', `/identity-providers/${id}`, { issuer: 'https://elsewhere.example' })).status, 400);
          const { host, port, from } = (await tenant.make<{ readonly server: Json }>('GET', '/mail-server')).server;
          assert.deepEqual([host, port, from], [mailServer.host, mailServer.port, mailServer.from]);
          assert.equal((await tenant.call('PUT', '/mail-server', { ...mailServer, host: 'elsewhere.example' })).status, 400);
        });
    });
  }
