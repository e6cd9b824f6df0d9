// Verifies a classic Play Integrity token with the keys of the Play console: JWE (A256KW, A256GCM) around a JWS (ES256).
// Pure: keys, time and expected values are parameters. Called by the enrolment; Google's online decoding is not used.
import { createDecipheriv, createPublicKey, type KeyObject, verify as verifySignature } from 'node:crypto';
import { decodeBase64, decodeBase64Url } from '../../crypto/base64.ts';
import { ecdsaSignatureDer } from '../../crypto/device-algorithms.ts';
import { type AttestationOutcome, attestationOutcome, demand } from './outcome.ts';

export interface PlayIntegrityPolicy {
  /** The console's response decryption key: 32 bytes. */
  readonly decryptionKey: Uint8Array;
  /** The console's response verification key: a P-256 public key. */
  readonly verificationKey: KeyObject;
  readonly at: Date;
  readonly packages: readonly string[];
  /** Lower-case hex SHA-256; empty accepts any certificate of an app Play recognises. */
  readonly signingDigests: readonly string[];
}

export interface PlayIntegrityEvidence {
  readonly packageName: string;
  readonly deviceVerdicts: readonly string[];
}

export const playIntegrityTokenLengthMax = 32_768;
const freshnessMs = 300_000;
const keyWrapIv = Buffer.alloc(8, 0xa6); // RFC 3394 section 2.2.3.1

type Json = Readonly<Record<string, unknown>>;

/** Whether a token answers `nonce`, for an allowed app that Play recognises on a device that meets integrity. */
export function verifyPlayIntegrity(
  input: { readonly token: string; readonly nonce: string },
  policy: PlayIntegrityPolicy,
): AttestationOutcome<PlayIntegrityEvidence> {
  return attestationOutcome(() => {
    demand(input.token.length <= playIntegrityTokenLengthMax, 'token_too_large');
    const payload = verifyJws(decryptJwe(input.token, policy.decryptionKey), policy.verificationKey);
    const request = objectOf(payload['requestDetails']);
    const packageName = request['requestPackageName'];
    demand(typeof packageName === 'string' && policy.packages.includes(packageName), 'package_not_allowed');
    demand(request['nonce'] === input.nonce, 'nonce_mismatch');
    const made = Number(request['timestampMillis']);
    demand(Number.isSafeInteger(made) && Math.abs(policy.at.getTime() - made) <= freshnessMs, 'token_not_fresh');
    demandApp(objectOf(payload['appIntegrity']), packageName, policy);
    const verdicts = objectOf(payload['deviceIntegrity'])['deviceRecognitionVerdict'];
    demand(Array.isArray(verdicts), 'device_verdict');
    const deviceVerdicts = verdicts.filter((verdict) => typeof verdict === 'string');
    demand(deviceVerdicts.includes('MEETS_DEVICE_INTEGRITY') || deviceVerdicts.includes('MEETS_STRONG_INTEGRITY'), 'device_verdict');
    return { packageName, deviceVerdicts };
  });
}

/** The console's verification key from its base64 SPKI, or undefined when it is not a P-256 key. */
export function parsePlayVerificationKey(text: string): KeyObject | undefined {
  const der = decodeBase64(text);
  if (der === undefined) return undefined;
  try {
    const key = createPublicKey({ key: der, format: 'der', type: 'spki' });
    return key.asymmetricKeyDetails?.namedCurve === 'prime256v1' ? key : undefined;
  } catch {
    return undefined;
  }
}

function demandApp(app: Json, packageName: string, policy: PlayIntegrityPolicy): void {
  demand(app['appRecognitionVerdict'] === 'PLAY_RECOGNIZED', 'app_not_recognized');
  demand(app['packageName'] === packageName, 'package_not_allowed');
  if (policy.signingDigests.length === 0) return;
  const digests = app['certificateSha256Digest'];
  demand(Array.isArray(digests) && digests.length > 0, 'signing_digest_not_allowed');
  for (const digest of digests) {
    const bytes = typeof digest === 'string' ? decodeBase64Url(digest.replace(/=+$/, '')) : undefined;
    demand(bytes !== undefined && policy.signingDigests.includes(bytes.toString('hex')), 'signing_digest_not_allowed');
  }
}

// RFC 7516 section 5.2, for one pair of algorithms only.
function decryptJwe(token: string, decryptionKey: Uint8Array): string {
  const parts = token.split('.');
  const [header, wrapped, iv, ciphertext, tag] = parts.map(decodePart);
  demand(parts.length === 5 && header !== undefined && ciphertext !== undefined, 'jwe_shape');
  const { alg, enc, zip, crit } = parseJson(header);
  demand(alg === 'A256KW' && enc === 'A256GCM' && zip === undefined && crit === undefined, 'jwe_algorithm');
  demand(wrapped?.byteLength === 40 && iv?.byteLength === 12 && tag?.byteLength === 16, 'jwe_shape');
  try {
    const unwrap = createDecipheriv('id-aes256-wrap', decryptionKey, keyWrapIv);
    const contentKey = Buffer.concat([unwrap.update(wrapped), unwrap.final()]);
    const decipher = createDecipheriv('aes-256-gcm', contentKey, iv, { authTagLength: 16 });
    decipher.setAAD(Buffer.from(parts[0]!, 'latin1'));
    decipher.setAuthTag(tag);
    return Buffer.concat([decipher.update(ciphertext), decipher.final()]).toString('latin1');
  } catch {
    demand(false, 'jwe_decryption');
  }
}

// RFC 7515 section 5.2, ES256 only.
function verifyJws(token: string, key: KeyObject): Json {
  const parts = token.split('.');
  const [header, payload, signature] = parts.map(decodePart);
  demand(parts.length === 3 && header !== undefined && payload !== undefined, 'jws_shape');
  const { alg, crit, b64 } = parseJson(header);
  demand(alg === 'ES256' && crit === undefined && b64 === undefined, 'jws_algorithm');
  demand(signature?.byteLength === 64, 'jws_signature');
  const der = ecdsaSignatureDer(signature);
  const signed = Buffer.from(`${parts[0]}.${parts[1]}`, 'latin1');
  demand(der !== undefined && verifySignature('sha256', signed, key, der), 'jws_signature');
  return parseJson(payload);
}

function decodePart(part: string): Buffer | undefined {
  return part === '' ? undefined : decodeBase64Url(part);
}

function parseJson(bytes: Uint8Array): Json {
  let value: unknown;
  try {
    value = JSON.parse(Buffer.from(bytes).toString('utf8'));
  } catch {
    value = undefined;
  }
  return objectOf(value);
}

function objectOf(value: unknown): Json {
  demand(typeof value === 'object' && value !== null && !Array.isArray(value), 'payload_shape');
  return value as Json; // an object, checked on the line before
}
