// The uv key of a web phone: a WebAuthn platform credential that signs device texts. The signature holds what the authenticator
// said after verifying its person, and a signature by the silent key of the same browser, so that a credential a vendor copied to
// another machine signs nothing alone. Called by the device plane with keys it has parsed; every fault is one `false`.
import { createHash, type KeyObject } from 'node:crypto';
import { deviceAlgorithms, isStrictEcdsaDer } from './device-algorithms.ts';

/** The algorithms of platform credentials, for web phones alone. */
export const platformCredentialAlgs = ['WebAuthn-ES256', 'WebAuthn-RS256'] as const;
export type PlatformCredentialAlg = (typeof platformCredentialAlgs)[number];

export const isPlatformCredentialAlg = (alg: string): alg is PlatformCredentialAlg =>
  (platformCredentialAlgs as readonly string[]).includes(alg);

/** The algorithm of the credential's own signature and key. */
export const credentialKeyAlg = (alg: PlatformCredentialAlg): 'ES256' | 'RS256' => (alg === 'WebAuthn-ES256' ? 'ES256' : 'RS256');

/** The algorithm a key's own bytes are read by: that of the credential, else the name itself. */
export const keyAlgOf = (alg: string): string => (isPlatformCredentialAlg(alg) ? credentialKeyAlg(alg) : alg);

interface PlatformSignature {
  readonly authenticatorData: Buffer;
  readonly clientDataJson: Buffer;
  readonly signature: Buffer;
  readonly popSignature: Buffer;
}

const popSignatureBytes = 64;
const authenticatorDataBytesMin = 37;
const userPresent = 0x01;
const userVerified = 0x04;
const backupEligible = 0x08;

/** Three parts, each behind its length in two bytes (big-endian), then 64 bytes of the silent key; undefined for other bytes. */
export function parsePlatformSignature(bytes: Buffer): PlatformSignature | undefined {
  const parts: Buffer[] = [];
  let at = 0;
  for (let index = 0; index < 3; index += 1) {
    if (at + 2 > bytes.byteLength) return undefined;
    const end = at + 2 + bytes.readUInt16BE(at);
    if (end > bytes.byteLength) return undefined;
    parts.push(bytes.subarray(at + 2, end));
    at = end;
  }
  const [authenticatorData, clientDataJson, signature] = parts;
  if (bytes.byteLength - at !== popSignatureBytes || authenticatorData === undefined || clientDataJson === undefined) return undefined;
  return { authenticatorData, clientDataJson, signature: signature!, popSignature: bytes.subarray(at) }; // three were read
}

/** Whether the authenticator verified its person for exactly this text at exactly this site, and the silent key signed it too. */
export function verifyPlatformSignature(
  keys: { readonly alg: PlatformCredentialAlg; readonly credential: KeyObject; readonly pops: readonly KeyObject[] },
  baseUrl: string,
  text: Uint8Array,
  bytes: Buffer,
): boolean {
  const parts = parsePlatformSignature(bytes);
  if (parts === undefined || !isAbout(parts.clientDataJson, baseUrl, text) || !isVerifiedAt(parts.authenticatorData, baseUrl)) return false;
  const alg = credentialKeyAlg(keys.alg);
  if (alg === 'ES256' && !isStrictEcdsaDer(parts.signature)) return false;
  const signed = Buffer.concat([parts.authenticatorData, sha256(parts.clientDataJson)]);
  if (!deviceAlgorithms[alg].verify(keys.credential, signed, parts.signature)) return false;
  return keys.pops.some((pop) => deviceAlgorithms.ES256.verify(pop, text, parts.popSignature));
}

/** True when the credential may be copied to the person's other machines (WebAuthn 6.1.3, BE). */
export const isBackupEligible = (signature: PlatformSignature): boolean => (signature.authenticatorData[32]! & backupEligible) !== 0;

// WebAuthn 5.8.1 and 7.2: the browser's word on what was asked, and by whom.
function isAbout(clientDataJson: Buffer, baseUrl: string, text: Uint8Array): boolean {
  const data = parseObject(clientDataJson);
  if (data === undefined) return false;
  const { type, challenge, origin, crossOrigin, topOrigin } = data;
  return (
    type === 'webauthn.get' &&
    challenge === sha256(text).toString('base64url') &&
    origin === new URL(baseUrl).origin &&
    (crossOrigin === undefined || crossOrigin === false) &&
    topOrigin === undefined
  );
}

// WebAuthn 6.1: rpIdHash, then flags.
function isVerifiedAt(data: Buffer, baseUrl: string): boolean {
  if (data.byteLength < authenticatorDataBytesMin) return false;
  const flags = data[32]!;
  return sha256(new URL(baseUrl).hostname).equals(data.subarray(0, 32)) && (flags & userPresent) !== 0 && (flags & userVerified) !== 0;
}

function parseObject(bytes: Buffer): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(bytes.toString('utf8'));
    return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : undefined; // an object
  } catch {
    return undefined;
  }
}

const sha256 = (bytes: string | Uint8Array): Buffer => createHash('sha256').update(bytes).digest();
