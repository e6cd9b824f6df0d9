// Verifies a classic Play Integrity token with the keys of the Play console: JWE (A256KW, A256GCM) around a JWS (ES256).
// Pure: keys, time and expected values are parameters. Called by the enrolment; Google's online decoding is not used.
import { createPublicKey, type KeyObject } from 'node:crypto';
import { decodeBase64, decodeBase64Url } from '../../crypto/base64.ts';
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

interface PlayIntegrityEvidence {
  readonly packageName: string;
  readonly deviceVerdicts: readonly string[];
}

const playIntegrityTokenLengthMax = 32_768;
const freshnessMs = 300_000;

type Json = Readonly<Record<string, unknown>>;

/** Whether a token answers `nonce`, for an allowed app that Play recognises on a device that meets integrity. */
export async function verifyPlayIntegrity(
  input: { readonly token: string; readonly nonce: string },
  policy: PlayIntegrityPolicy,
): Promise<AttestationOutcome<PlayIntegrityEvidence>> {
  const opened = await openToken(input.token, policy);
  if (!opened.ok) return opened;
  return attestationOutcome(() => {
    const payload = parseJson(opened.evidence);
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

/** The bytes in a token: decrypted (RFC 7516), then verified (RFC 7515), each by one algorithm only. */
async function openToken(token: string, policy: PlayIntegrityPolicy): Promise<AttestationOutcome<Uint8Array>> {
  if (token.length > playIntegrityTokenLengthMax) return { ok: false, subreason: 'token_too_large' };
  // jose takes several texts for the same bytes; one token is one text here.
  if (!token.split('.').every((part) => decodeBase64Url(part) !== undefined)) return { ok: false, subreason: 'jwe_shape' };
  const { compactDecrypt, compactVerify, errors } = await import('jose'); // most servers see none of these: not at start
  const decrypted = await outcomeOf('jwe', async () => {
    const algorithms = { keyManagementAlgorithms: ['A256KW'], contentEncryptionAlgorithms: ['A256GCM'], maxDecompressedLength: 0 };
    return (await compactDecrypt(token, policy.decryptionKey, algorithms)).plaintext;
  });
  if (!decrypted.ok) return decrypted;
  return outcomeOf('jws', async () => {
    const { payload, protectedHeader } = await compactVerify(decrypted.evidence, policy.verificationKey, { algorithms: ['ES256'] });
    if (protectedHeader.crit !== undefined || protectedHeader.b64 !== undefined) throw new errors.JOSENotSupported('critical headers');
    return payload;
  });
}

/** What jose's codes mean, below `jwe_` or `jws_`. */
const faults: Readonly<Record<string, string>> = {
  ERR_JWE_INVALID: 'shape',
  ERR_JWS_INVALID: 'shape',
  ERR_JOSE_ALG_NOT_ALLOWED: 'algorithm',
  ERR_JOSE_NOT_SUPPORTED: 'algorithm',
  ERR_JWE_DECRYPTION_FAILED: 'decryption',
  ERR_JWS_SIGNATURE_VERIFICATION_FAILED: 'signature',
};

async function outcomeOf(layer: 'jwe' | 'jws', open: () => Promise<Uint8Array>): Promise<AttestationOutcome<Uint8Array>> {
  try {
    return { ok: true, evidence: await open() };
  } catch (error) {
    const fault = error instanceof Error && 'code' in error ? faults[String(error.code)] : undefined;
    if (fault === undefined) throw error;
    return { ok: false, subreason: `${layer}_${fault}` };
  }
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
