// A key rotation whose confirmation is under way when the next call about it comes: sent again, as a phone does that hears
// nothing, or a new start. Another connection holds the confirmation where it has written everything.
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { databases, onServer, someoneWaitsFor } from '../support/databases.ts';
import { changeSettings, createUser, enrolledPhone, unlimited } from '../support/enrolled-phone.ts';
import { jsonOf } from '../support/management.ts';
import { makeKey, type Phone } from '../support/phone.ts';
import { assertRefusal } from '../support/refusal.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

if (databases.includes('postgres'))
  describe('a rotation whose confirmation takes long', () => {
    let server: TestServer;
    let phone: Phone;
    let confirm: () => Promise<Response>;
    let people = 0;
    before(async () => {
      server = await startTestServer('postgres');
      await changeSettings(server, unlimited);
    });
    after(() => server.close());
    beforeEach(async () => {
      people += 1;
      phone = await enrolledPhone(server, await createUser(server, `person${people}@example.com`));
      const { nonce } = await jsonOf<{ readonly nonce: string }>(await phone.post('/keys/rotate/start'), 200);
      const { pop, uv } = phone.keys;
      const fresh = { pop: makeKey('pop', 'ES256', pop.keyId), uv: makeKey('uv', 'EdDSA', uv.keyId) };
      const body = { nonce, keys: [phone.rotation(pop, fresh.pop, nonce), phone.rotation(uv, fresh.uv, nonce)] };
      confirm = () => phone.post('/keys/rotate/confirm', body);
    });

    /** What a call is answered that comes while a confirmation is under way, and what that one is. */
    const during = async (call: () => Promise<Response>): Promise<readonly [Response, Response]> => {
      let answers: readonly Promise<Response>[] = [];
      await onServer(server.database.databaseUrl!, async (session) => {
        await session.query('BEGIN');
        await session.query('LOCK TABLE audit_events IN EXCLUSIVE MODE');
        const confirming = confirm();
        await someoneWaitsFor(session);
        answers = [call(), confirming];
        await someoneWaitsFor(session, 2);
        await session.query('COMMIT');
      });
      return [await answers[0]!, await answers[1]!];
    };

    it('the same sent again gets the same answer', async () => {
      const [again, first] = await during(confirm);
      assert.equal(again.status, 200, await again.clone().text());
      assert.deepEqual(await again.json(), await jsonOf(first, 200));
    });

    it('a start rotates nothing that is being replaced, and the answer stays for who asks again', async () => {
      const [started, first] = await during(() => phone.post('/keys/rotate/start'));
      const again = await confirm();
      assert.equal(again.status, 200, await again.clone().text());
      assert.deepEqual(await again.json(), await jsonOf(first, 200));
      await assertRefusal(started, 'rotation.no_keys_to_rotate');
    });
  });
