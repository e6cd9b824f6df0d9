// A Response of a SAML identity provider (SAML core 3.3.3, profiles 4.1.4), judged whole: its assertion is signed by a key of the
// metadata, it is from there, for us, in answer to the very request this sign-in sent, and now. Whoever signs may sign the Response
// too. Every value given on is read from the element the signature covers. Reasons are for the audit record alone.
import { samlResponseXmlLimits } from '../../contract/limits.ts';
import { decryptIn } from '../../crypto/xml/decryption.ts';
import { readXml } from '../../crypto/xml/reader.ts';
import { findSignatures, verifyEnvelopedSignature, verifyNestedSignatures } from '../../crypto/xml/signature.ts';
import { attributeOf, childElements, childrenNamed, holdsElementsOnly, isNamed, type XmlElement } from '../../crypto/xml/tree.ts';
import { samlNamespaces } from '../../domain/saml/saml-names.ts';
import { readAssertion } from './assertion.ts';
import { type ExpectedResponse, isIssuedInTime, isMessageId, issuerOf, type Refusal, type ResponseReading, refuse } from './expected.ts';

const { assertion: saml, protocol: samlp, signature: ds } = samlNamespaces;
const success = 'urn:oasis:names:tc:SAML:2.0:status:Success';

/** Who the Response is about. */
export function readResponse(xml: Uint8Array, expected: ExpectedResponse): ResponseReading {
  const reading = readXml(xml, { limits: samlResponseXmlLimits, comments: 'refused' });
  if (!reading.ok) return refuse(reading.reason);
  const { root } = reading;
  if (!isNamed(root, samlp, 'Response')) return refuse('not_a_response');
  const parts = partsOf(root);
  if (parts === undefined) return refuse('content_model');
  const head = headerFault(root, parts, expected) ?? statusFault(parts.get('Status'));
  if (head !== undefined) return refuse(head);
  const found = signedAssertion(root, parts, expected);
  return found.ok ? readAssertion(found.assertion, expected) : found;
}

const contentModel: readonly (readonly [namespaceUri: string, localName: string])[] = [
  [saml, 'Issuer'],
  [ds, 'Signature'],
  [samlp, 'Extensions'],
  [samlp, 'Status'],
  [saml, 'Assertion'],
  [saml, 'EncryptedAssertion'],
];

/** Each at most once, in the order of the schema, and nothing else; so there is one assertion at most. */
function partsOf(root: XmlElement): ReadonlyMap<string, XmlElement> | undefined {
  if (!holdsElementsOnly(root)) return undefined;
  const parts = new Map<string, XmlElement>();
  let position = 0;
  for (const child of childElements(root)) {
    const at = contentModel.findIndex(([namespaceUri, localName]) => isNamed(child, namespaceUri, localName));
    if (at < position) return undefined;
    position = at + 1;
    parts.set(child.localName, child);
  }
  return parts.has('Assertion') && parts.has('EncryptedAssertion') ? undefined : parts;
}

/** SAML core 3.2.2, bindings 3.5.5.2: what is signed says where it goes. */
function headerFault(root: XmlElement, parts: ReadonlyMap<string, XmlElement>, expected: ExpectedResponse): string | undefined {
  if (attributeOf(root, 'Version') !== '2.0') return 'version';
  if (!isMessageId(attributeOf(root, 'ID'))) return 'message_id';
  const issuer = parts.get('Issuer');
  if (issuer !== undefined && issuerOf(issuer) !== expected.entityId) return 'issuer';
  const destination = attributeOf(root, 'Destination');
  if (destination === undefined ? parts.has('Signature') : destination !== expected.acsUrl) return 'destination';
  const inResponseTo = attributeOf(root, 'InResponseTo');
  if (inResponseTo !== expected.requestId) return inResponseTo === undefined ? 'unsolicited' : 'in_response_to';
  return isIssuedInTime(root, expected.nowMs) ? undefined : 'issue_instant';
}

function statusFault(status: XmlElement | undefined): string | undefined {
  const codes = status === undefined ? [] : childrenNamed(status, samlp, 'StatusCode');
  const [code] = codes;
  if (code === undefined || codes.length > 1) return 'status_shape';
  if (attributeOf(code, 'Value') === success) return undefined;
  const [inner] = childrenNamed(code, samlp, 'StatusCode');
  const named = [code, inner].map((one) => (one && attributeOf(one, 'Value'))?.split(':').at(-1));
  return `status_${named.filter((one) => one !== undefined).join('_')}`.slice(0, 100);
}

type Signed = { readonly ok: true; readonly assertion: XmlElement } | Refusal;

function signedAssertion(root: XmlElement, parts: ReadonlyMap<string, XmlElement>, expected: ExpectedResponse): Signed {
  const { signingKeys, decryptionKeys } = expected;
  const plain = parts.get('Assertion');
  if (plain !== undefined) {
    const verified = verifyNestedSignatures(root, plain, signingKeys);
    return verified.ok ? { ok: true, assertion: plain } : refuse(verified.reason);
  }
  const encrypted = parts.get('EncryptedAssertion');
  if (encrypted === undefined) return refuse('no_assertion');
  if (findSignatures(root).length > 0) {
    const verified = verifyEnvelopedSignature(root, signingKeys);
    if (!verified.ok) return refuse(verified.reason);
  }
  const decrypted = decryptIn(encrypted, decryptionKeys);
  if (!decrypted.ok) return refuse(decrypted.received === undefined ? decrypted.reason : `${decrypted.reason} ${decrypted.received}`);
  // A document of its own: what stood around it gives it nothing.
  const reading = readXml(decrypted.bytes, { limits: samlResponseXmlLimits, comments: 'refused' });
  if (!reading.ok) return refuse(reading.reason);
  if (!isNamed(reading.root, saml, 'Assertion')) return refuse('no_assertion');
  const verified = verifyEnvelopedSignature(reading.root, signingKeys);
  return verified.ok ? { ok: true, assertion: reading.root } : refuse(verified.reason);
}
