// The texts a phone signs and their encoding. The server builds the same texts on its own; test/vectors binds the two.
import { createHash } from 'node:crypto';

export const protocolVersion = '1';

export interface RequestToSign {
  readonly protocolVersion: string;
  readonly issuer: string;
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly timestamp: string;
  readonly deviceId: string;
  readonly keyId: string;
  readonly body: Uint8Array;
}

/** The bytes of one signed request: ten lines, LF between them, none at the end. */
export function requestText(request: RequestToSign): Buffer {
  const lines = [
    'GATEHOUSE-DEVICE-V1',
    request.protocolVersion,
    request.issuer,
    request.method,
    request.path,
    request.query,
    request.timestamp,
    request.deviceId,
    request.keyId,
    hexDigest(request.body),
  ];
  return Buffer.from(lines.join('\n'), 'utf8');
}

/** What each new key signs at enrolment. */
export function enrollText(issuer: string, deviceId: string, keyId: string, publicKey: string, challenge: string): Buffer {
  const digest = hexDigest(Buffer.from(publicKey, 'base64'));
  return Buffer.from(['GATEHOUSE-ENROLL-V1', issuer, deviceId, keyId, digest, challenge].join('\n'), 'utf8');
}

/** What each new key, and the old key of a uv slot, signs at rotation. */
export function rotateText(
  issuer: string,
  deviceId: string,
  slot: { readonly keyId: string; readonly alg: string; readonly publicKey: string },
  nonce: string,
): Buffer {
  const digest = hexDigest(Buffer.from(slot.publicKey, 'base64'));
  return Buffer.from(['GATEHOUSE-KEY-ROTATE-V1', issuer, deviceId, slot.keyId, nonce, slot.alg, digest].join('\n'), 'utf8');
}

/** What an app attestation covers: Apple hashes it, Play Integrity takes its hash as the nonce. */
export function attestationText(
  issuer: string,
  deviceId: string,
  challenge: string,
  slots: readonly { readonly keyId: string; readonly publicKey: string }[],
): Buffer {
  const lines = slots.map((slot) => `${slot.keyId}:${hexDigest(Buffer.from(slot.publicKey, 'base64'))}`);
  return Buffer.from(['GATEHOUSE-ENROLL-V1', issuer, deviceId, challenge, ...lines.sort()].join('\n'), 'utf8');
}

function hexDigest(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}
