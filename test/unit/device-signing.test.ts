import assert from 'node:assert/strict';
import { createPrivateKey, createPublicKey } from 'node:crypto';
import { test } from 'node:test';
import { signText } from '../../sdk/node.ts';
import { requestText } from '../../sdk/signing.ts';
import { decodeBase64 } from '../../src/crypto/base64.ts';
import { deviceAlgorithms, parseDevicePublicKey } from '../../src/crypto/device-algorithms.ts';
import { sha256Hex, signedRequestBytes } from '../../src/crypto/signed-string.ts';
import { loadSigningVectors, type SigningVector } from '../support/device-vectors.ts';

const vectors = loadSigningVectors();

for (const vector of vectors.cases) {
  test(`signing vector, server: ${vector.name}: ${vector.expect}`, () => {
    assert.equal(serverText(vector).toString('utf8'), vector.signed_text);
    const signature = decodeBase64(vector.signature);
    if (vector.expect === 'bad_signed_headers' && signature === undefined) return;
    assert.ok(signature);
    const key = parseDevicePublicKey(vector.alg, Buffer.from(vectors.keys[vector.alg].public_key, 'base64'));
    assert.ok(key);
    // Header rules and replay are the server's business over HTTP; the signature itself is good in those cases.
    const verified = deviceAlgorithms[vector.alg].verify(key, serverText(vector), signature);
    assert.equal(verified, vector.expect !== 'bad_signature');
  });

  test(`signing vector, SDK: ${vector.name}`, () => {
    assert.equal(sdkText(vector), vector.signed_text);
  });
}

for (const alg of ['ES256', 'EdDSA', 'RS256'] as const) {
  test(`SDK signatures of ${alg} verify on the server's side`, () => {
    const pkcs8 = Buffer.from(vectors.keys[alg].private_key, 'base64');
    const key = createPrivateKey({ key: pkcs8, format: 'der', type: 'pkcs8' });
    const text = Buffer.from('text');
    assert.equal(deviceAlgorithms[alg].verify(createPublicKey(key), text, signText(key, text)), true);
  });
}

function serverText(vector: SigningVector): Buffer {
  const { request } = vector;
  return signedRequestBytes({
    protocolVersion: request.protocol_version,
    issuer: request.issuer,
    method: request.method,
    rawPath: request.path,
    rawQuery: request.query,
    timestamp: request.timestamp,
    deviceId: request.device_id,
    keyId: request.key_id,
    bodySha256: sha256Hex(request.body),
  });
}

function sdkText(vector: SigningVector): string {
  const { request } = vector;
  return requestText({
    protocolVersion: request.protocol_version,
    issuer: request.issuer,
    method: request.method,
    path: request.path,
    query: request.query,
    timestamp: request.timestamp,
    deviceId: request.device_id,
    keyId: request.key_id,
    bodySha256: sha256Hex(request.body),
  });
}
