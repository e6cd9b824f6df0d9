// Verifies the one enveloped signature of a SAML message or metadata (XMLDSig, SAML core 5.4) against registered keys. Closed world:
// every element and attribute of the signature is named here, anything else is refused, KeyInfo is never read.
// Called by the POST binding, the refresh of metadata and sign-ins by SAML elsewhere. A caller may then use values of this very tree and of nothing else.

import { createHash, type KeyObject, verify } from 'node:crypto';
import { envelopedSignature, exclusiveC14n, findDigestHash, findSignatureHash, namespaceUris } from './algorithms.ts';
import { canonicalize } from './canonical.ts';
import { isNcName, parseBase64 } from './characters.ts';
import { allElements, attributeOf, childElements, holdsElementsOnly, isNamed, textOf, type XmlElement } from './tree.ts';

type SignatureRefusal =
  | 'signature_missing'
  | 'signature_misplaced'
  | 'signature_shape'
  | 'signature_algorithm'
  | 'signature_reference'
  | 'signature_transforms'
  | 'digest_mismatch'
  | 'signature_mismatch';

interface Refusal {
  readonly ok: false;
  readonly reason: SignatureRefusal;
  /** The algorithm that was refused, for signature_algorithm and signature_transforms. */
  readonly received?: string;
}

type SignatureVerification = { readonly ok: true } | Refusal;

const prefixListMax = 16;

/** Every ds:Signature of the document, wherever it stands. */
export function findSignatures(root: XmlElement): readonly XmlElement[] {
  return allElements(root).filter((element) => isNamed(element, namespaceUris.ds, 'Signature'));
}

/**
 * True when exactly one signature stands in the whole document, covers its root, and one of the keys made it. In messages it
 * is the second child, behind the Issuer, in metadata the first.
 */
export function verifyEnvelopedSignature(root: XmlElement, keys: readonly KeyObject[], place: 0 | 1 = 1): SignatureVerification {
  const signatures = findSignatures(root);
  const [signature] = signatures;
  if (signature === undefined) return refused('signature_missing');
  if (signatures.length > 1 || childElements(root)[place] !== signature) return refused('signature_misplaced');
  return verifyOver(root, signature, keys);
}

/**
 * The same for a Response and the one Assertion in it: both may be signed, the Assertion must be, and no signature stands anywhere
 * else. What is trusted afterwards is this very Assertion element.
 */
export function verifyNestedSignatures(root: XmlElement, nested: XmlElement, keys: readonly KeyObject[]): SignatureVerification {
  const isSecond = (signature: XmlElement): boolean => {
    const { parent } = signature;
    return (parent === root || parent === nested) && childElements(parent)[1] === signature;
  };
  const signatures = findSignatures(root);
  if (!signatures.every(isSecond)) return refused('signature_misplaced');
  const [outer, inner] = [root, nested].map((parent) => signatures.find((signature) => signature.parent === parent));
  if (inner === undefined) return refused('signature_missing');
  const whole = outer === undefined ? ({ ok: true } as const) : verifyOver(root, outer, keys);
  return whole.ok ? verifyOver(nested, inner, keys) : whole;
}

/** Whether one of the keys made this signature, over this very element. */
function verifyOver(root: XmlElement, signature: XmlElement, keys: readonly KeyObject[]): SignatureVerification {
  const parts = readSignature(signature);
  if (!parts.ok) return parts;
  const { signedInfo, value } = parts;
  const info = readSignedInfo(signedInfo, attributeOf(root, 'ID'));
  if (!info.ok) return info;
  // The signature over SignedInfo first: until it holds, nothing an attacker wrote decides what is digested.
  const signed = Buffer.from(canonicalize(signedInfo, { inclusivePrefixes: info.infoPrefixes }));
  if (!keys.some((key) => verify(info.signatureHash, signed, key, value))) return refused('signature_mismatch');
  const content = canonicalize(root, { exclude: signature, inclusivePrefixes: info.contentPrefixes });
  const digest = createHash(info.digestHash).update(content).digest();
  return digest.equals(info.digest) ? { ok: true } : refused('digest_mismatch');
}

function refused(reason: SignatureRefusal, received?: string): Refusal {
  return received === undefined ? { ok: false, reason } : { ok: false, reason, received };
}

function readSignature(signature: XmlElement) {
  const [signedInfo, signatureValue, keyInfo, ...rest] = childElements(signature);
  if (!hasShape(signature, ['Id']) || signedInfo === undefined || signatureValue === undefined || rest.length > 0) {
    return refused('signature_shape');
  }
  if (!isDs(signedInfo, 'SignedInfo') || !isDs(signatureValue, 'SignatureValue')) return refused('signature_shape');
  if (keyInfo !== undefined && !isDs(keyInfo, 'KeyInfo')) return refused('signature_shape');
  const value = base64Of(signatureValue, ['Id']);
  if (value === undefined) return refused('signature_shape');
  return { ok: true as const, signedInfo, value };
}

