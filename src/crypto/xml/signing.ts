// Signs what the canonical writer makes: an enveloped XML signature as SAML profiles it (SAML core 5.4). The RSA
// operation runs on the thread pool with a cached KeyObject; nothing here blocks. Called by the SAML response builder.

import { hash, type KeyObject, sign } from 'node:crypto';
import { envelopedSignature, exclusiveC14n, rsaSha256, sha256Digest } from './algorithms.ts';
import { base64Text, type CanonicalXml, element, joinSigned, type WrittenElement, writeAroundSignature, writeCanonical } from './writer.ts';

export type XmlSigner = {
  readonly privateKey: KeyObject;
  /** DER. */
  readonly certificate: Buffer;
};

/** The element with a signature over it as second child, RSA-SHA-256; `id` is the value of its ID attribute. */
export async function signEnveloped(root: WrittenElement, id: string, signer: XmlSigner): Promise<CanonicalXml> {
  const cut = writeAroundSignature(root);
  const digest = hash('sha256', cut.before + cut.after, 'base64');
  const signedInfo = buildSignedInfo(id, digest);
  const value = await signAsync(Buffer.from(writeCanonical(signedInfo).canonical), signer.privateKey);
  const signature = element(
    'ds:Signature',
    {},
    signedInfo,
    element('ds:SignatureValue', {}, base64Text(value)),
    element('ds:KeyInfo', {}, element('ds:X509Data', {}, element('ds:X509Certificate', {}, base64Text(signer.certificate)))),
  );
  return joinSigned(root, cut, writeCanonical(signature));
}

function buildSignedInfo(id: string, digest: string): WrittenElement {
  return element(
    'ds:SignedInfo',
    {},
    element('ds:CanonicalizationMethod', { Algorithm: exclusiveC14n }),
    element('ds:SignatureMethod', { Algorithm: rsaSha256 }),
    element(
      'ds:Reference',
      { URI: `#${id}` },
      element(
        'ds:Transforms',
        {},
        element('ds:Transform', { Algorithm: envelopedSignature }),
        element('ds:Transform', { Algorithm: exclusiveC14n }),
      ),
      element('ds:DigestMethod', { Algorithm: sha256Digest }),
      element('ds:DigestValue', {}, digest),
    ),
  );
}

// The KeyObject goes in bare: an options object makes Node prepare the key anew for every signature.
function signAsync(data: Buffer, privateKey: KeyObject): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    sign('sha256', data, privateKey, (error, signature) => (error === null ? resolve(signature) : reject(error)));
  });
}
