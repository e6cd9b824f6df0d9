// The published signing vectors against a running server: a server at the vectors' issuer and time, with their keys enrolled.
import assert from 'node:assert/strict';
import { createPrivateKey } from 'node:crypto';
import { request as httpRequest } from 'node:http';
import { after, before, describe, it } from 'node:test';
import { sha256Hex } from '../../src/crypto/signed-string.ts';
import type { DeviceId } from '../../src/domain/ids.ts';
import { insertDevice } from '../../src/storage/device/devices.ts';
import { loadSigningVectors, type SigningVector } from '../support/device-vectors.ts';
import { changeSettings, createUser, unlimited } from '../support/enrolled-phone.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

const vectors = loadSigningVectors();
const root = 'https://id.example';

describe('signing vectors over HTTP', () => {
  let server: TestServer;
  before(async () => {
    const at = Number(vectors.cases[0]!.request.timestamp);
    server = await startTestServer('sqlite', {
      flags: { public_url: root },
      clock: { nowMs: () => at + 1000, advance: async () => undefined },
    });
    await changeSettings(server, unlimited);
    const user = await createUser(server, 'ada@example.com');
    const slots = Object.entries(vectors.keys).map(([alg, key]) => ({
      keyId: key.key_id,
      purpose: 'pop' as const,
      alg,
      publicKey: key.public_key,
      fingerprint: sha256Hex(Buffer.from(key.public_key, 'base64')),
    }));
    const facts = {
      platform: 'other',
      name: 'Vectors',
      model: null,
      os_version: null,
      app_version: null,
      attestation: undefined,
      key_protection: 'claimed',
    };
    const id = vectors.cases[0]!.request.device_id as DeviceId; // the published device
    await server.gatehouse.services.database.write(user.tenant, (queries) =>
      insertDevice(queries, user.tenant, { ...facts, id, user_id: user.id, slots }),
    );
  });
  after(() => server.close());

  // The issuer is not sent, and another path is no endpoint: those vectors are judged by the unit tests.
  const routed = '/v1/device/self';
  const sendable = vectors.cases.filter((vector) => vector.request.issuer === root && vector.request.path === routed);

  it('there are enough of them, and each private key belongs to its public key', () => {
    assert.ok(sendable.length >= 60);
    for (const key of Object.values(vectors.keys)) {
      assert.equal(createPrivateKey({ key: Buffer.from(key.private_key, 'base64'), format: 'der', type: 'pkcs8' }).type, 'private');
    }
  });

  for (const vector of sendable) {
    it(`${vector.name}: ${vector.expect}`, async () => {
      const { status, kind } = await send(server, vector);
      if (vector.expect === 'valid') assert.ok(status !== 401 && status !== 426, `${status} ${kind}`);
      else assert.deepEqual([status, kind], [401, expectedKind(vector)]);
    });
  }
});

// Ids that are changed name no enrolled key, which is told before the signature is looked at.
function expectedKind(vector: SigningVector): string {
  const { device_id: device, key_id: key } = vector.request;
  const known = device === vectors.cases[0]!.request.device_id && key === vectors.keys[vector.alg].key_id;
  return vector.expect === 'bad_signature' && !known ? 'device_key_revoked' : vector.expect;
}

function send(server: TestServer, vector: SigningVector): Promise<{ readonly status: number; readonly kind: string | undefined }> {
  const { request } = vector;
  const address = server.gatehouse.app.server.address();
  assert.ok(typeof address === 'object' && address !== null);
  const path = `${request.path}${request.query === '' ? '' : `?${request.query}`}`;
  const headers = {
    host: new URL(root).host,
    'x-protocol-version': request.protocol_version,
    'x-device-id': request.device_id,
    'x-device-key-id': request.key_id,
    'x-timestamp': request.timestamp,
    'x-signature': vector.signature,
    ...(request.body === '' ? {} : { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(request.body)) }),
  };
  return new Promise((resolve, fail) => {
    const sent = httpRequest({ host: '127.0.0.1', port: address.port, method: request.method, path, headers }, async (incoming) => {
      const chunks: Buffer[] = [];
      for await (const chunk of incoming) chunks.push(chunk);
      const text = Buffer.concat(chunks).toString();
      resolve({ status: incoming.statusCode ?? 0, kind: text.startsWith('{') ? JSON.parse(text).kind : undefined });
    });
    sent.on('error', fail).end(request.body);
  });
}
