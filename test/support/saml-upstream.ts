// A SAML identity provider for tests, made without any code of ours: answers by hand, signatures by xml-crypto, encryption by
// node:crypto. It says what it must, and lies where a test asks it to. Attack tests take its answers apart.
import assert from 'node:assert/strict';
import { constants, createCipheriv, createVerify, type KeyObject, publicEncrypt, randomBytes, X509Certificate } from 'node:crypto';
import { inflateRawSync } from 'node:zlib';
import { SignedXml } from 'xml-crypto';
import { certificatePem, rsaKeys } from './rsa-keys.ts';
import { escapeXml, exclusiveC14nUri, rsaSha256Uri, sha256Uri } from './saml-requests.ts';

export const idpEntityId = 'https://idp.acme.example/saml';
export const idpSsoUrl = 'https://idp.acme.example/sso?app=1';
const namespaces = 'xmlns:samlp="urn:oasis:names:tc:SAML:2.0:protocol" xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion"';
const persistent = 'urn:oasis:names:tc:SAML:2.0:nameid-format:persistent';
const enveloped = 'http://www.w3.org/2000/09/xmldsig#enveloped-signature';
const keys = rsaKeys('saml-upstream');

/** Metadata as an administrator pastes it. */
export async function idpMetadata(
  changes: { wantsSigned?: boolean; formats?: string; role?: string; attributes?: string } = {},
): Promise<string> {
  const { wantsSigned = false, formats = persistent, attributes = '' } = changes;
  const certificate = (await certificatePem(keys)).replace(/-.*-\n|\n/g, '');
  const role =
    changes.role ??
    `<md:IDPSSODescriptor WantAuthnRequestsSigned="${wantsSigned}" protocolSupportEnumeration="urn:oasis:names:tc:SAML:2.0:protocol">` +
      `<md:KeyDescriptor use="signing"><ds:KeyInfo xmlns:ds="http://www.w3.org/2000/09/xmldsig#"><ds:X509Data><ds:X509Certificate>${certificate}</ds:X509Certificate></ds:X509Data></ds:KeyInfo></md:KeyDescriptor>` +
      `<md:NameIDFormat>${formats}</md:NameIDFormat>` +
      `<md:SingleSignOnService Binding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect" Location="${idpSsoUrl}"/></md:IDPSSODescriptor>`;
  return `<?xml version="1.0"?><md:EntityDescriptor xmlns:md="urn:oasis:names:tc:SAML:2.0:metadata" entityID="${idpEntityId}"${attributes}>${role}</md:EntityDescriptor>`;
}

export interface AskedBy {
  readonly xml: string;
  readonly id: string;
  readonly acsUrl: string;
  readonly issuer: string;
  readonly relayState: string;
  readonly query: URLSearchParams;
  readonly raw: string;
}

/** What an address we send people to asks. */
export function readAsked(location: string): AskedBy {
  assert.ok(location.startsWith(`${idpSsoUrl}&SAMLRequest=`), location);
  const raw = location.slice(`${idpSsoUrl}&`.length);
  const query = new URLSearchParams(raw);
  const xml = inflateRawSync(Buffer.from(query.get('SAMLRequest') ?? '', 'base64')).toString();
  const attribute = (name: string): string => new RegExp(` ${name}="([^"]*)"`).exec(xml)?.[1] ?? '';
  const issuer = /<saml:Issuer[^>]*>([^<]*)</.exec(xml)?.[1] ?? '';
  return {
    xml,
    id: attribute('ID'),
    acsUrl: attribute('AssertionConsumerServiceURL'),
    issuer,
    relayState: query.get('RelayState') ?? '',
    query,
    raw,
  };
}

/** Verifies the query signature as an identity provider does, by the certificates of our metadata. */
export function isQuerySigned({ raw, query }: AskedBy, certificates: readonly string[]): boolean {
  const [signed = ''] = raw.split('&Signature=');
  const signature = Buffer.from(query.get('Signature') ?? '', 'base64');
  return certificates.some((one) =>
    createVerify('sha256')
      .update(signed)
      .verify(new X509Certificate(Buffer.from(one, 'base64')).publicKey, signature),
  );
}

