// Sign-ins elsewhere (CIBA) for an organisation (design 19): who is no member is as unknown as anybody; polled and pushed tokens say it, and
// are refused once the person has left.
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import type { Client } from '../../src/domain/client/client.ts';
import type { Tenant } from '../../src/domain/tenant/tenant.ts';
import { cibaGrantType, decide, type Receiver, reachesLoopback, startReceiver } from '../support/ciba.ts';
import { databases } from '../support/databases.ts';
import { eventually } from '../support/eventually.ts';
import { createClient, createUser, type TestClient, type TestUser } from '../support/fixtures.ts';
import { createTestTenant, type Json, type Managed } from '../support/management.ts';
import { decodeJwt, type Form, postAs, type Tokens, tokensOf } from '../support/oidc.ts';
import { assertRefusal } from '../support/refusal.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

for (const database of databases)
  describe(`CIBA for an organisation on ${database}`, () => {
    let server: TestServer;
    let managed: Managed;
    let tenant: Tenant;
    let receiver: Receiver;
    let client: TestClient;
    let ada: TestUser;
    let acme: Json;
    let made = 0;
    before(async () => {
      server = await startTestServer(database, { flags: reachesLoopback });
      receiver = await startReceiver();
      managed = await createTestTenant(server, { settings: { login_methods: ['email_pin'] } });
      await managed.make('POST', '/organization-roles', { name: 'approver', scopes: ['orders:approve'] });
      client = await make();
    });
    after(async () => {
      await receiver?.close();
      await server?.close();
    });
    beforeEach(async () => {
      made += 1;
      const own = { alias: `acme-${made}`, kind: 'oidc', name: 'Acme', issuer: 'https://login.acme.example', client_id: 'x' };
      await managed.make('POST', '/identity-providers', own);
      acme = await managed.make('POST', '/organizations', { name: `acme-${made}`, identity_providers: [own.alias] });
      tenant = (await server.gatehouse.services.tenants.bySlug(managed.slug))!;
      ada = await createUser(server.gatehouse.services, tenant);
    });
    const make = async (changes: Partial<Client> = {}): Promise<TestClient> =>
      createClient(server.gatehouse.services, (await server.gatehouse.services.tenants.bySlug(managed.slug))!, {
        grantTypes: [cibaGrantType, 'refresh_token'],
        backchannelTokenDeliveryMode: 'poll',
        backchannelClientNotificationEndpoint: receiver.url,
        scopes: ['openid', 'offline_access', 'orders:approve'],
        ...changes,
      });
    const memberPath = (): string => `/organizations/${String(acme['id'])}/members/${ada.id}`;
    const scope = 'openid offline_access orders:approve';
    const start = (form: Form, by = client): Promise<Response> =>
      postAs(tenant, by, 'bc-authorize', { scope, login_hint: ada.email, ...form });
    const started = async (form: Form, by = client): Promise<string> => {
      const response = await start(form, by);
      assert.equal(response.status, 200);
      return String(((await response.json()) as Json)['auth_req_id']);
    };
    const poll = (authReqId: string): Promise<Response> =>
      postAs(tenant, client, 'token', { grant_type: cibaGrantType, auth_req_id: authReqId });
    const claimsOf = (token: string): Json => {
      const { org_id, org_name, org_roles, scope: granted } = decodeJwt(token).claims;
      return { org_id, org_name, org_roles, scope: granted };
    };
    const said = (): Json => ({ org_id: acme['id'], org_name: acme['name'], org_roles: ['approver'], scope });

    it('an unknown or disabled one is an invalid request; who is no member is unknown', async () => {
      await managed.make('PUT', memberPath(), {});
      await managed.make('PATCH', `/organizations/${String(acme['id'])}`, { enabled: false });
      for (const organization of ['no-such', String(acme['name'])])
        await assertRefusal(await start({ organization }), 'ciba.invalid_request', { text: 'The organization is unknown.' });
      await managed.make('PATCH', `/organizations/${String(acme['id'])}`, { enabled: true });
      assert.equal((await managed.call('DELETE', memberPath())).status, 204);
      const outside = await assertRefusal(await start({ organization: String(acme['name']) }), 'ciba.unknown_user_id');
      const nobody = await assertRefusal(
        await start({ organization: String(acme['name']), login_hint: 'nobody@x.example' }),
        'ciba.unknown_user_id',
      );
      assert.equal(outside, nobody);
    });

    it('where people come by the organisation’s own provider, or by what is stronger than they have, nobody is asked elsewhere', async () => {
      await managed.make('PUT', memberPath(), {});
      const path = `/organizations/${String(acme['id'])}`;
      const refused = new Set<string>();
      for (const rule of [{ sign_in: 'own_providers' }, { sign_in: 'any', acr_min: 'phr' }, { acr_min: 'phone' }]) {
        await managed.make('PATCH', path, rule);
        refused.add(await assertRefusal(await start({ organization: String(acme['name']) }), 'ciba.unknown_user_id'));
      }
      refused.add(await assertRefusal(await start({ login_hint: 'nobody@x.example' }), 'ciba.unknown_user_id'));
      assert.equal(refused.size, 1);
      await managed.make('PATCH', path, { acr_min: 'otp' });
      await started({ organization: String(acme['name']) });
      await managed.make('PATCH', path, { acr_min: null });
    });

    it('polled tokens and their refresh are for it; without the parameter a scope of a role is left out', async () => {
      await managed.make('PUT', memberPath(), { roles: ['approver'] });
      const request = await started({ organization: String(acme['id']) });
      await decide(server, tenant, ada, 'approve');
      const tokens = await tokensOf(await poll(request));
      assert.deepEqual(claimsOf(tokens.access_token), said());
      const next = await tokensOf(
        await postAs(tenant, client, 'token', { grant_type: 'refresh_token', refresh_token: tokens.refresh_token }),
      );
      assert.deepEqual(claimsOf(next.access_token), said());
      const plain = await started({});
      await decide(server, tenant, ada, 'approve');
      assert.deepEqual(claimsOf((await tokensOf(await poll(plain))).access_token), {
        org_id: undefined,
        org_name: undefined,
        org_roles: undefined,
        scope: 'openid offline_access',
      });
    });

    it('who leaves between the yes and the poll has an invalid grant', async () => {
      await managed.make('PUT', memberPath(), {});
      const request = await started({ organization: String(acme['id']) });
      await decide(server, tenant, ada, 'approve');
      const left = await managed.call('DELETE', memberPath());
      assert.equal(left.status, 204);
      await assertRefusal(await poll(request), 'ciba.auth_req_id_invalid');
    });

    it('pushed tokens are for it, and fail once the person has left', async () => {
      const pushed = await make({ backchannelTokenDeliveryMode: 'push' });
      await managed.make('PUT', memberPath(), { roles: ['approver'] });
      const hear = async (): Promise<Json & Partial<Tokens>> => {
        await eventually(() => receiver.received.length > 0);
        return JSON.parse(receiver.received.shift()!.body) as Json & Partial<Tokens>;
      };
      await started({ organization: String(acme['id']), client_notification_token: 'token-of-the-client-0123' }, pushed);
      await decide(server, tenant, ada, 'approve');
      assert.deepEqual(claimsOf((await hear()).access_token!), said());
      const second = await createUser(server.gatehouse.services, tenant);
      ada = second;
      await managed.make('PUT', memberPath(), {});
      await started({ organization: String(acme['id']), client_notification_token: 'token-of-the-client-0123' }, pushed);
      await managed.call('DELETE', memberPath());
      await decide(server, tenant, ada, 'approve');
      assert.equal((await hear())['error'], 'transaction_failed');
    });
  });
