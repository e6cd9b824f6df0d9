// The whole story of a phone against a running server, by HTTP alone: signup by email, PIN, enrolment with attestation, a
// browser sign-in approved on the phone, CIBA approved there and pushed, rotation with an old-key request in overlap, suspension by management, wipe.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { type Attestor, createDevice, type Device, DeviceError, memoryStore, type PhoneState, type StateStore } from '../../sdk/device.ts';
import { createSoftwareVault } from '../../sdk/node.ts';
import { makeAppleKey, makeAuthority, pemOf } from '../support/attestation-ca.ts';
import { cibaGrantType, type Receiver, reachesLoopback, runDeliveries, startReceiver } from '../support/ciba.ts';
import { databases } from '../support/databases.ts';
import { changeSettings, unlimited } from '../support/enrolled-phone.ts';
import { openLogin, type TestLogin } from '../support/login.ts';
import { mailsTo, pinOf } from '../support/mailbox.ts';
import { createTestClient, createTestTenant, jsonOf, type Managed } from '../support/management.ts';
import { challenge, decodeJwt, redirectUri, type Tokens, verifier } from '../support/oidc.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

const authority = makeAuthority('Apple');
const appId = 'TEAM123456.org.example.app';
const email = 'ada@example.com';

for (const database of databases) {
  describe(`the story of a phone, ${database}`, () => {
    it('from signup to wipe', async () => {
      const folder = mkdtempSync(join(tmpdir(), 'gatehouse-story-'));
      writeFileSync(join(folder, 'apple.pem'), pemOf(authority.root.certificate));
      const server = await startTestServer(database, { flags: { ...reachesLoopback, attestation_roots_apple: join(folder, 'apple.pem') } });
      const receiver = await startReceiver();
      try {
        const tenant = await createTestTenant(server);
        const attestation = { mode: 'enforce', apple: { app_ids: [appId] } };
        await changeSettings(server, { ...unlimited, signup_enabled: true, attestation }, tenant.id);
        const attest: { current: Attestor | undefined } = { current: undefined };
        const { device } = phoneOf(server, tenant, attest);
        const userId = await signUp(server, device, attest);
        const tokens = await signInWithPhone(tenant, device);
        const { claims } = decodeJwt(tokens.id_token!);
        assert.deepEqual([claims['sub'], claims['amr'], claims['acr']], [userId, ['hwk', 'user'], 'phone']);
        await payWithPhone(server, tenant, device, receiver);
        await rotateWithOldKeyInOverlap(device);
        await suspendAndWipe(tenant, device, userId);
      } finally {
        await server.close();
        await receiver.close();
        rmSync(folder, { recursive: true });
      }
    });
  });
}

function phoneOf(server: TestServer, tenant: Managed, attest: { readonly current: Attestor | undefined }) {
  const store: StateStore<PhoneState> = memoryStore();
  const keys = memoryStore<Readonly<Record<string, string>>>();
  const vault = createSoftwareVault(keys);
  // An old key must outlive its rotation here, so that a late request can be signed with it.
  const keeping = { ...vault, remove: async () => undefined };
  const attestor: Attestor = (input) => (attest.current === undefined ? Promise.resolve({}) : attest.current(input));
  return { device: createDevice({ baseUrl: tenant.baseUrl, store, vault: keeping, attestor, now: server.clock.nowMs }) };
}

async function signUp(server: TestServer, device: Device, attest: { current: Attestor | undefined }): Promise<string> {
  await device.startSignup({ email, given_name: 'Ada', device: { platform: 'ios', name: 'Ada’s phone' } });
  await device.verifyPin(await pinOf(server, email));
  const key = makeAppleKey(authority, appId);
  await assert.rejects(device.enroll(), (error: unknown) => error instanceof DeviceError && error.body['message'] === 'attestation_failed');
  attest.current = async ({ clientData }) => ({
    format: 'apple-appattest',
    key_id: key.keyId.toString('base64'),
    attestation_object: key.attest(Buffer.from(clientData)).toString('base64'),
  });
  const outcome = await device.enroll();
  assert.ok(outcome.status === 'enrolled');
  assert.match((await mailsTo(server, email))[0]!.subject, /phone was added/i);
  return (outcome.user as { readonly id: string }).id;
}

