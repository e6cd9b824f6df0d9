// Turns the tree of an AuthnRequest into a typed value (SAML core 3.4.1), refusing whatever is not exactly where the
// schema puts it. Called by sso.ts after reading and before any signature check. Decides nothing about the provider.
import { samlAcsIndexMax, samlEntityIdCharsMax, samlMessageIdCharsMax } from '../contract/limits.ts';
import { isNcName } from '../crypto/xml/characters.ts';
import { parseUtcDateTime } from '../crypto/xml/date-time.ts';
import { findSignatures } from '../crypto/xml/signature.ts';
import { attributeOf, childElements, holdsElementsOnly, isNamed, textOf, type XmlElement } from '../crypto/xml/tree.ts';
import { samlNamespaces } from '../domain/saml/saml-names.ts';

const { assertion: assertionNamespace, protocol: protocolNamespace, signature: signatureNamespace } = samlNamespaces;

export interface AuthnRequest {
  readonly id: string;
  readonly issuer: string;
  readonly issueInstantMs: number;
  readonly destination: string | undefined;
  readonly acsUrl: string | undefined;
  readonly acsIndex: number | undefined;
  readonly protocolBinding: string | undefined;
  readonly isPassive: boolean;
  readonly forceAuthn: boolean;
  readonly nameIdPolicy: { readonly format: string | undefined; readonly spNameQualifier: string | undefined } | undefined;
  readonly requestedAuthnContext: { readonly comparison: string; readonly classes: readonly string[] } | undefined;
  readonly namesSubject: boolean;
  /** True when the document holds any ds:Signature, wherever it stands. */
  readonly isSigned: boolean;
}

type AuthnRequestRefusal =
  | 'not_an_authn_request'
  | 'version'
  | 'message_id'
  | 'issuer'
  | 'issue_instant_format'
  | 'content_model'
  | 'attribute_value'
  | 'name_id_policy_shape'
  | 'authn_context_shape';

type AuthnRequestReading =
  | { readonly ok: true; readonly request: AuthnRequest }
  | { readonly ok: false; readonly reason: AuthnRequestRefusal };

/** The request a tree holds. The order of the checks is the documented one: version, id, issuer, then the rest. */
export function parseAuthnRequest(root: XmlElement): AuthnRequestReading {
  if (!isNamed(root, protocolNamespace, 'AuthnRequest')) return refused('not_an_authn_request');
  if (attributeOf(root, 'Version') !== '2.0') return refused('version');
  const id = attributeOf(root, 'ID');
  if (id === undefined || [...id].length > samlMessageIdCharsMax || !isNcName(id)) return refused('message_id');
  const issuer = readIssuer(root);
  if (issuer === undefined) return refused('issuer');
  const issueInstantMs = parseUtcDateTime(attributeOf(root, 'IssueInstant'));
  if (issueInstantMs === undefined) return refused('issue_instant_format');
  const parts = readParts(root);
  if (parts === undefined) return refused('content_model');
  const attributes = readAttributes(root);
  if (attributes === undefined) return refused('attribute_value');
  const nameIdPolicy = readNameIdPolicy(parts.get('NameIDPolicy'));
  if (nameIdPolicy === 'refused') return refused('name_id_policy_shape');
  const requestedAuthnContext = readRequestedAuthnContext(parts.get('RequestedAuthnContext'));
  if (requestedAuthnContext === 'refused') return refused('authn_context_shape');
  const request = {
    id,
    issuer,
    issueInstantMs,
    ...attributes,
    nameIdPolicy,
    requestedAuthnContext,
    namesSubject: parts.has('Subject'),
    isSigned: findSignatures(root).length > 0,
  };
  return { ok: true, request };
}

function refused(reason: AuthnRequestRefusal): { readonly ok: false; readonly reason: AuthnRequestRefusal } {
  return { ok: false, reason };
}

