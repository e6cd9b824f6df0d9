// Makes self-signed X.509 certificates (RFC 5280) for signing keys of ours, as SAML partners expect them in metadata.
// Called when a SAML signing key is made. Trust comes from the metadata that carries the certificate, not from it.

import { createHash, type KeyObject, sign } from 'node:crypto';
import {
  writeBitString,
  writeBoolean,
  writeExplicit,
  writeNull,
  writeObjectIdentifier,
  writeOctetString,
  writeSequence,
  writeSet,
  writeTime,
  writeUnsignedInteger,
  writeUtf8String,
} from './der/writer.ts';

export type CertificateRequest = {
  readonly privateKey: KeyObject;
  readonly publicKey: KeyObject;
  /** Shown to people; cut to the 64 characters X.520 allows a common name. */
  readonly commonName: string;
  readonly notBefore: Date;
  readonly notAfter: Date;
  /** At least 8 random bytes. */
  readonly serialNumber: Uint8Array;
};

const oids = {
  sha256WithRsa: '1.2.840.113549.1.1.11',
  commonName: '2.5.4.3',
  subjectKeyIdentifier: '2.5.29.14',
  keyUsage: '2.5.29.15',
  basicConstraints: '2.5.29.19',
} as const;

const commonNameLengthMax = 64;

/** The DER of a version 3 certificate over an RSA key, signed by itself with SHA-256. */
export async function makeSelfSignedCertificate(request: CertificateRequest): Promise<Buffer> {
  const algorithm = writeSequence(writeObjectIdentifier(oids.sha256WithRsa), writeNull());
  const name = writeName([...request.commonName].slice(0, commonNameLengthMax).join(''));
  const spki = request.publicKey.export({ type: 'spki', format: 'der' });
  const toBeSigned = writeSequence(
    writeExplicit(0, writeUnsignedInteger(Uint8Array.of(2))),
    writeUnsignedInteger(positive(request.serialNumber)),
    algorithm,
    name,
    writeSequence(writeTime(request.notBefore), writeTime(request.notAfter)),
    name,
    spki,
    writeExplicit(3, writeExtensions(spki)),
  );
  const signature = await signAsync(toBeSigned, request.privateKey);
  return writeSequence(toBeSigned, algorithm, writeBitString(signature));
}

/** A certificate's DER as PEM with 64 characters a line. */
export function toPem(der: Uint8Array): string {
  const lines =
    Buffer.from(der)
      .toString('base64')
      .match(/.{1,64}/g) ?? [];
  return `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`;
}

function writeName(commonName: string): Buffer {
  return writeSequence(writeSet(writeSequence(writeObjectIdentifier(oids.commonName), writeUtf8String(commonName))));
}

function writeExtensions(spki: Uint8Array): Buffer {
  const keyIdentifier = createHash('sha1').update(spki).digest(); // a name, not a security property (RFC 5280 4.2.1.2)
  return writeSequence(
    writeExtension(oids.basicConstraints, true, writeSequence()),
    writeExtension(oids.keyUsage, true, writeBitString(Uint8Array.of(0x80), 7)), // digitalSignature alone
    writeExtension(oids.subjectKeyIdentifier, false, writeOctetString(keyIdentifier)),
  );
}

function writeExtension(oid: string, critical: boolean, value: Uint8Array): Buffer {
  const criticality = critical ? [writeBoolean(true)] : []; // DER leaves the default, false, out
  return writeSequence(writeObjectIdentifier(oid), ...criticality, writeOctetString(value));
}

// RFC 5280 4.1.2.2: positive and at most 20 bytes; the top bit is cleared and the next set, so it never starts with 0.
function positive(serialNumber: Uint8Array): Uint8Array {
  const bytes = Uint8Array.from(serialNumber.subarray(0, 20));
  bytes[0] = ((bytes[0] ?? 0) & 0x7f) | 0x40;
  return bytes;
}

function signAsync(data: Buffer, privateKey: KeyObject): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    sign('sha256', data, privateKey, (error, signature) => (error === null ? resolve(signature) : reject(error)));
  });
}
