// What a person approved and nobody redeemed yet (a sign-in that was not finished, a CIBA request, a device's code, a further phone): it
// ends with all sessions of the person, and with the phone or passkey that approved it, as a code that was not redeemed does.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Tenant } from '../../src/domain/tenant/tenant.ts';
import { createPerson, domainTenant, phoneOf } from '../support/account.ts';
import { cibaGrantType, reachesLoopback } from '../support/ciba.ts';
import { databases } from '../support/databases.ts';
import { redeemedPhone, type TestUser } from '../support/enrolled-phone.ts';
import { openApp } from '../support/first-party-app.ts';
import { createClient, type TestClient } from '../support/fixtures.ts';
import { type HookReceiver, silent, startHookReceiver } from '../support/hook-receiver.ts';
import { beginLogin, type TestLogin } from '../support/login.ts';
import { createTestTenant, type Json, jsonOf, type Managed } from '../support/management.ts';
import { postAs, tokensOf } from '../support/oidc.ts';
import { askForPasskey, givePasskey, signInByPasskey, stateOf } from '../support/passkeys.ts';
import { createPhone, type Phone } from '../support/phone.ts';
import { assertRefusal } from '../support/refusal.ts';
import { roomyRate } from '../support/roomy-rate.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

const deviceGrant = 'urn:ietf:params:oauth:grant-type:device_code';
const settings = {
  login_methods: ['passkey', 'phone', 'email_pin'],
  extra_grants: [deviceGrant],
  device: { additional_device: 'existing_device' },
  rate_limits: { login_starts_per_ip: roomyRate },
};

interface Item extends Json {
  readonly id: string;
  readonly context_sha256: string;
}