// Exactly one Issuer, first of all, holding text alone (SAML core 2.2.5, profiles 4.1.4.1).
function readIssuer(root: XmlElement): string | undefined {
  const children = childElements(root);
  const issuers = children.filter((child) => child.localName === 'Issuer');
  const [issuer] = issuers;
  if (issuer === undefined || issuers.length > 1 || issuer !== children[0]) return undefined;
  if (!isNamed(issuer, assertionNamespace, 'Issuer')) return undefined;
  const format = attributeOf(issuer, 'Format');
  if (format !== undefined && format !== 'urn:oasis:names:tc:SAML:2.0:nameid-format:entity') return undefined;
  const value = textOf(issuer);
  return value === undefined || value === '' || [...value].length > samlEntityIdCharsMax ? undefined : value;
}

const contentModel: readonly (readonly [namespaceUri: string, localName: string])[] = [
  [assertionNamespace, 'Issuer'],
  [signatureNamespace, 'Signature'],
  [protocolNamespace, 'Extensions'],
  [assertionNamespace, 'Subject'],
  [protocolNamespace, 'NameIDPolicy'],
  [assertionNamespace, 'Conditions'],
  [protocolNamespace, 'RequestedAuthnContext'],
  [protocolNamespace, 'Scoping'],
];

// Each element at most once, in the order of the schema, and nothing else. Where a Signature may stand is judged with
// the signature itself, so that its refusal is the signature's.
function readParts(root: XmlElement): ReadonlyMap<string, XmlElement> | undefined {
  if (!holdsElementsOnly(root)) return undefined;
  const parts = new Map<string, XmlElement>();
  let position = 0;
  for (const child of childElements(root)) {
    if (isNamed(child, signatureNamespace, 'Signature')) continue;
    const at = contentModel.findIndex(([namespaceUri, localName]) => isNamed(child, namespaceUri, localName));
    if (at < position) return undefined;
    position = at + 1;
    parts.set(child.localName, child);
  }
  return parts;
}

function readAttributes(root: XmlElement) {
  const isPassive = parseBoolean(attributeOf(root, 'IsPassive'));
  const forceAuthn = parseBoolean(attributeOf(root, 'ForceAuthn'));
  const index = attributeOf(root, 'AssertionConsumerServiceIndex');
  const acsIndex = index === undefined ? undefined : parseIndex(index);
  if (isPassive === undefined || forceAuthn === undefined || (index !== undefined && acsIndex === undefined)) return undefined;
  return {
    destination: attributeOf(root, 'Destination'),
    acsUrl: attributeOf(root, 'AssertionConsumerServiceURL'),
    acsIndex,
    protocolBinding: attributeOf(root, 'ProtocolBinding'),
    isPassive,
    forceAuthn,
  };
}

function readNameIdPolicy(element: XmlElement | undefined): AuthnRequest['nameIdPolicy'] | 'refused' {
  if (element === undefined) return undefined;
  if (childElements(element).length > 0 || parseBoolean(attributeOf(element, 'AllowCreate')) === undefined) return 'refused';
  return { format: attributeOf(element, 'Format'), spNameQualifier: attributeOf(element, 'SPNameQualifier') };
}

function readRequestedAuthnContext(element: XmlElement | undefined): AuthnRequest['requestedAuthnContext'] | 'refused' {
  if (element === undefined) return undefined;
  const children = childElements(element);
  const classes: string[] = [];
  for (const child of children) {
    const value = textOf(child)?.trim();
    // A declaration reference names a document of its own kind of context: none is known here.
    if (isNamed(child, assertionNamespace, 'AuthnContextDeclRef')) classes.push('');
    else if (isNamed(child, assertionNamespace, 'AuthnContextClassRef') && value !== undefined) classes.push(value);
    else return 'refused';
  }
  return classes.length === 0 ? 'refused' : { comparison: attributeOf(element, 'Comparison') ?? 'exact', classes };
}

// xs:boolean; absent is false.
function parseBoolean(value: string | undefined): boolean | undefined {
  if (value === undefined || value === 'false' || value === '0') return false;
  return value === 'true' || value === '1' ? true : undefined;
}

function parseIndex(value: string): number | undefined {
  const index = /^\d{1,5}$/.test(value) ? Number(value) : Number.NaN;
  return index <= samlAcsIndexMax ? index : undefined;
}
