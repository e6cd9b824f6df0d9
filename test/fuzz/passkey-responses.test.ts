// Flipping any bit of what a passkey signs never verifies, and neither does flipping one of the signature. Every byte of the
// client data and the authenticator data is covered; which bit of it is drawn.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { parseAssertion, verifyAssertion } from '../../src/crypto/webauthn.ts';
import { type AssertionJson, createPasskey, type RequestOptions } from '../support/authenticator.ts';

const party = { id: 'id.example', origin: 'https://id.example' };
const challenge = Buffer.alloc(32, 7).toString('base64url');
const options: RequestOptions = { challenge, timeout: 1, rpId: party.id, allowCredentials: [], userVerification: 'required' };

/** ok, malformed, or the check that failed. */
async function outcomeOf(passkey: { readonly credentialId: string; readonly publicKey: string }, json: AssertionJson): Promise<string> {
  const assertion = parseAssertion(json);
  if (assertion === undefined) return 'malformed';
  const credential = { credentialId: passkey.credentialId, publicKey: passkey.publicKey, counter: 5 };
  const verdict = await verifyAssertion(party, credential, assertion, (presented) => presented === challenge);
  return verdict.ok ? 'ok' : verdict.reason;
}

function flip(text: string, byte: number, bit: number): string {
  const bytes = Buffer.from(text, 'base64url');
  bytes[byte] = bytes[byte]! ^ (1 << bit);
  return bytes.toString('base64url');
}

describe('passkey responses', () => {
  const passkey = createPasskey(party.origin, 'AAAA', 5);
  const good = passkey.sign(options);

  for (const part of ['clientDataJSON', 'authenticatorData', 'signature'] as const)
    it(`no flipped bit of ${part} verifies`, async () => {
      assert.equal(await outcomeOf(passkey, good), 'ok');
      const { length } = Buffer.from(good.response[part], 'base64url');
      assert.ok(length >= 37);
      const seen = new Set<string>();
      for (let byte = 0; byte < length; byte += 1)
        for (let bit = 0; bit < 8; bit += 1) {
          const response = { ...good.response, [part]: flip(good.response[part], byte, bit) };
          const outcome = await outcomeOf(passkey, { ...good, response });
          assert.notEqual(outcome, 'ok', `byte ${byte}, bit ${bit}`);
          seen.add(outcome);
        }
      assert.ok(seen.has('signature'));
    });

  it('no truncated, extended or foreign part verifies, and nothing throws', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom('clientDataJSON', 'authenticatorData', 'signature'),
        fc.oneof(
          fc.uint8Array({ maxLength: 400 }),
          fc.nat({ max: 36 }).map((cut) => cut),
        ),
        async (part, change) => {
          const bytes = Buffer.from(good.response[part], 'base64url');
          const changed = typeof change === 'number' ? bytes.subarray(0, change) : Buffer.concat([bytes, change]);
          const foreign = typeof change === 'number' ? changed : Buffer.from(change);
          for (const value of [changed, foreign]) {
            if (value.equals(bytes)) continue;
            const response = { ...good.response, [part]: value.toString('base64url') };
            assert.notEqual(await outcomeOf(passkey, { ...good, response }), 'ok');
          }
        },
      ),
      { numRuns: 300 },
    );
  });

  it('any JSON at all is parsed or refused', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        assert.equal(parseAssertion(value), undefined);
        assert.equal(parseAssertion({ ...good, response: value }), undefined);
      }),
    );
  });
});