for (const database of databases)
  describe(`approved and not redeemed on ${database}`, () => {
    let server: TestServer;
    let receiver: HookReceiver;
    let managed: Managed;
    let tenant: Tenant;
    let client: TestClient;
    before(async () => {
      server = await startTestServer(database, { flags: reachesLoopback });
      receiver = await startHookReceiver();
      managed = await createTestTenant(server, { settings });
      tenant = await domainTenant(server, managed);
      client = await createClient(server.gatehouse.services, tenant, {
        grantTypes: ['authorization_code', 'refresh_token', cibaGrantType, deviceGrant],
        backchannelTokenDeliveryMode: 'poll',
      });
    });
    after(async () => {
      await server.close();
      await receiver.close();
    });

    const approve = async (phone: Phone, match?: unknown): Promise<Response> => {
      const { items } = await jsonOf<{ readonly items: readonly Item[] }>(await phone.get('/approvals'), 200);
      const { id, context_sha256 } = items.at(-1)!;
      return phone.post(`/approvals/${id}/approve`, { context_sha256, ...(match === undefined ? {} : { match }) }, { purpose: 'uv' });
    };
    const approvedLogin = async (person: TestUser, phone: Phone): Promise<TestLogin> => {
      const login = await beginLogin(server, tenant, client);
      await jsonOf(await login.post('identify', { identifier: person.email }), 200);
      const { number } = await jsonOf(await login.post('method', { method: 'phone' }), 200);
      await jsonOf(await approve(phone, number), 200);
      assert.equal(await stateOf(login), 'approved');
      return login;
    };
    const startCiba = async (person: TestUser): Promise<string> =>
      String(
        (await jsonOf(await postAs(tenant, client, 'bc-authorize', { scope: 'openid', login_hint: person.email }), 200))['auth_req_id'],
      );
    const approvedCiba = async (person: TestUser, phone: Phone): Promise<string> => {
      const id = await startCiba(person);
      await jsonOf(await approve(phone), 200);
      return id;
    };
    const poll = (id: string): Promise<Response> => postAs(tenant, client, 'token', { grant_type: cibaGrantType, auth_req_id: id });
    const approvedDevice = async (person: TestUser): Promise<string> => {
      const passkey = await givePasskey(server, tenant, person);
      const { visitor } = await openApp(server, 'account', managed, person.email, (login) => signInByPasskey(login, person.email, passkey));
      const started = await jsonOf(await postAs(tenant, client, 'device-authorization', { scope: 'openid' }), 200);
      const decided = await visitor.submit('/device/decision', { user_code: String(started['user_code']), decision: 'allow' });
      assert.equal(decided.status, 200);
      return String(started['device_code']);
    };
    const pollDevice = (code: string): Promise<Response> => postAs(tenant, client, 'token', { grant_type: deviceGrant, device_code: code });
    const revoke = (phone: Phone): Promise<unknown> => managed.make('DELETE', `/devices/${phone.deviceId}`);
    const newcomer = async (): Promise<{ readonly person: TestUser; readonly phone: Phone }> => {
      const person = await createPerson(managed);
      return { person, phone: await phoneOf(server, managed, person) };
    };

    const ends: readonly (readonly [string, (person: TestUser) => Promise<unknown>])[] = [
      ['all sessions of the person', (person) => managed.make('DELETE', `/users/${person.id}/sessions`)],
      [
        'a suspension, also one that is over',
        async (person) => {
          await managed.make('POST', `/users/${person.id}/suspend`);
          await managed.make('POST', `/users/${person.id}/activate`);
        },
      ],
      [
        'the use of a recovery',
        async (person) => {
          const made = await managed.make('POST', `/users/${person.id}/recoveries`, { reason: 'Lost phone', mail: false });
          const body = new URLSearchParams({ token: String(made['recovery_url']).split('#')[1]! });
          const used = await fetch(`${managed.baseUrl}/welcome`, { method: 'POST', redirect: 'manual', body });
          assert.equal(used.status, 303);
        },
      ],
    ];
    for (const [end, come] of ends)
      it(`${end} ends it: a sign-in, a CIBA request and a device's code that were approved`, async () => {
        const { person, phone } = await newcomer();
        const code = await approvedDevice(person);
        const id = await approvedCiba(person, phone);
        const login = await approvedLogin(person, phone);
        await come(person);
        await assertRefusal(await login.post('finish'), 'login.conflict');
        assert.equal(await stateOf(login), 'waiting');
        await assertRefusal(await poll(id), 'ciba.expired_token', { text: 'auth_req_id has expired.' });
        await assertRefusal(await pollDevice(code), 'device_grant.code_invalid');
      });

    it('a phone that is revoked takes along what it approved, and nothing else', async () => {
      const { person, phone } = await newcomer();
      const { phone: further, redeemed } = await redeemedPhone(server, person, createPhone(managed.baseUrl, server.clock.nowMs));
      const enrol = (): Promise<Response> => {
        const proofs = further.proofs(redeemed.attestation.challenge);
        return further.post('/enroll', { registration_token: redeemed.registration_token, proofs });
      };
      const { number } = await jsonOf(await enrol(), 202);
      await jsonOf(await approve(phone, number), 200);
      const id = await approvedCiba(person, phone);
      const login = await approvedLogin(person, phone);
      const code = await approvedDevice(person);
      await revoke(phone);
      await assertRefusal(await enrol(), 'device.device_denied');
      await assertRefusal(await poll(id), 'ciba.expired_token', { text: 'auth_req_id has expired.' });
      await assertRefusal(await login.post('finish'), 'login.conflict');
      // Here the person may still come in by another way.
      assert.equal((await login.post('method', { method: 'email_pin' })).status, 200);
      await tokensOf(await pollDevice(code));
    });

    it('so does a passkey', async () => {
      const person = await createPerson(managed);
      const passkey = await givePasskey(server, tenant, person);
      const login = await beginLogin(server, tenant, client);
      const response = passkey.sign(await askForPasskey(login, person.email));
      assert.deepEqual(await jsonOf(await login.post('passkey', { response }), 200), { state: 'approved' });
      await managed.make('DELETE', `/users/${person.id}/passkeys/${passkey.id}`);
      await assertRefusal(await login.post('finish'), 'login.conflict');
    });

    const endsOfPhones: readonly (readonly [string, (person: TestUser, phone: Phone) => Promise<unknown>])[] = [
      ['that is revoked', (_person, phone) => revoke(phone)],
      ['whose person is suspended', (person) => managed.make('POST', `/users/${person.id}/suspend`)],
    ];
    for (const [end, come] of endsOfPhones)
      it(`a phone ${end} while a hook is asked approves nothing`, async () => {
        const { person, phone } = await newcomer();
        const hook = await managed.make('POST', '/hooks', { point: 'sign_in', url: receiver.url, on_failure: 'refuse', deadline_ms: 3000 });
        receiver.reply = async () => {
          await come(person, phone);
          return silent;
        };
        const id = await startCiba(person);
        await assertRefusal(await approve(phone), 'device.key_revoked');
        await assertRefusal(await poll(id), 'ciba.authorization_pending');
        await managed.make('DELETE', `/hooks/${String(hook['id'])}`);
      });
  });
