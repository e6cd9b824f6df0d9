// Contract 7.16: the eight rotation codes in their order, the overlap, and the safe retry.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, beforeEach, describe, it } from 'node:test';
import { revokeDeviceKey } from '../../src/storage/device/devices.ts';
import { databases } from '../support/databases.ts';
import { changeSettings, createUser, enrolledPhone, type TestUser, unlimited } from '../support/enrolled-phone.ts';
import { makeKey, type Phone, type PhoneKey } from '../support/phone.ts';
import { assertRefusal } from '../support/refusal.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

interface Started {
  readonly rotation_id: string;
  readonly nonce: string;
  readonly keys: readonly { readonly key_id: string }[];
}

for (const database of databases) {
  describe(`contract 7.16 on ${database}`, () => {
    let server: TestServer;
    let user: TestUser;
    let phone: Phone;
    let fresh: { readonly pop: PhoneKey; readonly uv: PhoneKey };
    let people = 0;
    before(async () => {
      server = await startTestServer(database);
      await changeSettings(server, unlimited);
    });
    after(() => server.close());
    beforeEach(async () => {
      people += 1;
      user = await createUser(server, `person${people}@example.com`);
      phone = await enrolledPhone(server, user);
      fresh = { pop: makeKey('pop', 'ES256', phone.keys.pop.keyId), uv: makeKey('uv', 'EdDSA', phone.keys.uv.keyId) };
    });

    const start = async (body: object = {}): Promise<Started> => {
      const response = await phone.post('/keys/rotate/start', body);
      assert.equal(response.status, 200, await response.clone().text());
      return (await response.json()) as Started;
    };
    const items = (nonce: string) => [phone.rotation(phone.keys.pop, fresh.pop, nonce), phone.rotation(phone.keys.uv, fresh.uv, nonce)];
    const confirm = (body: object, key: PhoneKey = phone.keys.pop) => phone.post('/keys/rotate/confirm', body, { key });
    const confirmed = async (): Promise<{ readonly started: Started; readonly body: object }> => {
      const started = await start();
      const body = { nonce: started.nonce, keys: items(started.nonce) };
      const response = await confirm(body);
      assert.equal(response.status, 200, await response.clone().text());
      return { started, body };
    };

    it('7.16: a rotation replaces both keys; the old ones work in the overlap and not after it', async () => {
      const { started } = await confirmed();
      assert.equal(started.keys.length, 2);
      assert.equal((await phone.get('/self', { key: fresh.pop })).status, 200);
      assert.equal((await phone.get('/self', { key: fresh.uv })).status, 200);
      assert.equal((await phone.get('/self')).status, 200);
      await server.clock.advance(86_401_000);
      await assertRefusal(await phone.get('/self'), 'device.bad_signature');
      assert.equal((await phone.get('/self', { key: fresh.pop })).status, 200);
    });

    it('7.16: complete ends the overlap early, once', async () => {
      const { started } = await confirmed();
      const complete = () => phone.post('/keys/rotate/complete', { rotation_id: started.rotation_id }, { key: fresh.pop });
      await assertRefusal(
        await phone.post('/keys/rotate/complete', { rotation_id: 'other' }, { key: fresh.pop }),
        'rotation.no_rotation_in_progress',
      );
      assert.deepEqual(await (await complete()).json(), { rotation_id: started.rotation_id, status: 'completed' });
      await assertRefusal(await phone.get('/self'), 'device.bad_signature');
      await assertRefusal(await complete(), 'rotation.no_rotation_in_progress');
    });

    it('7.16: abort abandons an open rotation', async () => {
      const started = await start();
      assert.equal((await phone.post('/keys/rotate/abort', { rotation_id: started.rotation_id })).status, 200);
      await assertRefusal(await confirm({ nonce: started.nonce, keys: items(started.nonce) }), 'rotation.no_rotation_in_progress');
      await assertRefusal(await phone.post('/keys/rotate/abort'), 'rotation.no_rotation_in_progress');
    });

    it('7.16 no_keys_to_rotate: every slot in overlap, or key_ids of no slot', async () => {
      for (const ids of [[], ['x'], [fresh.pop.publicKey], 'x', {}, [1]]) {
        await assertRefusal(await phone.post('/keys/rotate/start', { key_ids: ids }), 'rotation.no_keys_to_rotate');
      }
      await confirmed();
      await assertRefusal(await phone.post('/keys/rotate/start', {}, { key: fresh.pop }), 'rotation.no_keys_to_rotate');
      await server.clock.advance(86_401_000);
      assert.equal((await phone.post('/keys/rotate/start', {}, { key: fresh.pop })).status, 200);
    });

    it('7.16: key_ids narrows the set', async () => {
      const started = await start({ key_ids: [phone.keys.pop.keyId] });
      assert.deepEqual(
        started.keys.map((key) => key.key_id),
        [phone.keys.pop.keyId],
      );
      const all = { nonce: started.nonce, keys: items(started.nonce) };
      await assertRefusal(await confirm(all), 'rotation.rotation_set_mismatch');
      assert.equal((await confirm({ ...all, keys: all.keys.slice(0, 1) })).status, 200);
    });

    it('7.16 bad_nonce: missing, wrong length, wrong alphabet, not canonical', async () => {
      await start();
      const nonce = randomBytes(32);
      for (const bad of [
        undefined,
        null,
        1,
        '',
        nonce.toString('base64'),
        nonce.toString('hex'),
        nonce.subarray(1).toString('base64url'),
        'A'.repeat(44),
      ]) {
        await assertRefusal(await confirm({ nonce: bad, keys: [] }), 'rotation.bad_nonce');
      }
      await assertRefusal(await confirm({ nonce: `${'A'.repeat(42)}B`, keys: [] }), 'rotation.bad_nonce');
    });

    it('7.16 no_rotation_in_progress: none was started, or another confirmation succeeded', async () => {
      const nonce = randomBytes(32).toString('base64url');
      await assertRefusal(await confirm({ nonce, keys: [] }), 'rotation.no_rotation_in_progress');
      const { body } = await confirmed();
      await assertRefusal(await confirm({ ...body, more: 1 }, fresh.pop), 'rotation.no_rotation_in_progress');
    });

    it('7.16 rotation_nonce_expired: after ten minutes, before the nonce is compared', async () => {
      const started = await start();
      await server.clock.advance(600_001);
      await assertRefusal(await confirm({ nonce: started.nonce, keys: items(started.nonce) }), 'rotation.rotation_nonce_expired');
      await assertRefusal(await confirm({ nonce: randomBytes(32).toString('base64url'), keys: [] }), 'rotation.rotation_nonce_expired');
    });

    it('7.16 rotation_nonce_mismatch: another nonce, or the one of a replaced rotation', async () => {
      const first = await start();
      await assertRefusal(await confirm({ nonce: randomBytes(32).toString('base64url'), keys: [] }), 'rotation.rotation_nonce_mismatch');
      const second = await start();
      await assertRefusal(await confirm({ nonce: first.nonce, keys: items(first.nonce) }), 'rotation.rotation_nonce_mismatch');
      assert.equal((await confirm({ nonce: second.nonce, keys: items(second.nonce) })).status, 200);
    });

    it('7.16 rotation_set_mismatch: missing, extra, repeated, foreign or malformed entries', async () => {
      const { nonce } = await start();
      const [pop, uv] = items(nonce);
      for (const keys of [
        undefined,
        'x',
        [],
        [pop],
        [pop, pop],
        [pop, uv, uv],
        [pop, { ...uv, key_id: makeKey('uv', 'ES256').keyId }],
        [pop, 1],
        [pop, null],
      ]) {
        await assertRefusal(await confirm({ nonce, keys }), 'rotation.rotation_set_mismatch');
      }
    });

    it('7.16 rotation_set_mismatch: a slot was revoked since the start', async () => {
      const { nonce } = await start();
      await server.gatehouse.services.database.write(user.tenant, (queries) =>
        revokeDeviceKey(queries, user.tenant, phone.deviceId, phone.keys.uv.keyId),
      );
      await assertRefusal(await confirm({ nonce, keys: items(nonce) }), 'rotation.rotation_set_mismatch');
    });

    it('7.16 bad_new_key_bytes: not canonical, wrong type, not allowed, small order, used before or twice', async () => {
      const { nonce } = await start();
      const [pop, uv] = items(nonce);
      const trailing = Buffer.concat([Buffer.from(fresh.pop.publicKey, 'base64'), Buffer.of(0)]).toString('base64');
      const smallOrder = `${Buffer.from('302a300506032b6570032100', 'hex').toString('base64')}${Buffer.from([1, ...Array(31).fill(0)]).toString('base64')}`;
      const again = phone.rotation(phone.keys.pop, { ...phone.keys.pop }, nonce);
      for (const change of [
        { public_key: trailing },
        { public_key: fresh.pop.publicKey.slice(1) },
        { public_key: 1 },
        { public_key: undefined },
        { alg: 'RS256' },
        { alg: 'none' },
        { alg: undefined },
        { alg: 'EdDSA', public_key: smallOrder },
        { public_key: again.public_key },
        { alg: fresh.uv.alg, public_key: fresh.uv.publicKey },
      ]) {
        await assertRefusal(await confirm({ nonce, keys: [{ ...pop, ...change }, uv] }), 'rotation.bad_new_key_bytes');
      }
    });

    it('7.16 bad_new_key_signature: missing, over another nonce, by another key, or without the old uv key', async () => {
      const { nonce } = await start();
      const [pop, uv] = items(nonce);
      const other = phone.rotation(phone.keys.pop, fresh.pop, randomBytes(32).toString('base64url'));
      for (const keys of [
        [{ ...pop, signature: undefined }, uv],
        [{ ...pop, signature: 'x' }, uv],
        [{ ...pop, signature: other.signature }, uv],
        [{ ...pop, signature: uv!.signature }, uv],
        [pop, { ...uv, old_signature: undefined }],
        [pop, { ...uv, old_signature: uv!.signature }],
      ]) {
        await assertRefusal(await confirm({ nonce, keys }), 'rotation.bad_new_key_signature');
      }
      assert.equal((await confirm({ nonce, keys: [uv, pop] })).status, 200); // a refused confirmation left it open
    });

    it('7.16: an identical retry gets the same answer under either key', async () => {
      const started = await start();
      const body = { nonce: started.nonce, keys: items(started.nonce) };
      const first = await (await confirm(body)).text();
      for (const key of [phone.keys.pop, fresh.pop]) {
        const again = await confirm(body, key);
        assert.equal(again.status, 200);
        assert.equal(await again.text(), first);
      }
    });

    it('7.16: the previous key may not rotate', async () => {
      const { started } = await confirmed();
      await assertRefusal(await phone.post('/keys/rotate/start'), 'device.bad_signature');
      await assertRefusal(await confirm({ nonce: started.nonce, keys: [] }), 'device.bad_signature');
      await assertRefusal(await phone.post('/keys/rotate/complete', { rotation_id: started.rotation_id }), 'device.bad_signature');
      await assertRefusal(await phone.post('/keys/rotate/abort'), 'device.bad_signature');
    });

    it('7.16: 20 parallel confirmations of one rotation with different keys: one succeeds', async () => {
      const { nonce } = await start({ key_ids: [phone.keys.pop.keyId] });
      const attempts = Array.from({ length: 20 }, () => {
        const key = makeKey('pop', 'ES256', phone.keys.pop.keyId);
        return confirm({ nonce, keys: [phone.rotation(phone.keys.pop, key, nonce)] });
      });
      const statuses = (await Promise.all(attempts)).map((response) => response.status);
      assert.equal(statuses.filter((status) => status === 200).length, 1, statuses.join(' '));
    });
  });
}