/** Everything of an answer; a test changes what it lies about. `undefined` leaves an attribute out. */
export interface AnswerParts {
  readonly nameId: string;
  readonly format: string | undefined;
  readonly email: string | undefined;
  readonly attributes: string;
  readonly issuer: string;
  readonly responseIssuer: string | undefined;
  readonly audience: string;
  readonly conditions: string;
  readonly destination: string | undefined;
  readonly recipient: string | undefined;
  readonly inResponseTo: string | undefined;
  readonly confirmedInResponseTo: string | undefined;
  readonly method: string;
  readonly status: string;
  readonly version: string;
  readonly issueInstantMs: number;
  readonly notBeforeMs: number;
  readonly notOnOrAfterMs: number;
  readonly authnInstantMs: number;
  readonly confirmedUntilMs: number;
  readonly statement: string;
  readonly context: string;
  readonly assertionId: string;
  readonly responseId: string;
}

export type Changes = Partial<AnswerParts>;

let answers = 0;

/** An unsigned Response to a request. */
export function buildResponse(asked: AskedBy, nowMs: number, changes: Changes = {}): string {
  answers += 1;
  const parts: AnswerParts = {
    nameId: `person-${answers}`,
    format: persistent,
    email: undefined,
    attributes: '',
    issuer: idpEntityId,
    responseIssuer: idpEntityId,
    audience: asked.issuer,
    conditions: '',
    destination: asked.acsUrl,
    recipient: asked.acsUrl,
    inResponseTo: asked.id,
    confirmedInResponseTo: asked.id,
    method: 'urn:oasis:names:tc:SAML:2.0:cm:bearer',
    status: '<samlp:StatusCode Value="urn:oasis:names:tc:SAML:2.0:status:Success"/>',
    version: '2.0',
    issueInstantMs: nowMs,
    notBeforeMs: nowMs - 30_000,
    notOnOrAfterMs: nowMs + 300_000,
    authnInstantMs: nowMs - 10_000,
    confirmedUntilMs: nowMs + 300_000,
    statement: '',
    context: 'urn:oasis:names:tc:SAML:2.0:ac:classes:PasswordProtectedTransport',
    assertionId: `_assertion-${answers}`,
    responseId: `_response-${answers}`,
    ...changes,
  };
  const time = (ms: number): string => new Date(ms).toISOString();
  const optional = (name: string, value: string | undefined): string => (value === undefined ? '' : ` ${name}="${escapeXml(value)}"`);
  const mail =
    parts.email === undefined
      ? ''
      : `<saml:Attribute Name="urn:oid:0.9.2342.19200300.100.1.3"><saml:AttributeValue xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xmlns:xs="http://www.w3.org/2001/XMLSchema" xsi:type="xs:string">${escapeXml(parts.email)}</saml:AttributeValue></saml:Attribute>`;
  const statement = mail + parts.attributes === '' ? '' : `<saml:AttributeStatement>${mail}${parts.attributes}</saml:AttributeStatement>`;
  const assertion =
    `<saml:Assertion ID="${parts.assertionId}" Version="${parts.version}" IssueInstant="${time(parts.issueInstantMs)}"><saml:Issuer>${escapeXml(parts.issuer)}</saml:Issuer>` +
    `<saml:Subject><saml:NameID${optional('Format', parts.format)}>${escapeXml(parts.nameId)}</saml:NameID><saml:SubjectConfirmation Method="${parts.method}">` +
    `<saml:SubjectConfirmationData NotOnOrAfter="${time(parts.confirmedUntilMs)}"${optional('Recipient', parts.recipient)}${optional('InResponseTo', parts.confirmedInResponseTo)}/></saml:SubjectConfirmation></saml:Subject>` +
    `<saml:Conditions NotBefore="${time(parts.notBeforeMs)}" NotOnOrAfter="${time(parts.notOnOrAfterMs)}"><saml:AudienceRestriction><saml:Audience>${escapeXml(parts.audience)}</saml:Audience></saml:AudienceRestriction>${parts.conditions}</saml:Conditions>` +
    `<saml:AuthnStatement AuthnInstant="${time(parts.authnInstantMs)}"${parts.statement}><saml:AuthnContext><saml:AuthnContextClassRef>${parts.context}</saml:AuthnContextClassRef></saml:AuthnContext></saml:AuthnStatement>${statement}</saml:Assertion>`;
  const issuer = parts.responseIssuer === undefined ? '' : `<saml:Issuer>${escapeXml(parts.responseIssuer)}</saml:Issuer>`;
  return (
    `<samlp:Response ${namespaces} ID="${parts.responseId}" Version="${parts.version}" IssueInstant="${time(parts.issueInstantMs)}"${optional('Destination', parts.destination)}${optional('InResponseTo', parts.inResponseTo)}>` +
    `${issuer}<samlp:Status>${parts.status}</samlp:Status>${assertion}</samlp:Response>`
  );
}

