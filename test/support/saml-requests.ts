// AuthnRequests as a service provider would send them, made without any code of ours: text by hand, signatures by
// xml-crypto (POST) and node:crypto (Redirect). Attack tests take these apart.

import { createSign, type KeyObject } from 'node:crypto';
import { deflateRawSync } from 'node:zlib';
import { SignedXml } from 'xml-crypto';

export const exclusiveC14nUri = 'http://www.w3.org/2001/10/xml-exc-c14n#';
export const rsaSha256Uri = 'http://www.w3.org/2001/04/xmldsig-more#rsa-sha256';
export const sha256Uri = 'http://www.w3.org/2001/04/xmlenc#sha256';
const enveloped = 'http://www.w3.org/2000/09/xmldsig#enveloped-signature';

export type AuthnRequestParts = {
  readonly id?: string;
  readonly issuer?: string;
  readonly destination?: string;
  readonly issueInstant?: string;
  /** Attributes added to the root, as written: ` AssertionConsumerServiceIndex="1"`. */
  readonly attributes?: string;
  /** Elements after the Issuer, as written. */
  readonly content?: string;
};

export function escapeXml(value: string): string {
  return value.replace(/[&<>"\r\n\t]/g, (character) => `&#${character.charCodeAt(0)};`);
}

export function buildAuthnRequest(parts: AuthnRequestParts): string {
  const destination = parts.destination === undefined ? '' : ` Destination="${escapeXml(parts.destination)}"`;
  return (
    `<samlp:AuthnRequest xmlns:samlp="urn:oasis:names:tc:SAML:2.0:protocol" xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion"` +
    ` ID="${parts.id ?? '_request-1'}" Version="2.0" IssueInstant="${parts.issueInstant ?? '2026-01-01T00:00:00Z'}"` +
    `${destination}${parts.attributes ?? ''}>` +
    `<saml:Issuer>${escapeXml(parts.issuer ?? 'https://sp.example/metadata')}</saml:Issuer>${parts.content ?? ''}</samlp:AuthnRequest>`
  );
}

export type PostSignature = {
  readonly signatureAlgorithm?: string;
  readonly digestAlgorithm?: string;
  readonly transforms?: readonly string[];
};

/** Signs the document element with an enveloped signature placed after the Issuer. */
export function signPostRequest(xml: string, privateKey: KeyObject, options: PostSignature = {}): string {
  const signer = new SignedXml({
    privateKey: privateKey.export({ type: 'pkcs8', format: 'pem' }),
    signatureAlgorithm: options.signatureAlgorithm ?? rsaSha256Uri,
    canonicalizationAlgorithm: exclusiveC14nUri,
  });
  signer.addReference({
    xpath: "/*[local-name(.)='AuthnRequest']",
    digestAlgorithm: options.digestAlgorithm ?? sha256Uri,
    transforms: [...(options.transforms ?? [enveloped, exclusiveC14nUri])],
  });
  signer.computeSignature(xml, {
    prefix: 'ds',
    location: { reference: "/*/*[local-name(.)='Issuer']", action: 'after' },
  });
  return signer.getSignedXml();
}

/** Signs metadata with an enveloped signature over its root, placed first in it; the root has an ID. */
export function signMetadata(xml: string, privateKey: KeyObject): string {
  const signer = new SignedXml({
    privateKey: privateKey.export({ type: 'pkcs8', format: 'pem' }),
    signatureAlgorithm: rsaSha256Uri,
    canonicalizationAlgorithm: exclusiveC14nUri,
  });
  signer.addReference({ xpath: '/*', digestAlgorithm: sha256Uri, transforms: [enveloped, exclusiveC14nUri] });
  signer.computeSignature(xml, { prefix: 'ds', location: { reference: '/*', action: 'prepend' } });
  return signer.getSignedXml();
}

/** The query string of the Redirect binding, signed when a key is given. */
export function buildRedirectQuery(
  xml: string,
  options: {
    readonly relayState?: string;
    readonly privateKey?: KeyObject;
    readonly hash?: 'sha256' | 'sha384' | 'sha512';
  } = {},
): string {
  const deflated = deflateRawSync(Buffer.from(xml)).toString('base64');
  let query = `SAMLRequest=${encodeURIComponent(deflated)}`;
  if (options.relayState !== undefined) query += `&RelayState=${encodeURIComponent(options.relayState)}`;
  if (options.privateKey === undefined) return query;
  const hash = options.hash ?? 'sha256';
  query += `&SigAlg=${encodeURIComponent(`http://www.w3.org/2001/04/xmldsig-more#rsa-${hash}`)}`;
  const signature = createSign(hash).update(query).sign(options.privateKey, 'base64');
  return `${query}&Signature=${encodeURIComponent(signature)}`;
}

/** Metadata of a service provider that signs its requests and takes answers by POST. */
export function spMetadata(entityId: string, acsUrl: string, certificatePem: string): string {
  const certificate = certificatePem.replace(/-.*-\n|\n/g, '');
  const key = `<ds:KeyInfo xmlns:ds="http://www.w3.org/2000/09/xmldsig#"><ds:X509Data><ds:X509Certificate>${certificate}</ds:X509Certificate></ds:X509Data></ds:KeyInfo>`;
  return (
    `<md:EntityDescriptor xmlns:md="urn:oasis:names:tc:SAML:2.0:metadata" entityID="${escapeXml(entityId)}">` +
    `<md:SPSSODescriptor AuthnRequestsSigned="true" protocolSupportEnumeration="urn:oasis:names:tc:SAML:2.0:protocol"><md:KeyDescriptor>${key}</md:KeyDescriptor>` +
    `<md:AssertionConsumerService Binding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST" Location="${escapeXml(acsUrl)}" index="0" isDefault="true"/></md:SPSSODescriptor></md:EntityDescriptor>`
  );
}
