// A phone of an existing user that went through mail and PIN and may enrol.
import assert from 'node:assert/strict';
import { type TestUser, testDevice } from './enrolled-phone.ts';
import { pinOf } from './mailbox.ts';
import { createPhone } from './phone.ts';
import type { TestServer } from './server.ts';

/** The phone, and a function that sends its enrolment. */
export async function registered(server: TestServer, user: Pick<TestUser, 'email'>, baseUrl = server.url) {
  const newcomer = createPhone(baseUrl, server.clock.nowMs);
  const started = await newcomer.post('/registration/start', { email: user.email, device: testDevice, keys: newcomer.publicKeys() });
  assert.equal(started.status, 202, await started.clone().text());
  const { registration_token: token } = (await started.json()) as { registration_token: string };
  const verified = await newcomer.post('/pin/verify', { registration_token: token, pin: await pinOf(server, user.email) });
  assert.equal(verified.status, 200, await verified.clone().text());
  const { attestation } = (await verified.json()) as { attestation: { challenge: string } };
  const send = () => newcomer.post('/enroll', { registration_token: token, proofs: newcomer.proofs(attestation.challenge) });
  return { newcomer, send };
}