export type Signing = { readonly key?: KeyObject; readonly signatureAlgorithm?: string; readonly digestAlgorithm?: string };

/** Signs one element of a Response, behind its Issuer. */
export function signElement(xml: string, name: 'Assertion' | 'Response', signing: Signing = {}): string {
  const signer = new SignedXml({
    privateKey: (signing.key ?? keys.privateKey).export({ type: 'pkcs8', format: 'pem' }),
    signatureAlgorithm: signing.signatureAlgorithm ?? rsaSha256Uri,
    canonicalizationAlgorithm: exclusiveC14nUri,
  });
  signer.addReference({
    xpath: `//*[local-name(.)='${name}']`,
    digestAlgorithm: signing.digestAlgorithm ?? sha256Uri,
    transforms: [enveloped, exclusiveC14nUri],
  });
  signer.computeSignature(xml, {
    prefix: 'ds',
    location: { reference: `//*[local-name(.)='${name}']/*[local-name(.)='Issuer']`, action: 'after' },
  });
  return signer.getSignedXml();
}

const xenc = 'http://www.w3.org/2001/04/xmlenc#';

export interface Encryption {
  readonly algorithm?: 'aes-128-gcm' | 'aes-256-gcm';
  /** As named in the message. */
  readonly named?: string;
  readonly padding?: number;
  readonly transport?: string;
}

/** The Response with its signed assertion encrypted for a key. */
export function encryptAssertion(xml: string, to: KeyObject, encryption: Encryption = {}): string {
  const found = /<saml:Assertion .*<\/saml:Assertion>/s.exec(xml)?.[0] ?? assert.fail('no assertion');
  const plain = found.replace('<saml:Assertion ', '<saml:Assertion xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion" ');
  const { algorithm = 'aes-256-gcm', padding = constants.RSA_PKCS1_OAEP_PADDING, transport = `${xenc}rsa-oaep-mgf1p` } = encryption;
  const named = encryption.named ?? `http://www.w3.org/2009/xmlenc11#${algorithm.replace('aes-', 'aes')}`;
  const [key, iv] = [randomBytes(algorithm === 'aes-256-gcm' ? 32 : 16), randomBytes(12)];
  const cipher = createCipheriv(algorithm, key, iv, { authTagLength: 16 });
  const bytes = Buffer.concat([iv, cipher.update(plain), cipher.final(), cipher.getAuthTag()]).toString('base64');
  const wrapped = publicEncrypt({ key: to, padding }, key).toString('base64');
  const value = (text: string): string => `<xenc:CipherData><xenc:CipherValue>${text}</xenc:CipherValue></xenc:CipherData>`;
  const encryptedKey = `<xenc:EncryptedKey><xenc:EncryptionMethod Algorithm="${transport}"/>${value(wrapped)}</xenc:EncryptedKey>`;
  const data = `<xenc:EncryptedData xmlns:xenc="${xenc}" Type="${xenc}Element"><xenc:EncryptionMethod Algorithm="${named}"/><ds:KeyInfo xmlns:ds="http://www.w3.org/2000/09/xmldsig#">${encryptedKey}</ds:KeyInfo>${value(bytes)}</xenc:EncryptedData>`;
  return xml.replace(found, `<saml:EncryptedAssertion>${data}</saml:EncryptedAssertion>`);
}

/** The certificates of our metadata, base64, by use. */
export const certificatesIn = (metadata: string, use: 'signing' | 'encryption'): readonly string[] =>
  [...metadata.matchAll(new RegExp(`<md:KeyDescriptor use="${use}">.*?<ds:X509Certificate>([^<]*)<`, 'gs'))].map((match) => match[1] ?? '');