async function signInWithPhone(tenant: Managed, device: Device): Promise<Tokens> {
  const client = await createTestClient(tenant, { redirect_uris: [redirectUri], grant_types: ['authorization_code'], scopes: ['openid'] });
  const login = openLogin(await authorize(tenant, client.client_id));
  await jsonOf(await login.post('identify', { identifier: email }), 200);
  const waiting = await jsonOf<{ state: string; number: string }>(await login.post('method', { method: 'phone' }), 200);
  assert.equal(waiting.state, 'waiting');
  assert.deepEqual(await jsonOf(await login.get('/status'), 200), { state: 'waiting' });
  const [approval] = await device.listApprovals(5);
  assert.deepEqual([approval!.type, approval!.client!['name'], approval!.scopes], ['oidc_login', 'Test client', ['openid']]);
  await device.approve(approval!, waiting.number);
  assert.deepEqual(await jsonOf(await login.get('/status'), 200), { state: 'approved' });
  return finish(tenant, client, login);
}

async function authorize(tenant: Managed, clientId: string): Promise<Response> {
  const query = new URLSearchParams({
    response_type: 'code',
    client_id: clientId,
    redirect_uri: redirectUri,
    scope: 'openid',
    code_challenge: challenge,
    code_challenge_method: 'S256',
    state: 's',
  });
  return fetch(`${tenant.baseUrl}/v1/idp/oidc/authorize?${query}`, { redirect: 'manual' });
}

async function finish(
  tenant: Managed,
  client: { readonly client_id: string; readonly client_secret: string },
  login: TestLogin,
): Promise<Tokens> {
  const { redirect_to: location } = await jsonOf<{ redirect_to: string }>(await login.post('finish'), 200);
  const code = new URL(location).searchParams.get('code');
  assert.ok(code);
  const response = await fetch(`${tenant.baseUrl}/v1/idp/oidc/token`, {
    method: 'POST',
    headers: { authorization: `Basic ${Buffer.from(`${client.client_id}:${client.client_secret}`).toString('base64')}` },
    body: new URLSearchParams({ grant_type: 'authorization_code', code, redirect_uri: redirectUri, code_verifier: verifier }),
  });
  return jsonOf<Tokens>(response, 200);
}

async function payWithPhone(server: TestServer, tenant: Managed, device: Device, receiver: Receiver): Promise<void> {
  const client = await createTestClient(tenant, {
    redirect_uris: [],
    grant_types: [cibaGrantType],
    scopes: ['openid'],
    backchannel_token_delivery_mode: 'push',
    backchannel_client_notification_endpoint: receiver.url,
  });
  const started = await fetch(`${tenant.baseUrl}/v1/idp/oidc/bc-authorize`, {
    method: 'POST',
    headers: { authorization: `Basic ${Buffer.from(`${client.client_id}:${client.client_secret}`).toString('base64')}` },
    body: new URLSearchParams({
      scope: 'openid',
      login_hint: email,
      binding_message: 'Pay 5',
      client_notification_token: 'token-of-the-story-0123456789',
    }),
  });
  const { auth_req_id: id } = await jsonOf<{ auth_req_id: string }>(started, 200);
  const [approval] = await device.listApprovals(5);
  assert.deepEqual([approval!.type, approval!.binding_message, approval!.match.required], ['ciba', 'Pay 5', false]);
  await device.approve(approval!);
  await runDeliveries(server);
  assert.equal(receiver.received.length, 1);
  const pushed = JSON.parse(receiver.received[0]!.body);
  assert.equal(pushed.auth_req_id, id);
  assert.deepEqual(decodeJwt(pushed.id_token).claims['amr'], ['hwk', 'user']);
}

async function rotateWithOldKeyInOverlap(device: Device): Promise<void> {
  const popOf = async () => (await device.state()).account!.slots.find((slot) => slot.purpose === 'pop')!;
  const old = await popOf();
  await device.rotateKeys();
  const late = await device.send({ method: 'GET', path: '/v1/device/self', slot: old });
  assert.equal(late.status, 200);
  assert.notEqual((await popOf()).publicKey, old.publicKey);
}

async function suspendAndWipe(tenant: Managed, device: Device, userId: string): Promise<void> {
  await tenant.make('POST', `/users/${userId}/suspend`);
  await assert.rejects(device.self(), (error: unknown) => error instanceof DeviceError && error.kind === 'device_key_revoked');
  const { status, account } = await device.state();
  assert.deepEqual([status, account?.slots], ['revoked', []]);
}
