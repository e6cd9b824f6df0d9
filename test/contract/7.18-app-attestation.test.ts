// Contract 7.18: under enforcement every attestation failure is one answer; the subreason is in the audit record only.
import assert from 'node:assert/strict';
import { createSecretKey, randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { CompactEncrypt, CompactSign } from 'jose';
import { attestationText, requestText } from '../../sdk/signing.ts';
import { makeAndroidChain, makeAppleKey, makeAuthority, newP256, pemOf, sha256, spkiOf } from '../support/attestation-ca.ts';
import { databases } from '../support/databases.ts';
import { changeSettings, createUser, type Redeemed, redeemedPhone, type TestUser, unlimited } from '../support/enrolled-phone.ts';
import { createPhone, type Phone, sha256Hex, spkiSha256 } from '../support/phone.ts';
import { assertRefusal } from '../support/refusal.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

const apple = makeAuthority('Apple');
const android = makeAuthority('Android');
const appId = 'TEAM123456.org.example.app';
const packageName = 'org.example.app';
const signingDigest = randomBytes(32);
const play = { decryptionKey: randomBytes(32), signer: newP256() };
const attestationSettings = (mode: string) => ({
  ...unlimited,
  attestation: {
    mode,
    apple: { app_ids: [appId] },
    android: { packages: [packageName], signing_digests: [signingDigest.toString('hex')] },
    play_integrity: {
      decryption_key: play.decryptionKey.toString('base64'),
      verification_key: spkiOf(play.signer.publicKey).toString('base64'),
    },
  },
  device: { additional_device: 'email_pin' },
});

type Attest = (phone: Phone, challenge: string) => object | undefined | Promise<object>;

const clientData = (phone: Phone, challenge: string) =>
  Buffer.from(
    attestationText({
      issuer: phone.baseUrl,
      deviceId: phone.deviceId,
      challenge,
      keys: [phone.keys.pop, phone.keys.uv].map((key) => ({ keyId: key.keyId, publicKeySha256: spkiSha256(key) })),
    }),
  );

const attestApple: Attest = (phone, challenge) => {
  const key = makeAppleKey(apple, appId);
  const object = key.attest(clientData(phone, challenge));
  return { format: 'apple-appattest', key_id: key.keyId.toString('base64'), attestation_object: object.toString('base64') };
};

const attestAndroid: Attest = (phone, challenge) => ({
  format: 'android-key',
  keys: [phone.keys.pop, phone.keys.uv].map((key) => ({ key_id: key.keyId, x5c: chainOf(phone, key.purpose, challenge) })),
});

function chainOf(
  phone: Phone,
  purpose: 'pop' | 'uv',
  challenge: string,
  userAuthType = purpose === 'uv' ? 2 : undefined,
): readonly string[] {
  const certified = {
    publicKey: { export: () => Buffer.from(phone.keys[purpose].publicKey, 'base64') } as never,
    challenge,
    packageName,
    signingDigest,
  };
  return makeAndroidChain(android, certified, userAuthType === undefined ? {} : { userAuthType }).map((der) => der.toString('base64'));
}

const attestPlay: Attest = async (phone, challenge) => {
  const payload = {
    requestDetails: {
      requestPackageName: packageName,
      nonce: sha256(clientData(phone, challenge)).toString('base64url'),
      timestampMillis: String(Date.now()),
    },
    appIntegrity: {
      appRecognitionVerdict: 'PLAY_RECOGNIZED',
      packageName,
      certificateSha256Digest: [signingDigest.toString('base64url')],
    },
    deviceIntegrity: { deviceRecognitionVerdict: ['MEETS_DEVICE_INTEGRITY'] },
  };
  const jws = await new CompactSign(Buffer.from(JSON.stringify(payload))).setProtectedHeader({ alg: 'ES256' }).sign(play.signer.privateKey);
  const token = await new CompactEncrypt(Buffer.from(jws))
    .setProtectedHeader({ alg: 'A256KW', enc: 'A256GCM' })
    .encrypt(createSecretKey(play.decryptionKey));
  return { format: 'play-integrity', token };
};

for (const database of databases) {
  describe(`contract 7.18 on ${database}`, () => {
    let server: TestServer;
    let user: TestUser;
    let folder: string;
    before(async () => {
      folder = mkdtempSync(join(tmpdir(), 'gatehouse-roots-'));
      writeFileSync(join(folder, 'apple.pem'), pemOf(apple.root.certificate));
      writeFileSync(join(folder, 'android.pem'), pemOf(android.root.certificate));
      server = await startTestServer(database, {
        flags: { attestation_roots_apple: join(folder, 'apple.pem'), attestation_roots_android: join(folder, 'android.pem') },
      });
      user = await createUser(server, 'ada@example.com');
    });
    after(async () => {
      await server.close();
      rmSync(folder, { recursive: true });
    });

    const enroll = async (attest: Attest): Promise<Response> => {
      const { phone, redeemed } = await redeemedPhone(server, user);
      return enrollWith(phone, redeemed, redeemed.attestation.challenge, attest);
    };
    const enrollWith = async (phone: Phone, redeemed: Redeemed, challenge: string, attest: Attest): Promise<Response> => {
      const attestation = await attest(phone, challenge);
      const fields = { registration_token: redeemed.registration_token, proofs: phone.proofs(challenge) };
      return phone.post('/enroll', attestation === undefined ? fields : { ...fields, attestation });
    };
    const freshChallenge = async (phone: Phone, redeemed: Redeemed): Promise<string> => {
      const response = await phone.post('/attestation/challenge', { registration_token: redeemed.registration_token });
      assert.equal(response.status, 201, await response.clone().text());
      return ((await response.json()) as { challenge: string }).challenge;
    };

    it('7.18 enforce: the three formats enrol', async () => {
      await changeSettings(server, attestationSettings('enforce'));
      for (const attest of [attestApple, attestAndroid, attestPlay]) {
        const response = await enroll(attest);
        assert.equal(response.status, 201, await response.clone().text());
      }
      const { redeemed } = await redeemedPhone(server, user);
      assert.deepEqual(redeemed.attestation.formats, ['apple-appattest', 'android-key', 'play-integrity']);
      assert.equal(redeemed.attestation.required, true);
    });

    it('7.18 enforce: every failure is the same 403', async () => {
      await changeSettings(server, attestationSettings('enforce'));
      const bodies = new Set<string>();
      const failures: readonly (readonly [string, Attest])[] = [
        ['attestation_missing', () => undefined],
        ['attestation_shape', () => ({ format: 'apple-appattest' })],
        ['attestation_shape', () => 'text' as never],
        ['attestation_shape', () => [] as never],
        ['format_unknown', () => ({ format: 'toString' })],
        ['nonce_mismatch', (phone) => attestApple(phone, randomBytes(32).toString('base64url'))],
        ['nonce_mismatch', (_phone, challenge) => attestApple(createPhone(server.url, server.clock.nowMs), challenge)],
        ['challenge_mismatch', (phone) => attestAndroid(phone, 'x')],
        [
          'chain_missing',
          (phone, challenge) => ({
            format: 'android-key',
            keys: [{ key_id: phone.keys.pop.keyId, x5c: chainOf(phone, 'pop', challenge) }],
          }),
        ],
        [
          'leaf_key_mismatch',
          (phone, challenge) => ({
            format: 'android-key',
            keys: [
              { key_id: phone.keys.pop.keyId, x5c: chainOf(phone, 'uv', challenge) },
              { key_id: phone.keys.uv.keyId, x5c: chainOf(phone, 'pop', challenge) },
            ],
          }),
        ],
        ['jwe_shape', () => ({ format: 'play-integrity', token: 'x' })],
        ['nonce_mismatch', (phone) => attestPlay(phone, 'x') as Promise<object>],
      ];
      for (const [subreason, attest] of failures) {
        const response = await enroll(attest);
        const requestId = response.headers.get('x-request-id')!;
        bodies.add(await assertRefusal(response, 'attestation.failed'));
        assert.equal(await auditedReason(requestId), subreason);
      }
      assert.deepEqual([...bodies], ['{"error":"forbidden","message":"attestation_failed"}']);
    });

    const auditedReason = async (requestId: string): Promise<string | null | undefined> => {
      const row = await server.gatehouse.services.database.read(user.tenant, (queries) =>
        queries
          .selectFrom('audit_events')
          .select('reason')
          .where('tenant_id', '=', user.tenant)
          .where('request_id', '=', requestId)
          .where('type', '=', 'attestation.failed')
          .executeTakeFirst(),
      );
      return row?.reason;
    };

    it('7.18 enforce: a failure consumes the challenge but not the token; the fifth consumes the token too', async () => {
      await changeSettings(server, attestationSettings('enforce'));
      const { phone, redeemed } = await redeemedPhone(server, user);
      await assertRefusal(await enrollWith(phone, redeemed, redeemed.attestation.challenge, () => undefined), 'attestation.failed');
      await assertRefusal(await enrollWith(phone, redeemed, redeemed.attestation.challenge, attestApple), 'device.bad_proof');
      assert.equal((await enrollWith(phone, redeemed, await freshChallenge(phone, redeemed), attestApple)).status, 201);

      const other = await redeemedPhone(server, user);
      for (let failure = 0; failure < 5; failure += 1) {
        const challenge = await freshChallenge(other.phone, other.redeemed);
        await assertRefusal(await enrollWith(other.phone, other.redeemed, challenge, () => ({ format: 'x' })), 'attestation.failed');
      }
      await assertRefusal(
        await other.phone.post('/attestation/challenge', { registration_token: other.redeemed.registration_token }),
        'registration.token_invalid',
      );
      await assertRefusal(await enrollWith(other.phone, other.redeemed, 'x', attestApple), 'registration.token_invalid');
    });

    it('7.18 monitor: a failure is audited and the phone enrols; off: nothing is looked at', async () => {
      await changeSettings(server, attestationSettings('monitor'));
      const watched = await enroll(() => undefined);
      assert.equal(watched.status, 201, await watched.clone().text());
      assert.equal(await auditedReason(watched.headers.get('x-request-id')!), 'attestation_missing');
      await changeSettings(server, attestationSettings('off'));
      const free = await enroll(() => ({ format: 'x' }));
      assert.equal(free.status, 201);
      assert.equal(await auditedReason(free.headers.get('x-request-id')!), undefined);
    });

    it('7.18 enforce: an assertion covers the request, and its counter never goes back', async () => {
      await changeSettings(server, attestationSettings('enforce'));
      const key = makeAppleKey(apple, appId);
      const { phone, redeemed } = await redeemedPhone(server, user);
      const response = await enrollWith(phone, redeemed, redeemed.attestation.challenge, (_phone, challenge) => ({
        format: 'apple-appattest',
        key_id: key.keyId.toString('base64'),
        attestation_object: key.attest(clientData(phone, challenge)).toString('base64'),
      }));
      assert.equal(response.status, 201);
      let step = 0;
      const send = (counter: number, over: Partial<Parameters<typeof requestText>[0]> = {}): Promise<Response> => {
        step += 1;
        const timestamp = String(server.clock.nowMs() - 5_000 + step); // never that of a call the phone stamps itself
        const request = { protocolVersion: '1', issuer: phone.baseUrl, method: 'GET', path: '/v1/device/self', query: '', timestamp };
        const text = requestText({ ...request, deviceId: phone.deviceId, keyId: phone.keys.pop.keyId, bodySha256: sha256Hex(''), ...over });
        return phone.get('/self', { timestamp, headers: { 'X-App-Assertion': key.assert(Buffer.from(text), counter).toString('base64') } });
      };
      assert.equal((await send(1)).status, 200);
      await assertRefusal(await send(1), 'attestation.failed');
      assert.equal((await send(7)).status, 200);
      await assertRefusal(await send(6), 'attestation.failed');
      await assertRefusal(await send(8, { path: '/v1/device/approvals' }), 'attestation.failed');
      await assertRefusal(await phone.get('/self', { headers: { 'X-App-Assertion': 'x' } }), 'attestation.failed');
    });

    it('7.18: a challenge is 32 bytes, for five minutes, also for an enrolled device', async () => {
      await changeSettings(server, attestationSettings('off'));
      const { phone, redeemed } = await redeemedPhone(server, user);
      const challenge = await freshChallenge(phone, redeemed);
      assert.equal(Buffer.from(challenge, 'base64url').length, 32);
      await server.clock.advance(300_001);
      await assertRefusal(await enrollWith(phone, redeemed, challenge, () => undefined), 'device.bad_proof');
      assert.equal((await enrollWith(phone, redeemed, await freshChallenge(phone, redeemed), () => undefined)).status, 201);
      assert.equal((await phone.post('/attestation/challenge')).status, 201);
    });
  });
}