function readSignedInfo(signedInfo: XmlElement, rootId: string | undefined) {
  const [method, signatureMethod, reference, ...rest] = childElements(signedInfo);
  if (!hasShape(signedInfo, ['Id']) || method === undefined || signatureMethod === undefined) {
    return refused('signature_shape');
  }
  if (reference === undefined || rest.length > 0) return refused('signature_shape');
  if (!isDs(method, 'CanonicalizationMethod') || !isDs(signatureMethod, 'SignatureMethod')) {
    return refused('signature_shape');
  }
  if (!isDs(reference, 'Reference')) return refused('signature_shape');
  const infoPrefixes = readExclusiveC14n(method);
  if (infoPrefixes === undefined) return refused('signature_algorithm', attributeOf(method, 'Algorithm'));
  const signatureHash = findSignatureHash(onlyAlgorithm(signatureMethod));
  if (signatureHash === undefined) return refused('signature_algorithm', attributeOf(signatureMethod, 'Algorithm'));
  const target = readReference(reference, rootId);
  return target.ok ? { ...target, infoPrefixes, signatureHash } : target;
}

function readReference(reference: XmlElement, rootId: string | undefined) {
  const [transforms, digestMethod, digestValue, ...rest] = childElements(reference);
  if (!hasShape(reference, ['URI', 'Id']) || transforms === undefined || digestMethod === undefined) {
    return refused('signature_shape');
  }
  if (digestValue === undefined || rest.length > 0) return refused('signature_shape');
  if (!isDs(transforms, 'Transforms') || !isDs(digestMethod, 'DigestMethod') || !isDs(digestValue, 'DigestValue')) {
    return refused('signature_shape');
  }
  const uri = attributeOf(reference, 'URI');
  if (rootId === undefined || !isNcName(rootId) || uri !== `#${rootId}`) return refused('signature_reference');
  const contentPrefixes = readTransforms(transforms);
  if (contentPrefixes === undefined) {
    const named = childElements(transforms).map((transform) => attributeOf(transform, 'Algorithm') ?? '');
    return refused('signature_transforms', named.join(' '));
  }
  const digestHash = findDigestHash(onlyAlgorithm(digestMethod));
  if (digestHash === undefined) return refused('signature_algorithm', attributeOf(digestMethod, 'Algorithm'));
  const digest = base64Of(digestValue, []);
  if (digest === undefined) return refused('signature_shape');
  return { ok: true as const, contentPrefixes, digestHash, digest };
}

// Exactly enveloped-signature, then exclusive canonicalisation: the PrefixList of the second.
function readTransforms(transforms: XmlElement): readonly string[] | undefined {
  const [first, second, ...rest] = childElements(transforms);
  if (!hasShape(transforms, []) || first === undefined || second === undefined || rest.length > 0) return undefined;
  if (!isDs(first, 'Transform') || !isDs(second, 'Transform')) return undefined;
  return onlyAlgorithm(first) === envelopedSignature ? readExclusiveC14n(second) : undefined;
}

function readExclusiveC14n(element: XmlElement): readonly string[] | undefined {
  if (!hasShape(element, ['Algorithm']) || attributeOf(element, 'Algorithm') !== exclusiveC14n) return undefined;
  const [inclusive, ...rest] = childElements(element);
  if (inclusive === undefined) return [];
  if (rest.length > 0 || !isNamed(inclusive, exclusiveC14n, 'InclusiveNamespaces')) return undefined;
  if (!hasShape(inclusive, ['PrefixList']) || childElements(inclusive).length > 0) return undefined;
  const list = (attributeOf(inclusive, 'PrefixList') ?? '').split(/[ \t\r\n]+/).filter((token) => token !== '');
  if (list.length > prefixListMax) return undefined;
  if (!list.every((token) => token === '#default' || isNcName(token))) return undefined;
  return list.map((token) => (token === '#default' ? '' : token));
}

function onlyAlgorithm(element: XmlElement): string | undefined {
  return hasShape(element, ['Algorithm']) && childElements(element).length === 0 ? attributeOf(element, 'Algorithm') : undefined;
}

function base64Of(element: XmlElement, allowedAttributes: readonly string[]): Buffer | undefined {
  const text = hasAttributesOf(element, allowedAttributes) ? textOf(element) : undefined;
  return text === undefined ? undefined : parseBase64(text, 'allowed');
}

function isDs(element: XmlElement, localName: string): boolean {
  return isNamed(element, namespaceUris.ds, localName);
}

function hasShape(element: XmlElement, allowedAttributes: readonly string[]): boolean {
  return holdsElementsOnly(element) && hasAttributesOf(element, allowedAttributes);
}

function hasAttributesOf(element: XmlElement, allowed: readonly string[]): boolean {
  return element.attributes.every((attribute) => attribute.prefix === '' && allowed.includes(attribute.localName));
}
