// Verifies Apple App Attest attestations and assertions as Apple documents them ("Validating apps that connect to your
// server"). Pure: root, time and expected values are parameters. Called by the enrolment and the signed-request pipeline.
import { createPublicKey, type KeyObject, verify as verifySignature, type X509Certificate } from 'node:crypto';
import { type CborValue, expectCborArray, expectCborBytes, expectCborMap, readCbor, readCborItem } from '../../crypto/cbor/reader.ts';
import { readCertificateExtensions } from '../../crypto/der/certificate-extensions.ts';
import { readDer, readDerChildren, readDerOctets, readDerSequence } from '../../crypto/der/reader.ts';
import { ecdsaSignatureDer } from '../../crypto/device-algorithms.ts';
import { sha256 } from '../../crypto/signed-string.ts';
import { appleFormat } from '../../domain/device/attestation-formats.ts';
import { verifyCertificateChain } from './certificate-chain.ts';
import { type AttestationOutcome, attestationOutcome, demand } from './outcome.ts';

export type AppleEnvironment = 'production' | 'development';

export interface ApplePolicy {
  readonly roots: readonly X509Certificate[];
  readonly at: Date;
  /** `<team id>.<bundle id>` of the apps that may attest. */
  readonly appIds: readonly string[];
  readonly environments: readonly AppleEnvironment[];
}

interface AppleEvidence {
  readonly appId: string;
  readonly environment: AppleEnvironment;
  readonly keyId: Buffer;
  /** SPKI DER of the App Attest key, which signs later assertions. */
  readonly publicKey: Buffer;
}

const attestationObjectBytesMax = 32_768;
const assertionBytesMax = 1_024;
const nonceExtension = '1.2.840.113635.100.8.2';
const aaguids: Readonly<Record<AppleEnvironment, Buffer>> = {
  production: Buffer.from('appattest\0\0\0\0\0\0\0', 'latin1'),
  development: Buffer.from('appattestdevelop', 'latin1'),
};

/** Whether an attestation object vouches for `keyId` and the client data; the evidence is what later assertions need. */
export function verifyAppleAttestation(
  input: {
    readonly attestationObject: Uint8Array;
    readonly keyId: Uint8Array;
    readonly clientDataHash: Uint8Array;
  },
  policy: ApplePolicy,
): AttestationOutcome<AppleEvidence> {
  return attestationOutcome(() => {
    const { chain, authData } = readAttestationObject(input.attestationObject);
    const [leaf] = verifyCertificateChain(chain, {
      roots: policy.roots,
      at: policy.at,
      leafDatesIgnored: false,
      extensionRead: nonceExtension,
    });
    demand(leaf !== undefined, 'chain_length');
    demand(readNonce(leaf.raw).equals(sha256(authData, input.clientDataHash)), 'nonce_mismatch');
    const point = leafPoint(leaf.publicKey);
    const keyId = sha256(point);
    demand(keyId.equals(input.keyId), 'key_id_mismatch');
    const parsed = readAuthenticatorData(authData);
    const appId = policy.appIds.find((candidate) => sha256(candidate).equals(parsed.rpIdHash));
    demand(appId !== undefined, 'app_id_mismatch');
    demand(parsed.counter === 0, 'counter_not_zero');
    const environment = policy.environments.find((name) => aaguids[name].equals(parsed.aaguid));
    demand(environment !== undefined, 'environment_not_allowed');
    demand(keyId.equals(parsed.credentialId), 'credential_id_mismatch');
    demand(point.equals(parsed.point), 'credential_key_mismatch');
    return { appId, environment, keyId, publicKey: leaf.publicKey.export({ format: 'der', type: 'spki' }) };
  });
}

/** Whether an assertion by an attested key covers the client data; the caller compares and sets the returned counter. */
export function verifyAppleAssertion(input: {
  readonly assertion: Uint8Array;
  readonly publicKey: Uint8Array;
  readonly clientDataHash: Uint8Array;
  readonly appId: string;
}): AttestationOutcome<{ readonly counter: number }> {
  return attestationOutcome(() => {
    demand(input.assertion.byteLength <= assertionBytesMax, 'assertion_too_large');
    const map = expectCborMap(readCbor(input.assertion));
    demand(map.size === 2, 'assertion_shape');
    const authenticatorData = expectCborBytes(map.get('authenticatorData'));
    const signature = expectCborBytes(map.get('signature'));
    demand(authenticatorData.byteLength === 37, 'assertion_shape');
    demand(sha256(input.appId).equals(authenticatorData.subarray(0, 32)), 'app_id_mismatch');
    const key = createPublicKey({ key: Buffer.from(input.publicKey), format: 'der', type: 'spki' });
    const der = ecdsaSignatureDer(signature);
    demand(
      der !== undefined && verifySignature('sha256', sha256(authenticatorData, input.clientDataHash), key, der),
      'assertion_signature',
    );
    return { counter: readUint32(authenticatorData, 33) };
  });
}

