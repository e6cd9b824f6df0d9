// E14: parallel wrong PINs count exactly the allowed attempts; parallel right PINs verify once.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { databases } from '../support/databases.ts';
import { changeSettings, createUser, testDevice, unlimited } from '../support/enrolled-phone.ts';
import { otherPin, pinOf } from '../support/mailbox.ts';
import { createPhone } from '../support/phone.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

for (const database of databases) {
  describe(`parallel PINs on ${database}`, () => {
    let server: TestServer;
    before(async () => {
      server = await startTestServer(database);
      await changeSettings(server, unlimited);
    });
    after(() => server.close());

    const registering = async (email: string) => {
      await createUser(server, email);
      const phone = createPhone(server.url, server.clock.nowMs);
      const response = await phone.post('/registration/start', { email, device: testDevice, keys: phone.publicKeys() });
      const { registration_token: token } = (await response.json()) as { registration_token: string };
      const pin = await pinOf(server, email);
      return { pin, verify: (presented: string) => phone.post('/pin/verify', { registration_token: token, pin: presented }) };
    };

    it('500 parallel wrong PINs: four pin_invalid, the rest pin_locked, and the right PIN stays locked', async () => {
      const { pin, verify } = await registering('ada@example.com');
      const responses = await Promise.all(Array.from({ length: 500 }, () => verify(otherPin(pin))));
      const bodies = await Promise.all(
        responses.map(async (response) => (await response.json()) as { error: string; attempts_left?: number }),
      );
      const left = bodies.filter((body) => body.error === 'pin_invalid').map((body) => body.attempts_left);
      assert.deepEqual(left.sort(), [1, 2, 3, 4]);
      assert.equal(bodies.filter((body) => body.error === 'pin_locked').length, 496);
      assert.equal((await verify(pin)).status, 403);
    });

    it('30 parallel right PINs: one verifies', async () => {
      const { pin, verify } = await registering('bob@example.com');
      const responses = await Promise.all(Array.from({ length: 30 }, () => verify(pin)));
      assert.equal(responses.filter((response) => response.status === 200).length, 1);
    });
  });
}
