// Verifies the one enveloped signature of a SAML message or metadata (XMLDSig, SAML core 5.4) against registered keys. Closed world:
// every element and attribute of the signature is named here, anything else is refused, KeyInfo is never read.
// Called by the POST binding, the refresh of metadata and sign-ins by SAML elsewhere. A caller may then use values of this very tree and of nothing else.

import { createHash, type Hash, type KeyObject, verify } from 'node:crypto';
import type { Pace } from '../../platform/turns/pace.ts';
import { envelopedSignature, exclusiveC14n, findDigestHash, findSignatureHash, namespaceUris } from './algorithms.ts';
import { canonicalize, canonicalPieces } from './canonical.ts';
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
 * True when exactly one signature stands in the whole message, as the second child behind the Issuer, covers its root, and one of the
 * keys made it.
 */
export function verifyEnvelopedSignature(root: XmlElement, keys: readonly KeyObject[]): SignatureVerification {
  const enveloped = envelopedIn(root, 1);
  return enveloped.ok ? verifyOver(root, enveloped.signature, keys) : enveloped;
}

/** The same for metadata, whose signature is the first child, and whose digest lets others go on meanwhile: it may be long. */
export async function verifyMetadataSignature(root: XmlElement, keys: readonly KeyObject[], pace: Pace): Promise<SignatureVerification> {
  const enveloped = envelopedIn(root, 0);
  if (!enveloped.ok) return enveloped;
  const signed = verifySignedInfo(root, enveloped.signature, keys);
  if (!signed.ok) return signed;
  const hash = createHash(signed.digestHash);
  for (const piece of canonicalPieces(root, { exclude: enveloped.signature, inclusivePrefixes: signed.contentPrefixes })) {
    hash.update(piece);
    await pace();
  }
  return judgeDigest(hash, signed.digest);
}

/** The one signature of a document, where it stands as a child of the root. */
function envelopedIn(root: XmlElement, place: 0 | 1): { readonly ok: true; readonly signature: XmlElement } | Refusal {
  const signatures = findSignatures(root);
  const [signature] = signatures;
  if (signature === undefined) return refused('signature_missing');
  if (signatures.length > 1 || childElements(root)[place] !== signature) return refused('signature_misplaced');
  return { ok: true, signature };
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
  const signed = verifySignedInfo(root, signature, keys);
  if (!signed.ok) return signed;
  const content = canonicalize(root, { exclude: signature, inclusivePrefixes: signed.contentPrefixes });
  return judgeDigest(createHash(signed.digestHash).update(content), signed.digest);
}

/** What one of the keys has signed of this element: until that holds, nothing an attacker wrote decides what is digested. */
function verifySignedInfo(root: XmlElement, signature: XmlElement, keys: readonly KeyObject[]) {
  const parts = readSignature(signature);
  if (!parts.ok) return parts;
  const { signedInfo, value } = parts;
  const info = readSignedInfo(signedInfo, attributeOf(root, 'ID'));
  if (!info.ok) return info;
  const signed = Buffer.from(canonicalize(signedInfo, { inclusivePrefixes: info.infoPrefixes }));
  return keys.some((key) => verify(info.signatureHash, signed, key, value)) ? info : refused('signature_mismatch');
}

const judgeDigest = (hash: Hash, wanted: Buffer): SignatureVerification =>
  hash.digest().equals(wanted) ? { ok: true } : refused('digest_mismatch');

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
