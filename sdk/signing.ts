// The texts a phone signs: lines with LF between them, none at the end. The server builds the same texts on its own;
// sdk/vectors binds the two. Digests are lower-case hex SHA-256, so that building a text needs no cryptography.

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
  readonly bodySha256: string;
}

/** One signed request: ten lines. */
export function requestText(request: RequestToSign): string {
  return lines([
    'GATEHOUSE-DEVICE-V1',
    request.protocolVersion,
    request.issuer,
    request.method,
    request.path,
    request.query,
    request.timestamp,
    request.deviceId,
    request.keyId,
    request.bodySha256,
  ]);
}

/** What each new key signs at enrolment. */
export function enrollText(proof: {
  readonly issuer: string;
  readonly deviceId: string;
  readonly keyId: string;
  readonly publicKeySha256: string;
  readonly challenge: string;
}): string {
  return lines(['GATEHOUSE-ENROLL-V1', proof.issuer, proof.deviceId, proof.keyId, proof.publicKeySha256, proof.challenge]);
}

/** What each new key, and the old key of a uv slot, signs at rotation. */
export function rotateText(proof: {
  readonly issuer: string;
  readonly deviceId: string;
  readonly keyId: string;
  readonly nonce: string;
  readonly alg: string;
  readonly publicKeySha256: string;
}): string {
  return lines(['GATEHOUSE-KEY-ROTATE-V1', proof.issuer, proof.deviceId, proof.keyId, proof.nonce, proof.alg, proof.publicKeySha256]);
}

/** What an app attestation covers: Apple hashes it, Play Integrity takes its hash as the nonce. */
export function attestationText(attested: {
  readonly issuer: string;
  readonly deviceId: string;
  readonly challenge: string;
  readonly keys: readonly { readonly keyId: string; readonly publicKeySha256: string }[];
}): string {
  const keys = attested.keys.map((key) => `${key.keyId}:${key.publicKeySha256}`).sort();
  return lines(['GATEHOUSE-ENROLL-V1', attested.issuer, attested.deviceId, attested.challenge, ...keys]);
}

const lines = (parts: readonly string[]): string => parts.join('\n');
