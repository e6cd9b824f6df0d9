// The signature, digest and encryption algorithms we speak, by the URI that names them on the wire. One table for the
// reader and the writer: what is not here is refused. SHA-1 stands only where OAEP's wire name fixes it.

export type Hash = 'sha256' | 'sha384' | 'sha512';

export const namespaceUris = {
  ds: 'http://www.w3.org/2000/09/xmldsig#',
  xenc: 'http://www.w3.org/2001/04/xmlenc#',
  xenc11: 'http://www.w3.org/2009/xmlenc11#',
} as const;

export const exclusiveC14n = 'http://www.w3.org/2001/10/xml-exc-c14n#';
export const envelopedSignature = 'http://www.w3.org/2000/09/xmldsig#enveloped-signature';

const signatureHashes: ReadonlyMap<string, Hash> = new Map([
  ['http://www.w3.org/2001/04/xmldsig-more#rsa-sha256', 'sha256'],
  ['http://www.w3.org/2001/04/xmldsig-more#rsa-sha384', 'sha384'],
  ['http://www.w3.org/2001/04/xmldsig-more#rsa-sha512', 'sha512'],
]);

const digestHashes: ReadonlyMap<string, Hash> = new Map([
  ['http://www.w3.org/2001/04/xmlenc#sha256', 'sha256'],
  ['http://www.w3.org/2001/04/xmldsig-more#sha384', 'sha384'],
  ['http://www.w3.org/2001/04/xmlenc#sha512', 'sha512'],
]);

/** Every algorithm a request's signature may name, best known first. */
export const signatureMethods = [...signatureHashes.keys()];
export const digestMethods = [...digestHashes.keys()];

export const rsaSha256 = 'http://www.w3.org/2001/04/xmldsig-more#rsa-sha256';
export const sha256Digest = 'http://www.w3.org/2001/04/xmlenc#sha256';

/** The hash of an RSA PKCS #1 v1.5 signature algorithm (RFC 9231 2.3.2), or undefined for any other URI. */
export function findSignatureHash(uri: string | undefined): Hash | undefined {
  return uri === undefined ? undefined : signatureHashes.get(uri);
}

/** The hash of a digest algorithm, or undefined for any other URI. */
export function findDigestHash(uri: string | undefined): Hash | undefined {
  return uri === undefined ? undefined : digestHashes.get(uri);
}
