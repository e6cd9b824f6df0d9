// Reads the published signing vectors for the tests of server and SDK. Fails when the file holds fewer than it should.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';

export type VectorAlg = 'ES256' | 'EdDSA' | 'RS256';

export interface SigningVector {
  readonly name: string;
  readonly alg: VectorAlg;
  readonly request: {
    readonly protocol_version: string;
    readonly issuer: string;
    readonly method: string;
    readonly path: string;
    readonly query: string;
    readonly timestamp: string;
    readonly device_id: string;
    readonly key_id: string;
    readonly body: string;
  };
  readonly signed_text: string;
  readonly signature: string;
  readonly expect: 'valid' | 'bad_signature' | 'bad_signed_headers' | 'replayed_request';
  readonly after?: string;
}

export interface SigningVectors {
  readonly keys: Readonly<Record<VectorAlg, { readonly key_id: string; readonly private_key: string; readonly public_key: string }>>;
  readonly cases: readonly SigningVector[];
}

/** Every published case and the keys they were made with. */
export function loadSigningVectors(): SigningVectors {
  const vectors: SigningVectors = JSON.parse(readFileSync(new URL('../../sdk/vectors/requests.json', import.meta.url), 'utf8'));
  assert.ok(vectors.cases.length >= 70, `expected at least 70 signing vectors, found ${vectors.cases.length}`);
  return vectors;
}
