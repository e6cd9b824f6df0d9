// Limits of WebAuthn responses at n and n+1. Over HTTP every response that is not accepted has one answer, so what is taken
// apart is asked of the parser itself.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { passkeyCredentialIdBytesMax, passkeyTextCharsMax, passkeyTransportsMax } from '../../src/contract/limits.ts';
import { parseAssertion, parseAttestation } from '../../src/crypto/webauthn.ts';

const encode = (bytes: number): string => Buffer.alloc(bytes, 7).toString('base64url');
const clientDataJSON = Buffer.from(JSON.stringify({ type: 'webauthn.get', challenge: 'c', origin: 'https://id.example' })).toString(
  'base64url',
);

const assertion = (over: { readonly idBytes?: number; readonly response?: object } = {}) => {
  const id = encode(over.idBytes ?? 32);
  const response = { clientDataJSON, authenticatorData: encode(37), signature: encode(70), ...over.response };
  return { id, rawId: id, type: 'public-key', response };
};
const attestation = (response: object) => {
  const { response: _none, ...rest } = assertion();
  return { ...rest, response: { clientDataJSON, attestationObject: encode(300), ...response } };
};

/** Base64url text of exactly so many characters: lengths of 1 modulo 4 do not exist. */
const textOf = (chars: number): string => encode(Math.floor((chars * 3) / 4));

describe('limits of passkey responses', () => {
  it('passkeyCredentialIdBytesMax', () => {
    assert.ok(parseAssertion(assertion({ idBytes: passkeyCredentialIdBytesMax })));
    assert.equal(parseAssertion(assertion({ idBytes: passkeyCredentialIdBytesMax + 1 })), undefined);
  });

  it('passkeyTextCharsMax: of every text; the next longer base64url text has two characters more', () => {
    const [exact, longer] = [textOf(passkeyTextCharsMax), textOf(passkeyTextCharsMax + 2)];
    assert.deepEqual([exact.length, longer.length], [passkeyTextCharsMax, passkeyTextCharsMax + 2]);
    for (const name of ['authenticatorData', 'signature', 'userHandle']) {
      assert.ok(parseAssertion(assertion({ response: { [name]: exact } })), name);
      assert.equal(parseAssertion(assertion({ response: { [name]: longer } })), undefined, name);
    }
    assert.ok(parseAttestation(attestation({ attestationObject: exact })));
    assert.equal(parseAttestation(attestation({ attestationObject: longer })), undefined);
  });

  it('passkeyTransportsMax', () => {
    const transports = (count: number) => ({ transports: Array.from({ length: count }, () => 'internal') });
    assert.ok(parseAttestation(attestation(transports(passkeyTransportsMax))));
    assert.equal(parseAttestation(attestation(transports(passkeyTransportsMax + 1))), undefined);
  });
});