function readAttestationObject(bytes: Uint8Array): {
  readonly chain: readonly Uint8Array[];
  readonly authData: Uint8Array;
} {
  demand(bytes.byteLength <= attestationObjectBytesMax, 'attestation_too_large');
  const map = expectCborMap(readCbor(bytes));
  demand(map.size === 3 && map.get('fmt') === appleFormat, 'format_mismatch');
  const statement = expectCborMap(map.get('attStmt'));
  // The receipt is for Apple's fraud service; nothing here rests on it, so its content is not judged and it may be absent.
  demand(statement.size === (statement.has('receipt') ? 2 : 1), 'statement_shape');
  if (statement.has('receipt')) expectCborBytes(statement.get('receipt'));
  const chain = expectCborArray(statement.get('x5c')).map((item: CborValue) => expectCborBytes(item));
  return { chain, authData: expectCborBytes(map.get('authData')) };
}

// The extension holds SEQUENCE { [1] { OCTET STRING nonce } }.
function readNonce(leaf: Uint8Array): Buffer {
  const value = readCertificateExtensions(leaf).get(nonceExtension);
  demand(value !== undefined, 'nonce_extension_missing');
  const fields = readDerSequence(readDer(value));
  const wrapper = fields[0];
  demand(fields.length === 1 && wrapper?.class === 'context' && wrapper.tag === 1, 'nonce_extension_shape');
  const inner = readDerChildren(wrapper);
  demand(inner.length === 1, 'nonce_extension_shape');
  return Buffer.from(readDerOctets(inner[0]));
}

// The X9.62 uncompressed point: the last 65 bytes of a P-256 SPKI.
function leafPoint(key: KeyObject): Buffer {
  demand(key.asymmetricKeyType === 'ec' && key.asymmetricKeyDetails?.namedCurve === 'prime256v1', 'leaf_key_type');
  const spki = key.export({ format: 'der', type: 'spki' });
  demand(spki.byteLength === 91 && spki[26] === 4, 'leaf_key_type');
  return spki.subarray(26);
}

// WebAuthn section 6.1: rpIdHash 32, flags 1, counter 4, aaguid 16, id length 2, id, COSE key, then possibly extensions.
function readAuthenticatorData(bytes: Uint8Array): {
  readonly rpIdHash: Uint8Array;
  readonly counter: number;
  readonly aaguid: Uint8Array;
  readonly credentialId: Uint8Array;
  readonly point: Uint8Array;
} {
  demand(bytes.byteLength > 55, 'auth_data_too_short');
  const flags = bytes[32] ?? 0;
  demand((flags & 0x40) !== 0, 'auth_data_flags');
  const idEnd = 55 + (((bytes[53] ?? 0) << 8) | (bytes[54] ?? 0));
  const key = readCborItem(bytes, idEnd);
  if (key.end < bytes.byteLength) {
    // iOS 27 appends one extension map and leaves the flag unset.
    const extensions = readCborItem(bytes, key.end);
    expectCborMap(extensions.value);
    demand(extensions.end === bytes.byteLength, 'auth_data_trailing_bytes');
  } else {
    demand((flags & 0x80) === 0, 'auth_data_flags');
  }
  return {
    rpIdHash: bytes.subarray(0, 32),
    counter: readUint32(bytes, 33),
    aaguid: bytes.subarray(37, 53),
    credentialId: bytes.subarray(55, idEnd),
    point: readCosePoint(key.value),
  };
}

// RFC 9053 section 7.1.1: kty EC2, alg ES256, crv P-256, x, y, and nothing else.
function readCosePoint(value: CborValue): Buffer {
  const map = expectCborMap(value);
  demand(map.size === 5 && map.get(1) === 2 && map.get(3) === -7 && map.get(-1) === 1, 'credential_key_shape');
  const x = expectCborBytes(map.get(-2));
  const y = expectCborBytes(map.get(-3));
  demand(x.byteLength === 32 && y.byteLength === 32, 'credential_key_shape');
  return Buffer.concat([Buffer.of(4), x, y]);
}

function readUint32(bytes: Uint8Array, at: number): number {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).readUInt32BE(at);
}
