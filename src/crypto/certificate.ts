// Makes self-signed X.509 certificates (RFC 5280) for signing keys of ours, as SAML partners expect them in metadata.
// Called when a SAML signing key is made. Trust comes from the metadata that carries the certificate, not from it.
import { hash, type KeyObject } from 'node:crypto';

type CertificateRequest = {
  readonly privateKey: KeyObject;
  readonly publicKey: KeyObject;
  /** Shown to people; cut to the 64 characters X.520 allows a common name. */
  readonly commonName: string;
  readonly notBefore: Date;
  readonly notAfter: Date;
  /** At least 8 random bytes. */
  readonly serialNumber: Uint8Array;
};

const commonNameLengthMax = 64;
const rsaSha256 = { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' };

/** The DER of a version 3 certificate over an RSA key, signed by itself with SHA-256. */
export async function makeSelfSignedCertificate(request: CertificateRequest): Promise<Buffer> {
  await import('reflect-metadata'); // @peculiar/x509 asks for it; both load late because certificates are made once in years
  const { BasicConstraintsExtension, KeyUsageFlags, KeyUsagesExtension, Name, SubjectKeyIdentifierExtension, X509CertificateGenerator } =
    await import('@peculiar/x509');
  const spki = request.publicKey.export({ type: 'spki', format: 'der' });
  const certificate = await X509CertificateGenerator.createSelfSigned({
    keys: {
      privateKey: request.privateKey.toCryptoKey(rsaSha256, false, ['sign']),
      publicKey: request.publicKey.toCryptoKey(rsaSha256, true, ['verify']),
    },
    signingAlgorithm: rsaSha256,
    serialNumber: Buffer.from(positive(request.serialNumber)).toString('hex'),
    name: new Name([{ CN: [{ utf8String: [...request.commonName].slice(0, commonNameLengthMax).join('') }] }]),
    notBefore: request.notBefore,
    notAfter: request.notAfter,
    extensions: [
      new BasicConstraintsExtension(false, undefined, true),
      new KeyUsagesExtension(KeyUsageFlags.digitalSignature, true),
      new SubjectKeyIdentifierExtension(hash('sha1', spki, 'hex')), // a name, not a security property (RFC 5280 4.2.1.2)
    ],
  });
  return Buffer.from(certificate.rawData);
}

/** A certificate's DER as PEM with 64 characters a line. */
export function toPem(der: Uint8Array): string {
  const lines =
    Buffer.from(der)
      .toString('base64')
      .match(/.{1,64}/g) ?? [];
  return `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`;
}

// RFC 5280 4.1.2.2: positive and at most 20 bytes; the top bit is cleared and the next set, so it never starts with 0.
function positive(serialNumber: Uint8Array): Uint8Array {
  const bytes = Uint8Array.from(serialNumber.subarray(0, 20));
  bytes[0] = ((bytes[0] ?? 0) & 0x7f) | 0x40;
  return bytes;
}
