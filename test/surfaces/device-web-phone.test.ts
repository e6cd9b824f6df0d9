// Web phones on the wire: which keys they bring, what their authenticator must have said, and where a tenant allows them.
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { type ApprovalRequest, createApproval, subjectKeyOf } from '../../src/approvals/approval.ts';
import { makeApprovalLink } from '../../src/approvals/approval-code.ts';
import { deviceSignatureCharsMax } from '../../src/contract/limits.ts';
import { findDevice } from '../../src/storage/device/devices.ts';
import { findApproval } from '../../src/storage/sign-in/approvals.ts';
import { databases } from '../support/databases.ts';
import {
  changeSettings,
  createEnrollmentToken,
  createUser,
  enrolledPhone,
  type Redeemed,
  type TestUser,
  unlimited,
} from '../support/enrolled-phone.ts';
import { createPhone, makeKey, publicFields } from '../support/phone.ts';
import { assertRefusal } from '../support/refusal.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { type CredentialLies, createWebPhone, credentialFlags, makeCredential, type WebPhone } from '../support/web-phone.ts';

const browser = { platform: 'web', name: 'Firefox' } as const;
const { userPresent, userVerified, backupEligible } = credentialFlags;

interface Item {
  readonly id: string;
  readonly context_sha256: string;
}

