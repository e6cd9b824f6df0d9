// The exact texts a phone signs: requests, enrolment proofs, rotation proofs and the attestation's client data.
// One tag per purpose, so a signature made for one is never valid for another. Pure; called by the device plane only.
import { createHash, hash } from 'node:crypto';

interface SignedRequestParts {
  readonly protocolVersion: string;
  readonly issuer: string;
  readonly method: string;
  /** As on the request line, below the path of the issuer. */
  readonly rawPath: string;
  readonly rawQuery: string;
  readonly timestamp: string;
  readonly deviceId: string;
  readonly keyId: string;
  readonly bodySha256: string;
}

/** Lower-case hex SHA-256. */
export function sha256Hex(bytes: Uint8Array | string): string {
  return hash('sha256', bytes, 'hex');
}

/** SHA-256 as bytes. */
export function sha256(...parts: readonly (Uint8Array | string)[]): Buffer {
  const digest = createHash('sha256');
  for (const part of parts) digest.update(part);
  return digest.digest();
}

/** The bytes of a signed request: UTF-8, LF between the lines, none at the end. */
export function signedRequestBytes(parts: SignedRequestParts): Buffer {
  return Buffer.from(
    `GATEHOUSE-DEVICE-V1\n${parts.protocolVersion}\n${parts.issuer}\n${parts.method}\n${parts.rawPath}\n${parts.rawQuery}\n` +
      `${parts.timestamp}\n${parts.deviceId}\n${parts.keyId}\n${parts.bodySha256}`,
    'utf8',
  );
}

/** The proof of possession of one key at enrolment. */
export function enrollProofBytes(parts: {
  readonly issuer: string;
  readonly deviceId: string;
  readonly keyId: string;
  readonly spki: Uint8Array;
  readonly challenge: string;
}): Buffer {
  return Buffer.from(
    `GATEHOUSE-ENROLL-V1\n${parts.issuer}\n${parts.deviceId}\n${parts.keyId}\n${sha256Hex(parts.spki)}\n${parts.challenge}`,
    'utf8',
  );
}

/** The proof of possession of one new key at rotation. */
export function rotationProofBytes(parts: {
  readonly issuer: string;
  readonly deviceId: string;
  readonly keyId: string;
  readonly nonce: string;
  readonly alg: string;
  readonly spki: Uint8Array;
}): Buffer {
  return Buffer.from(
    `GATEHOUSE-KEY-ROTATE-V1\n${parts.issuer}\n${parts.deviceId}\n${parts.keyId}\n${parts.nonce}\n${parts.alg}\n${sha256Hex(parts.spki)}`,
    'utf8',
  );
}

/** What an app attestation vouches for: the issuer, the device, the challenge and every enrolled key, sorted by key id. */
export function attestationClientData(parts: {
  readonly issuer: string;
  readonly deviceId: string;
  readonly challenge: string;
  readonly keys: readonly { readonly keyId: string; readonly spki: Uint8Array }[];
}): Buffer {
  const lines = parts.keys.map((key) => `${key.keyId}:${sha256Hex(key.spki)}`).sort();
  return Buffer.from(`GATEHOUSE-ENROLL-V1\n${parts.issuer}\n${parts.deviceId}\n${parts.challenge}\n${lines.join('\n')}`, 'utf8');
}
