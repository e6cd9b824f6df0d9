// The parts of SAML metadata (2.3, 2.4) that every role has: which entities a document describes, whether it is still good, and
// the keys it names. Read from our tree alone; whoever calls knows the role.
import { readRsaPublicKey } from '../../domain/rsa-public-key.ts';
import { samlNamespaces } from '../../domain/saml/saml-names.ts';
import { toPem } from '../certificate.ts';
import { parseBase64 } from './characters.ts';
import { parseUtcDateTime } from './date-time.ts';
import { allElements, attributeOf, childElements, childrenNamed, isNamed, textOf, type XmlElement } from './tree.ts';

const { metadata: md } = samlNamespaces;

/** Files people paste may begin with a byte-order mark, which protocol messages may not. */
export function withoutByteOrderMark(bytes: Uint8Array): Uint8Array {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? bytes.subarray(3) : bytes;
}

/** The entities of a document, only where metadata has them: what stands inside a signature, which no signature covers, is none. */
export function entitiesIn(element: XmlElement): readonly XmlElement[] {
  if (isNamed(element, md, 'EntityDescriptor')) return [element];
  return isNamed(element, md, 'EntitiesDescriptor') ? childElements(element).flatMap(entitiesIn) : [];
}

/** The descriptors of a role that speak SAML 2.0. */
export function rolesOf(entity: XmlElement, role: 'SPSSODescriptor' | 'IDPSSODescriptor'): readonly XmlElement[] {
  return childrenNamed(entity, md, role).filter((one) =>
    (attributeOf(one, 'protocolSupportEnumeration') ?? '').split(/[ \t\r\n]+/).includes(samlNamespaces.protocol),
  );
}

/** The element and everything it stands in, inmost first. */
export function ancestry(element: XmlElement): readonly XmlElement[] {
  return element.parent === undefined ? [element] : [element, ...ancestry(element.parent)];
}

/** True when its validUntil has passed. */
export function isExpired(element: XmlElement, nowMs: number): boolean {
  const validUntil = parseUtcDateTime(attributeOf(element, 'validUntil'));
  return validUntil !== undefined && validUntil <= nowMs;
}

/** xs:boolean, absent is false. */
export const isTrue = (value: string | undefined): boolean => value === 'true' || value === '1';

export type MetadataKey = { readonly pem: string; readonly fault?: undefined } | { readonly fault: string };

/** The certificate of a KeyDescriptor as PEM, where its key is one we take. */
export function readMetadataKey(descriptor: XmlElement): MetadataKey {
  const certificate = allElements(descriptor).find((element) => isNamed(element, samlNamespaces.signature, 'X509Certificate'));
  if (certificate === undefined) return { fault: 'it names a key and holds no certificate' };
  const der = parseBase64(textOf(certificate) ?? '', 'allowed');
  if (der === undefined) return { fault: 'its certificate is not base64' };
  const pem = toPem(der);
  const reading = readRsaPublicKey(pem);
  return reading.ok ? { pem } : { fault: keyFaults[reading.reason] };
}

const keyFaults = {
  not_a_key: 'its certificate cannot be read',
  not_rsa: 'its key is not RSA',
  modulus_too_small: 'its RSA key has fewer than 2048 bits',
  modulus_too_large: 'its RSA key has more than 8192 bits',
  exponent_too_small: 'its RSA exponent is below 65537',
} as const;