for (const database of databases) {
  describe(`web phones, ${database}`, () => {
    let server: TestServer;
    let user: TestUser;
    let people = 0;
    before(async () => {
      server = await startTestServer(database);
    });
    after(() => server.close());
    beforeEach(async () => {
      await changeSettings(server, unlimited);
      people += 1;
      user = await createUser(server, `person${people}@example.com`);
    });

    const redeem = async (phone: WebPhone, keys: unknown = phone.publicKeys(), device: object = browser) =>
      phone.post('/enrollment/redeem', { enrollment_token: await createEnrollmentToken(server, user), device, keys });
    const prove = (phone: WebPhone, redeemed: Redeemed) =>
      phone.post('/enroll', { registration_token: redeemed.registration_token, proofs: phone.proofs(redeemed.attestation.challenge) });
    const enrolled = async (phone = createWebPhone(server.url, server.clock.nowMs)): Promise<WebPhone> => {
      const response = await redeem(phone);
      assert.equal(response.status, 200, await response.clone().text());
      assert.equal((await prove(phone, (await response.json()) as Redeemed)).status, 201);
      return phone;
    };
    const ask = async (change: Partial<ApprovalRequest> = {}): Promise<void> => {
      const { database: db, tenants } = server.gatehouse.services;
      const tenant = (await tenants.byId(user.tenant))!;
      const subjectKey = subjectKeyOf(user.id, '');
      const request = {
        kind: 'oidc_login',
        userId: user.id,
        subjectKey,
        onDevices: true,
        withNumber: false,
        lifetimeSeconds: 300,
      } as const;
      assert.ok((await db.write(user.tenant, (queries) => createApproval(queries, tenant, { ...request, ...change }))).ok);
    };
    const pending = async (phone: WebPhone): Promise<Item> => {
      const response = await phone.get('/approvals');
      assert.equal(response.status, 200, await response.clone().text());
      return ((await response.json()) as { items: readonly Item[] }).items[0]!;
    };
    const approve = (phone: WebPhone, item: Item) =>
      phone.post(`/approvals/${item.id}/approve`, { context_sha256: item.context_sha256 }, { purpose: 'uv' });
    const deviceRow = async (phone: WebPhone) =>
      (await server.gatehouse.services.database.read(user.tenant, (queries) => findDevice(queries, user.tenant, phone.deviceId)))!;

    for (const alg of ['WebAuthn-ES256', 'WebAuthn-RS256'] as const)
      it(`${alg}: enrols, looks, and approves as phone_web`, async () => {
        const phone = await enrolled(createWebPhone(server.url, server.clock.nowMs, alg));
        await ask();
        const item = await pending(phone);
        assert.equal((await approve(phone, item)).status, 200);
        const row = await server.gatehouse.services.database.read(user.tenant, (queries) => findApproval(queries, user.tenant, item.id));
        assert.deepEqual([row?.method, row?.acr, row?.amr], ['phone_web', 'phone', '["swk","user"]']);
        assert.deepEqual([(await deviceRow(phone)).platform, (await deviceRow(phone)).key_protection], ['web', 'webauthn']);
      });

    it('a code it was sent binds the sign-in to it and still asks for the number: one wrong number denies', async () => {
      const phone = await enrolled();
      await ask({ withNumber: true });
      const { id } = await pending(phone);
      const tenant = (await server.gatehouse.services.tenants.byId(user.tenant))!;
      const code = { approvalId: id, expiresAtMs: server.clock.nowMs() + 20_000 };
      const link = await makeApprovalLink(server.gatehouse.services, tenant, code);
      const claimed = await phone.post('/approvals/claim', { code: link.split('c=')[1] });
      assert.equal(claimed.status, 200);
      const item = (await claimed.json()) as Item & { readonly match: object };
      assert.deepEqual(item.match, { required: true, digits: 2 });
      const text = 'match must be a text of 1 to 8 characters.';
      await assertRefusal(await approve(phone, item), 'device.invalid_request', { kind: 'match', text });
      const wrong = { context_sha256: item.context_sha256, match: 'xx' };
      await assertRefusal(await phone.post(`/approvals/${id}/approve`, wrong, { purpose: 'uv' }), 'approval.match_failed');
    });

    it('what the key is worth is recorded from the evidence: a credential that may be copied, and a phone’s mere claim', async () => {
      const phone = createWebPhone(server.url, server.clock.nowMs);
      phone.lie({ flags: userPresent | userVerified | backupEligible });
      assert.equal((await deviceRow(await enrolled(phone))).key_protection, 'webauthn_synced');
      user = await createUser(server, `other${people}@example.com`);
      const native = await enrolledPhone(server, user);
      const row = await server.gatehouse.services.database.read(user.tenant, (queries) =>
        findDevice(queries, user.tenant, native.deviceId),
      );
      assert.equal(row?.key_protection, 'claimed');
    });

    const stranger = makeKey('uv', 'ES256');
    const lies: Readonly<Record<string, CredentialLies>> = {
      'a registration instead of an assertion': { type: 'webauthn.create' },
      'another text': { text: 'another' },
      'another origin': { origin: 'https://evil.example' },
      'inside a page of another origin': { crossOrigin: true },
      'a top origin': { topOrigin: 'https://evil.example' },
      'another site': { rpId: 'evil.example' },
      'nobody verified': { flags: userPresent },
      'nobody present': { flags: userVerified },
      'another credential': { credential: stranger },
      'a synced credential alone, another silent key': { pop: stranger },
      'an authenticator signature of another length': { spoilSignature: (signature) => Buffer.concat([signature, Buffer.of(0)]) },
      'a byte more': { spoil: (whole) => Buffer.concat([whole, Buffer.of(0)]) },
      'a byte less': { spoil: (whole) => whole.subarray(0, -1) },
      'lengths beyond the end': { spoil: (whole) => Buffer.concat([Buffer.of(0xff, 0xff), whole.subarray(2)]) },
      'client data that is no JSON': { spoil: (whole) => Buffer.concat([whole.subarray(0, 41), Buffer.from('['), whole.subarray(42)]) },
      'nothing but a silent signature': { spoil: (whole) => whole.subarray(-64) },
      'an empty signature in each part': { spoil: (whole) => Buffer.concat([Buffer.alloc(6), whole.subarray(-64)]) },
    };

    it('7.14 bad_signature: every lie of authenticator, browser or key, and nothing is decided', async () => {
      const phone = await enrolled();
      await ask();
      const item = await pending(phone);
      for (const [name, told] of Object.entries(lies)) {
        phone.lie(told);
        const response = await approve(phone, item);
        await assertRefusal(response, 'device.bad_signature').catch((error: unknown) => assert.fail(new Error(name, { cause: error })));
      }
      phone.lie({});
      assert.equal((await approve(phone, item)).status, 200);
    });

    it('bad_proof: an enrolment nobody was verified for', async () => {
      for (const told of [lies['nobody verified']!, lies['another origin']!, lies['a synced credential alone, another silent key']!]) {
        const phone = createWebPhone(server.url, server.clock.nowMs);
        const redeemed = (await (await redeem(phone)).json()) as Redeemed;
        phone.lie(told);
        await assertRefusal(await prove(phone, redeemed), 'device.bad_proof');
      }
    });

    it('7.14 replayed_request: the same text signed again by the authenticator', async () => {
      const phone = await enrolled();
      const timestamp = String(server.clock.nowMs());
      assert.equal((await phone.get('/self', { purpose: 'uv', timestamp })).status, 200);
      await assertRefusal(await phone.get('/self', { purpose: 'uv', timestamp }), 'device.replayed_request');
    });

    it('a signature of 2,048 characters is taken, a longer one is not', async () => {
      const phone = await enrolled();
      let length = 0;
      const measure = (whole: Buffer): Buffer => {
        length = whole.byteLength;
        return whole;
      };
      phone.lie({ spoil: measure });
      assert.equal((await phone.get('/self', { purpose: 'uv' })).status, 200);
      // An ES256 signature in DER varies by a few bytes, so the one that fills the limit is waited for.
      const room = (deviceSignatureCharsMax / 4) * 3 - length - ',"pad":""'.length;
      const call = (pad: number) => {
        phone.lie({ more: { pad: 'p'.repeat(pad) }, spoil: measure });
        return phone.get('/self', { purpose: 'uv' });
      };
      for (;;) {
        const response = await call(room);
        const chars = Math.ceil(length / 3) * 4;
        if (chars <= deviceSignatureCharsMax) assert.equal(response.status, 200);
        else await assertRefusal(response, 'device.bad_signed_headers');
        if (chars === deviceSignatureCharsMax) break;
      }
      await assertRefusal(await call(room + 9), 'device.bad_signed_headers');
    });

    it('400 invalid_request: a web phone with other keys, another phone with a platform credential', async () => {
      const text = /must be/;
      const attempt = async (keys: (phone: WebPhone) => unknown, kind: string, device: object = browser) => {
        const phone = createWebPhone(server.url, server.clock.nowMs);
        await assertRefusal(await redeem(phone, keys(phone), device), 'device.invalid_request', { kind, text });
      };
      await attempt((phone) => [publicFields(phone.keys.pop)], 'keys');
      await attempt((phone) => [publicFields(phone.keys.pop), publicFields(makeKey('uv', 'ES256'))], 'keys');
      await attempt((phone) => [publicFields(phone.keys.pop), publicFields(makeKey('uv', 'EdDSA'))], 'alg');
      await attempt(
        (phone) => [
          { ...publicFields(phone.keys.uv), purpose: 'pop' },
          { ...publicFields(phone.keys.pop), purpose: 'uv' },
        ],
        'keys',
      );
      await attempt((phone) => phone.publicKeys(), 'alg', { platform: 'ios', name: 'Phone' });
      const rsaUnderEc = makeCredential(server.url, 'WebAuthn-RS256', () => makeKey('pop', 'ES256'));
      await attempt((phone) => [publicFields(phone.keys.pop), { ...publicFields(rsaUnderEc), alg: 'WebAuthn-ES256' }], 'public_key');
    });

    it('7.16 only the silent key rotates; the credential signs beside the new one and, in overlap, beside the old one', async () => {
      const phone = await enrolled();
      const named = await phone.post('/keys/rotate/start', { key_ids: [phone.keys.uv.keyId] });
      await assertRefusal(named, 'rotation.no_keys_to_rotate');
      const started = (await (await phone.post('/keys/rotate/start')).json()) as { nonce: string; keys: readonly { purpose: string }[] };
      assert.deepEqual(
        started.keys.map((key) => key.purpose),
        ['pop'],
      );
      const old = phone.keys.pop;
      const other = makeKey('pop', 'EdDSA', old.keyId);
      const refused = await phone.post('/keys/rotate/confirm', { nonce: started.nonce, keys: [phone.rotation(old, other, started.nonce)] });
      await assertRefusal(refused, 'rotation.bad_new_key_bytes');
      const fresh = makeKey('pop', 'ES256', old.keyId);
      const confirmed = await phone.post('/keys/rotate/confirm', {
        nonce: started.nonce,
        keys: [phone.rotation(old, fresh, started.nonce)],
      });
      assert.equal(confirmed.status, 200);
      assert.equal((await phone.get('/self', { purpose: 'uv' })).status, 200);
      phone.keys.pop = fresh;
      assert.equal((await phone.get('/self', { purpose: 'uv' })).status, 200);
      await phone.post('/keys/rotate/complete', { rotation_id: ((await confirmed.json()) as { rotation_id: string }).rotation_id });
      phone.lie({ pop: old });
      await assertRefusal(await phone.get('/self', { purpose: 'uv' }), 'device.bad_signature');
    });

    for (const [name, settings] of [
      ['device.web_phones is false', { device: { web_phones: false } }],
      ['attestation is enforced', { attestation: { mode: 'enforce' } }],
    ] as const)
      it(`403 web_phone_disabled where ${name}: starting, redeeming, approving; looking and denying go on`, async () => {
        const phone = await enrolled();
        await ask();
        const item = await pending(phone);
        await changeSettings(server, { ...unlimited, ...settings });
        const newcomer = createWebPhone(server.url, server.clock.nowMs);
        const body = { email: user.email, device: browser, keys: newcomer.publicKeys() };
        await assertRefusal(await newcomer.post('/registration/start', body), 'device.web_phone_disabled');
        await assertRefusal(await redeem(newcomer), 'device.web_phone_disabled');
        await assertRefusal(await approve(phone, item), 'device.web_phone_disabled');
        assert.equal((await pending(phone)).id, item.id);
        assert.equal((await phone.post(`/approvals/${item.id}/deny`, { reason: 'mistake' })).status, 200);
        const native = createPhone(server.url, server.clock.nowMs);
        const started = { email: user.email, device: { platform: 'ios', name: 'Phone' }, keys: native.publicKeys() };
        assert.equal((await native.post('/registration/start', started)).status, 202);
      });
  });
}
