// When somebody last signed in (design 13, section 2): `last_sign_in_at` of people, clients and service providers in the Management API,
// and the columns of the console. To the minute, whatever the way in; tokens that are refreshed are no sign-in.
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { openBrowser } from '../support/browser.ts';
import { cibaGrantType, decide } from '../support/ciba.ts';
import { basic, postForm } from '../support/client-credentials.ts';
import { createConsoleTenant, openConsole } from '../support/console.ts';
import { databases } from '../support/databases.ts';
import { createClient, createUser, type TestUser } from '../support/fixtures.ts';
import { openLogin, signInByPin } from '../support/login.ts';
import { createTestUser, type Json, type Managed } from '../support/management.ts';
import { exchange, refresh, tokensOf } from '../support/oidc.ts';
import { roomyRate } from '../support/roomy-rate.ts';
import { manageRootTenant } from '../support/root-tenant.ts';
import { openSamlIdp, samlFlags } from '../support/saml-idp.ts';
import { buildRedirectQuery } from '../support/saml-requests.ts';
import { openSsoWorld } from '../support/sso.ts';

for (const database of databases) {
  describe(`last sign-ins on ${database}`, async () => {
    const { server, tenant, client, signIn, signInAt, locationOf, authorize, settings, manager } = await openSsoWorld(database, samlFlags);
    let api: Managed;
    let ada: TestUser;
    before(async () => {
      api = await manager();
    });
    after(() => server.close());
    beforeEach(async () => {
      ada = await createUser(server.gatehouse.services, tenant);
    });

    const timeOf = async (path: string, of: Managed = api): Promise<unknown> => {
      await server.gatehouse.services.activity.flush();
      return (await of.make('GET', path))['last_sign_in_at'];
    };
    /** Of a moment ago: the clock of a test goes on by itself. */
    const assertNow = (time: unknown): void => {
      const ageMs = server.clock.nowMs() - Date.parse(String(time));
      assert.ok(ageMs >= 0 && ageMs < 20_000, `expected a time of the last seconds, found ${String(time)}`);
    };

    it('a sign-in is told of the person and of the application, read alone and in lists; nobody else has one', async () => {
      assert.equal(await timeOf(`/users/${ada.id}`), undefined);
      const other = await createClient(server.gatehouse.services, tenant);
      await signIn(openBrowser(), ada);
      const at = await timeOf(`/users/${ada.id}`);
      assertNow(at);
      assert.equal(await timeOf(`/clients/${client.clientId}`), at);
      assert.equal(await timeOf(`/clients/${other.clientId}`), undefined);
      for (const query of ['', 'sort=name&']) {
        const { items } = await api.make<{ items: readonly Json[] }>('GET', `/users?${query}limit=200`);
        assert.equal(items.find(({ id }) => id === ada.id)?.['last_sign_in_at'], at, query);
      }
      const { items } = await api.make<{ items: readonly Json[] }>('GET', '/clients?limit=200');
      assert.equal(items.find(({ client_id: id }) => id === client.clientId)?.['last_sign_in_at'], at);
      assert.equal('last_sign_in_at' in items.find(({ client_id: id }) => id === other.clientId)!, false);
    });

    it('is to the minute: one less stays, one later moves it; refreshed tokens do not', async () => {
      const browser = openBrowser();
      const code = (await signIn(browser, ada)).searchParams.get('code') ?? '';
      const first = await tokensOf(await exchange(tenant, client, code));
      const at = await timeOf(`/users/${ada.id}`);
      await server.clock.advance(40_000);
      assert.ok((await authorize(browser)).headers.get('location')?.includes('code='));
      assert.equal(await timeOf(`/users/${ada.id}`), at);
      await server.clock.advance(20_000);
      await tokensOf(await refresh(tenant, client, first.refresh_token));
      assert.equal(await timeOf(`/users/${ada.id}`), at);
      assert.ok((await authorize(browser)).headers.get('location')?.includes('code='));
      assertNow(await timeOf(`/users/${ada.id}`));
      assertNow(await timeOf(`/clients/${client.clientId}`));
    });

    it('a client is used by each token it gets, refreshed ones and its own among them: told to the hour, and not of one that is refused', async () => {
      const used = async (id: string): Promise<unknown> => {
        await server.gatehouse.services.activity.flush();
        return (await api.make('GET', `/clients/${id}`))['last_used_at'];
      };
      const machine = await createClient(server.gatehouse.services, tenant, {
        grantTypes: ['client_credentials'],
        scopes: ['users:read'],
      });
      const ask = async (secret: string): Promise<number> => {
        const own = basic(machine.clientId, secret);
        return (await postForm(`${tenant.baseUrl}/v1/idp/oidc/token`, { grant_type: 'client_credentials' }, own)).status;
      };
      assert.equal(await ask('wrong'), 401);
      assert.equal(await used(machine.clientId), undefined);
      assert.equal(await ask(machine.secret ?? ''), 200);
      const at = await used(machine.clientId);
      assertNow(at);
      assert.equal(await timeOf(`/clients/${machine.clientId}`), undefined);
      const { items } = await api.make<{ items: readonly Json[] }>('GET', '/clients?limit=200');
      assert.equal(items.find(({ client_id: id }) => id === machine.clientId)?.['last_used_at'], at);
      const later = async (ms: number): Promise<void> => {
        await server.clock.advance(ms);
        api = await manager(); // its token may be over
      };
      await later(3_500_000);
      assert.equal(await ask(machine.secret ?? ''), 200);
      assert.equal(await used(machine.clientId), at);
      await later(100_000);
      assert.equal(await ask(machine.secret ?? ''), 200);
      assertNow(await used(machine.clientId));

      const code = (await signIn(openBrowser(), ada)).searchParams.get('code') ?? '';
      const first = await tokensOf(await exchange(tenant, client, code));
      const signedIn = await used(client.clientId);
      await later(3_600_000);
      await tokensOf(await refresh(tenant, client, first.refresh_token));
      assert.notEqual(await used(client.clientId), signedIn);
      assertNow(await used(client.clientId));
      assert.equal((await api.call('PATCH', `/clients/${machine.clientId}`, { last_used_at: new Date().toISOString() })).status, 400);
    });

    it('one that is refused is none', async () => {
      const closed = await createClient(server.gatehouse.services, tenant, { accessPolicy: 'assigned' });
      const browser = openBrowser();
      await signIn(browser, ada);
      const before = await timeOf(`/users/${ada.id}`);
      await server.clock.advance(60_000);
      assert.match((await authorize(browser, {}, closed)).headers.get('location') ?? '', /error=access_denied/);
      assert.equal(await timeOf(`/clients/${closed.clientId}`), undefined);
      assert.equal(await timeOf(`/users/${ada.id}`), before);
    });

    it('CIBA: when the tokens are taken', async () => {
      await settings({ rate_limits: { approvals_pending_per_user: roomyRate, approvals_per_user: roomyRate } });
      const ciba = await createClient(server.gatehouse.services, tenant, {
        grantTypes: [cibaGrantType],
        backchannelTokenDeliveryMode: 'poll',
      });
      const caller = basic(ciba.clientId, ciba.secret);
      const url = `${tenant.baseUrl}/v1/idp/oidc`;
      const started = await postForm(`${url}/bc-authorize`, { scope: 'openid', login_hint: ada.email }, caller);
      const { auth_req_id: id } = (await started.json()) as { auth_req_id: string };
      await decide(server, tenant, ada, 'approve');
      assert.equal(await timeOf(`/clients/${ciba.clientId}`), undefined);
      assert.equal((await postForm(`${url}/token`, { grant_type: cibaGrantType, auth_req_id: id }, caller)).status, 200);
      assertNow(await timeOf(`/clients/${ciba.clientId}`));
      assertNow(await timeOf(`/users/${ada.id}`));
    });

    it('SAML: of the service provider', async () => {
      const idp = await openSamlIdp(server);
      await idp.register({ entity_id: 'https://sp.example', name: 'Payroll' });
      const user = await createUser(server.gatehouse.services, idp.tenant);
      const query = buildRedirectQuery(idp.request({ issuer: 'https://sp.example' }), {});
      await signInByPin(server, openLogin(await idp.get(query, { accept: 'text/html' })), user.email);
      const of = await manageRootTenant(server);
      const { items } = await of.make<{ items: readonly Json[] }>('GET', '/service-providers');
      assertNow(await timeOf(`/service-providers/${items[0]?.['id']}`, of));
      assertNow(await timeOf(`/users/${user.id}`, of));
      const { items: listed } = await of.make<{ items: readonly Json[] }>('GET', '/service-providers');
      assertNow(listed[0]?.['last_sign_in_at']);
    });

    it('goes with the person and with the application', async () => {
      const gone = await createClient(server.gatehouse.services, tenant);
      const browser = openBrowser();
      await signInAt(browser, locationOf(await authorize(browser, {}, gone)).href, ada);
      server.gatehouse.services.activity.noteUse(tenant.id, gone.clientId);
      assertNow(await timeOf(`/clients/${gone.clientId}`));
      await api.make('DELETE', `/clients/${gone.clientId}`);
      await api.make('DELETE', `/users/${ada.id}`);
      const left = await server.gatehouse.services.database.read(tenant.id, (queries) =>
        queries
          .selectFrom('last_sign_ins')
          .select('id')
          .where('tenant_id', '=', tenant.id)
          .where('id', 'in', [gone.clientId, ada.id])
          .execute(),
      );
      assert.deepEqual(left, []);
    });

    it('writing it is refused, as any property the server writes', async () => {
      const answer = await api.call('PATCH', `/users/${ada.id}`, { last_sign_in_at: new Date().toISOString() });
      assert.equal(answer.status, 400);
    });

    it('the console shows it of applications and people, in lists, on their own pages and as CSV', async () => {
      const { tenant: own, email } = await createConsoleTenant(server, { display_name: 'Ada Lovelace' });
      const quiet = await createTestUser(own, 'quiet@x.example', { display_name: 'Quiet' });
      const { visitor } = await openConsole(server, own, email);
      await server.gatehouse.services.activity.flush();
      const { items } = await own.make<{ items: readonly Json[] }>('GET', `/users?search=${email}`);
      const at = String(items[0]?.['last_sign_in_at']);
      assertNow(at);
      const show = async (path: string): Promise<string> => (await visitor.page(path)).text();
      const rowOf = (page: string, name: string): string => page.split('<tr>').find((row) => row.includes(`>${name}</a>`)) ?? '';
      const people = await show('/users');
      assert.match(people, /<th scope="col">Last sign-in<\/th>/);
      assert.ok(rowOf(people, 'Ada Lovelace').includes(`data-label="Last sign-in"><time datetime="${at}">`));
      assert.ok(rowOf(people, 'Quiet').includes('data-label="Last sign-in"><span class="muted">none known</span>'));
      assert.match(await show(`/users/${quiet.id}`), /<dt>Last sign-in<\/dt><dd><span class="muted">none known<\/span><\/dd>/);
      const applications = await show('/clients');
      assert.match(applications, /gatehouse-console[\s\S]*?data-label="Last used"><time datetime="/);
      assert.match(await show('/service-providers'), /No SAML applications yet/);
      const csv = await show('/users/export');
      assert.match(csv.split('\r\n', 1)[0] ?? '', /last_sign_in_at/);
      assert.ok(csv.includes(at));
    });
  });
}
