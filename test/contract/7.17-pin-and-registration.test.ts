// Contract 7.17: PIN rows in their order, registration tokens, signup; known and unknown people get the same bytes.
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { databases } from '../support/databases.ts';
import {
  changeSettings,
  createEnrollmentToken,
  createUser,
  enrolledPhone,
  redeemedPhone,
  setUserState,
  testDevice,
  unlimited,
} from '../support/enrolled-phone.ts';
import { mailsTo, otherPin, pinOf } from '../support/mailbox.ts';
import { createPhone, makeKey, type Phone, publicFields } from '../support/phone.ts';
import { assertRefusal } from '../support/refusal.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

interface Started {
  readonly registration_token: string;
  readonly expires_at: string;
  readonly pin: { readonly length: number; readonly ttl_seconds: number; readonly resend_after_seconds: number };
}

const settings = { ...unlimited, signup_enabled: true, device: { additional_device: 'email_pin' } };

for (const database of databases) {
  describe(`contract 7.17 on ${database}`, () => {
    let server: TestServer;
    let email: string;
    let people = 0;
    before(async () => {
      server = await startTestServer(database);
    });
    after(() => server.close());
    beforeEach(async () => {
      await changeSettings(server, settings);
      people += 1;
      email = `Person.${people}@Example.com`;
    });

    const newPhone = () => createPhone(server.url, server.clock.nowMs);
    const start = async (
      phone: Phone,
      path: '/registration/start' | '/signup/start' = '/registration/start',
      to = email,
    ): Promise<Started> => {
      const response = await phone.post(path, { email: to, device: testDevice, keys: phone.publicKeys() });
      assert.equal(response.status, 202, await response.clone().text());
      return (await response.json()) as Started;
    };
    const verify = (phone: Phone, started: Started, pin: string) =>
      phone.post('/pin/verify', { registration_token: started.registration_token, pin });
    const resend = (phone: Phone, started: Started) => phone.post('/pin/resend', { registration_token: started.registration_token });
    const registered = async (): Promise<{ phone: Phone; started: Started; pin: string }> => {
      await createUser(server, email.toLowerCase());
      const phone = newPhone();
      const started = await start(phone);
      return { phone, started, pin: await pinOf(server, email) };
    };

    it('7.17: start, PIN, enrol: a known person gets a device', async () => {
      const { phone, started, pin } = await registered();
      assert.deepEqual(started.pin, { length: 6, ttl_seconds: 600, resend_after_seconds: 60 });
      const response = await verify(phone, started, pin);
      assert.equal(response.status, 200, await response.clone().text());
      const verified = (await response.json()) as { status: string; attestation: { challenge: string; required: boolean } };
      assert.equal(verified.status, 'verified');
      assert.equal(verified.attestation.required, false);
      const enrolment = { registration_token: started.registration_token, proofs: phone.proofs(verified.attestation.challenge) };
      const enrolled = await phone.post('/enroll', enrolment);
      assert.equal(enrolled.status, 201, await enrolled.clone().text());
      const body = (await enrolled.json()) as { device_id: string; user: { email: string }; keys: readonly unknown[]; server_time: number };
      assert.equal(body.device_id, phone.deviceId);
      assert.equal(body.user.email, email.toLowerCase());
      assert.equal(body.keys.length, 2);
      assert.equal((await phone.get('/self')).status, 200);
      assert.match((await mailsTo(server, email))[0]!.subject, /phone was added/i);
      await assertRefusal(await phone.post('/enroll', enrolment), 'registration.token_invalid'); // consumed
    });

    it('7.17: known, unknown and suspended people get the same answers', async () => {
      const known = await createUser(server, email.toLowerCase());
      const gone = await createUser(server, `gone.${email.toLowerCase()}`);
      await setUserState(server, gone, 'suspended');
      const shapes = new Set<string>();
      for (const to of [known.email, gone.email, `nobody.${email}`]) {
        const phone = newPhone();
        const started = await start(phone, '/registration/start', to);
        const { registration_token: token, expires_at: expires, ...rest } = started;
        assert.equal(token.length, 43);
        assert.ok(Math.abs(Date.parse(expires) - server.clock.nowMs() - 900_000) < 5000);
        const wrong = await assertRefusal(await verify(phone, started, '00000x'), 'pin.invalid', { fields: { attempts_left: 4 } });
        const again = await assertRefusal(await resend(phone, started), 'pin.cooldown_active');
        shapes.add(JSON.stringify(rest) + wrong + again);
      }
      assert.equal(shapes.size, 1);
      assert.equal((await mailsTo(server, gone.email)).length, 0);
      assert.equal((await mailsTo(server, `nobody.${email}`)).length, 0);
    });

    it('7.17 pin_invalid counts down, the last attempt is pin_locked, and the right PIN stays locked', async () => {
      const { phone, started, pin } = await registered();
      for (const left of [4, 3, 2, 1]) {
        await assertRefusal(await verify(phone, started, otherPin(pin)), 'pin.invalid', { fields: { attempts_left: left } });
      }
      await assertRefusal(await verify(phone, started, otherPin(pin)), 'pin.locked');
      await assertRefusal(await verify(phone, started, pin), 'pin.locked');
      await server.clock.advance(61_000);
      assert.equal((await resend(phone, started)).status, 202);
      assert.equal((await verify(phone, started, await pinOf(server, email))).status, 200);
    });

    it('7.17 pin_locked: the day’s budget of the mailbox is spent, over all registrations, the right PIN included', async () => {
      await changeSettings(server, { ...settings, pin: { failures_per_day_max: 3, resend_cooldown_seconds: 1 } });
      const { phone, started, pin } = await registered();
      await assertRefusal(await verify(phone, started, otherPin(pin)), 'pin.invalid', { fields: { attempts_left: 2 } });
      await assertRefusal(await verify(phone, started, otherPin(pin)), 'pin.invalid', { fields: { attempts_left: 1 } });
      await assertRefusal(await verify(phone, started, otherPin(pin)), 'pin.locked');
      const other = newPhone();
      const second = await start(other);
      await assertRefusal(await verify(other, second, await pinOf(server, email)), 'pin.locked');
    });

    it('7.17 pin_expired: its lifetime is over, or it was used', async () => {
      await changeSettings(server, { ...settings, pin: { lifetime_seconds: 30 } });
      const { phone, started, pin } = await registered();
      await server.clock.advance(30_001);
      await assertRefusal(await verify(phone, started, pin), 'pin.expired');
      await changeSettings(server, settings);
      const fresh = newPhone();
      const again = await start(fresh);
      const good = await pinOf(server, email);
      assert.equal((await verify(fresh, again, good)).status, 200);
      await assertRefusal(await verify(fresh, again, good), 'pin.expired');
    });

    it('7.17 cooldown_active: a resend within the minute, and more than five sends an hour', async () => {
      const { phone, started } = await registered();
      const early = await resend(phone, started);
      assert.ok(Number(early.headers.get('retry-after')) >= 58 && Number(early.headers.get('retry-after')) <= 60);
      await assertRefusal(early, 'pin.cooldown_active');
      for (let sent = 1; sent < 5; sent += 1) {
        await server.clock.advance(61_000);
        assert.equal((await resend(phone, started)).status, 202);
      }
      await server.clock.advance(61_000);
      await assertRefusal(await resend(phone, started), 'pin.cooldown_active');
      const other = newPhone();
      const response = await other.post('/registration/start', { email, device: testDevice, keys: other.publicKeys() });
      assert.ok(Number(response.headers.get('retry-after')) > 3000);
      await assertRefusal(response, 'pin.cooldown_active');
    });

    it('7.17 token_invalid: unknown, of another phone, of a suspended user, unverified at enrolment', async () => {
      const { phone, started, pin } = await registered();
      const other = newPhone();
      const foreign = await start(other, '/registration/start', `nobody.${email}`);
      await assertRefusal(await verify(phone, { ...started, registration_token: 'x' }, pin), 'registration.token_invalid');
      await assertRefusal(await verify(phone, foreign, pin), 'registration.token_invalid');
      await assertRefusal(await verify(other, started, pin), 'registration.token_invalid');
      await assertRefusal(
        await phone.post('/pin/verify', { registration_token: started.registration_token, pin }, { key: phone.keys.uv }),
        'registration.token_invalid',
      );
      const unproven = { registration_token: started.registration_token, proofs: phone.proofs('x') };
      await assertRefusal(await phone.post('/enroll', unproven), 'registration.token_invalid');
      await assertRefusal(
        await phone.post('/attestation/challenge', { registration_token: started.registration_token }),
        'registration.token_invalid',
      );
      await assertRefusal(
        await newPhone().post('/pin/verify', { registration_token: started.registration_token, pin }),
        'device.key_revoked',
      );
    });

    it('7.17 token_invalid: the user was suspended after the PIN', async () => {
      const user = await createUser(server, email.toLowerCase());
      const { phone, redeemed } = await redeemedPhone(server, user);
      await setUserState(server, user, 'suspended');
      const body = { registration_token: redeemed.registration_token, proofs: phone.proofs(redeemed.attestation.challenge) };
      await assertRefusal(await phone.post('/enroll', body), 'registration.token_invalid');
    });

    it('7.17 token_expired: 15 minutes unverified, 10 more verified, a day for an enrolment token', async () => {
      const { phone, started, pin } = await registered();
      await server.clock.advance(900_001);
      await assertRefusal(await verify(phone, started, pin), 'registration.token_expired');
      await assertRefusal(await resend(phone, started), 'registration.token_expired');
      const user = await createUser(server, `second.${email.toLowerCase()}`);
      const { phone: slow, redeemed } = await redeemedPhone(server, user);
      await server.clock.advance(600_001);
      const late = { registration_token: redeemed.registration_token, proofs: slow.proofs(redeemed.attestation.challenge) };
      await assertRefusal(await slow.post('/enroll', late), 'registration.token_expired');
      const token = await createEnrollmentToken(server, user, 1000);
      await server.clock.advance(1001);
      const third = newPhone();
      await assertRefusal(
        await third.post('/enrollment/redeem', { enrollment_token: token, device: testDevice, keys: third.publicKeys() }),
        'registration.token_expired',
      );
    });

    it('7.17 token_invalid: an enrolment token that is unknown or used', async () => {
      const user = await createUser(server, email.toLowerCase());
      const token = await createEnrollmentToken(server, user);
      const redeem = (enrollmentToken: string, phone = newPhone()) =>
        phone.post('/enrollment/redeem', { enrollment_token: enrollmentToken, device: testDevice, keys: phone.publicKeys() });
      assert.equal((await redeem(token)).status, 200);
      await assertRefusal(await redeem(token), 'registration.token_invalid');
      await assertRefusal(await redeem('unknown'), 'registration.token_invalid');
    });

    it('7.17 token_invalid: an enrolment token of a suspended user, which is not used up by that', async () => {
      const user = await createUser(server, email.toLowerCase());
      const token = await createEnrollmentToken(server, user);
      const phone = newPhone();
      const redeem = () => phone.post('/enrollment/redeem', { enrollment_token: token, device: testDevice, keys: phone.publicKeys() });
      await setUserState(server, user, 'suspended');
      await assertRefusal(await redeem(), 'registration.token_invalid');
      await setUserState(server, user, 'active');
      assert.equal((await redeem()).status, 200);
    });

    it('7.17: an enrolment token with a PIN sends it to the user', async () => {
      const user = await createUser(server, email.toLowerCase());
      const token = await createEnrollmentToken(server, user, 60_000, true);
      const phone = newPhone();
      const response = await phone.post('/enrollment/redeem', { enrollment_token: token, device: testDevice, keys: phone.publicKeys() });
      assert.equal(response.status, 202, await response.clone().text());
      const started = (await response.json()) as Started & { status: string };
      assert.equal(started.status, 'unverified');
      assert.equal((await verify(phone, started, await pinOf(server, email))).status, 200);
    });

    it('7.17 email_exists: only after the mailbox is proven', async () => {
      await createUser(server, email.toLowerCase());
      const phone = newPhone();
      const started = await start(phone, '/signup/start');
      await assertRefusal(await verify(phone, started, otherPin(await pinOf(server, email))), 'pin.invalid', {
        fields: { attempts_left: 4 },
      });
      await assertRefusal(await verify(phone, started, await pinOf(server, email)), 'registration.email_exists');
      await assertRefusal(await verify(phone, started, '000000'), 'registration.token_invalid');
    });

    it('7.17: a signup makes the user at its enrolment', async () => {
      const phone = newPhone();
      const response = await phone.post('/signup/start', {
        email,
        given_name: 'Ada',
        family_name: 'Lovelace',
        locale: 'de-AT',
        device: testDevice,
        keys: phone.publicKeys(),
      });
      const started = (await response.json()) as Started;
      const verified = (await (await verify(phone, started, await pinOf(server, email))).json()) as { attestation: { challenge: string } };
      const enrolled = await phone.post('/enroll', {
        registration_token: started.registration_token,
        proofs: phone.proofs(verified.attestation.challenge),
      });
      assert.equal(enrolled.status, 201, await enrolled.clone().text());
      const { user } = (await enrolled.json()) as { user: { given_name: string; email: string } };
      assert.deepEqual([user.given_name, user.email], ['Ada', email]);
      assert.match((await mailsTo(server, email))[0]!.subject, /Telefon wurde Ihrem Konto/);
    });

    it('signup_disabled: where the tenant does not allow it', async () => {
      await changeSettings(server, { ...settings, signup_enabled: false });
      const phone = newPhone();
      await assertRefusal(
        await phone.post('/signup/start', { email, device: testDevice, keys: phone.publicKeys() }),
        'device.signup_disabled',
      );
    });

    it('signup_disabled: switched off before its enrolment, a signup makes no user; switched on again, it does', async () => {
      const phone = newPhone();
      const started = await start(phone, '/signup/start');
      const verified = (await (await verify(phone, started, await pinOf(server, email))).json()) as { attestation: { challenge: string } };
      const proofs = phone.proofs(verified.attestation.challenge);
      const enrol = () => phone.post('/enroll', { registration_token: started.registration_token, proofs });
      await changeSettings(server, { ...settings, signup_enabled: false });
      await assertRefusal(await enrol(), 'device.signup_disabled');
      await changeSettings(server, settings);
      assert.equal((await enrol()).status, 201);
    });

    it('bad_proof: missing, over another challenge, for another device, by another key', async () => {
      const user = await createUser(server, email.toLowerCase());
      const { phone, redeemed } = await redeemedPhone(server, user);
      const { challenge } = redeemed.attestation;
      const good = phone.proofs(challenge);
      for (const proofs of [
        [],
        good.slice(1),
        phone.proofs('other'),
        phone.proofs(challenge, { issuer: 'https://evil.example' }),
        phone.proofs(challenge, { deviceId: newPhone().deviceId }),
        [good[0], { ...good[1], signature: good[0]!.signature }],
        [good[0], { ...good[1], signature: 'x' }],
        newPhone().proofs(challenge),
      ]) {
        await assertRefusal(await phone.post('/enroll', { registration_token: redeemed.registration_token, proofs }), 'device.bad_proof');
      }
      assert.equal((await phone.post('/enroll', { registration_token: redeemed.registration_token, proofs: good })).status, 201);
    });

    it('device_key_revoked: a device id or key id that was enrolled, or belongs to another registration', async () => {
      const phone = await enrolledPhone(server, await createUser(server, email.toLowerCase()));
      const send = (sender: Phone, keys: readonly unknown[], options = {}) =>
        sender.post('/registration/start', { email, device: testDevice, keys }, options);
      const thief = newPhone();
      const stolen = makeKey('pop', 'ES256', phone.keys.pop.keyId);
      await assertRefusal(await send(phone, phone.publicKeys()), 'device.key_revoked');
      await assertRefusal(await send(thief, [publicFields(stolen)], { key: stolen }), 'device.key_revoked');
      const waiting = newPhone();
      await start(waiting);
      assert.equal((await send(waiting, waiting.publicKeys())).status, 202); // the same phone may start again
      const sameId = makeKey('pop', 'ES256');
      const taken = { headers: { 'X-Device-Id': waiting.deviceId }, signed: { deviceId: waiting.deviceId }, key: sameId };
      await assertRefusal(await send(thief, [publicFields(sameId)], taken), 'device.key_revoked');
    });

    it('invalid_request before the signature: bad email, device or keys', async () => {
      const phone = newPhone();
      const keys = phone.publicKeys();
      const base = { email, device: testDevice, keys };
      const spoiled = { spoil: (signature: Buffer) => Buffer.alloc(signature.length) };
      for (const [kind, body] of [
        ['email', { ...base, email: 'nobody' }],
        ['email', { ...base, email: undefined }],
        ['email', { ...base, email: `${'a'.repeat(251)}@b.c` }],
        ['device', { ...base, device: undefined }],
        ['platform', { ...base, device: { ...testDevice, platform: 'tv' } }],
        ['name', { ...base, device: { ...testDevice, name: 'x'.repeat(101) } }],
        ['keys', { ...base, keys: [] }],
        ['keys', { ...base, keys: keys.slice(1) }],
        ['keys', { ...base, keys: [keys[0], keys[0]] }],
        ['keys', { ...base, keys: [...keys, publicFields(makeKey('uv', 'ES256'))] }],
        ['keys', { ...base, keys: [publicFields(makeKey('pop', 'ES256'))] }],
        ['key_id', { ...base, keys: [{ ...keys[0], key_id: 'x' }] }],
        ['alg', { ...base, keys: [{ ...keys[0], alg: 'HS256' }] }],
        ['public_key', { ...base, keys: [{ ...keys[0], public_key: 'AAAA' }] }],
        ['public_key', { ...base, keys: [{ ...keys[0], alg: 'EdDSA' }] }],
      ] as const) {
        await assertRefusal(await phone.post('/registration/start', body, spoiled), 'device.invalid_request', { kind, text: /./ });
      }
      await assertRefusal(await phone.post('/registration/start', '[]', spoiled), 'management.malformed');
      await assertRefusal(await phone.post('/registration/start', '{"a":1,"a":2}', spoiled), 'management.malformed');
      await assertRefusal(await phone.post('/registration/start', base, spoiled), 'device.bad_signature');
    });
  });
}
