// Builds the Response a provider receives: assertion, signatures, encryption (SAML core 2, 3.3.3; profiles 4.1.4.2).
// Called by postback.ts with values already decided. Must not read the database or the clock.
import type { KeyObject } from 'node:crypto';
import { encryptElement } from '../crypto/xml/encryption.ts';
import { signEnveloped, type XmlSigner } from '../crypto/xml/signing.ts';
import { type CanonicalXml, element, type WrittenElement, type WrittenNode, writeCanonical } from '../crypto/xml/writer.ts';
import type { SamlAttribute } from '../domain/mappings/attributes.ts';
import type { AssertionEncryption, ServiceProvider } from '../domain/saml/service-provider.ts';
import type { NameId } from './name-id.ts';

interface ResponseContent {
  readonly responseId: string;
  readonly assertionId: string;
  readonly sessionIndex: string;
  readonly issuer: string;
  readonly acsUrl: string;
  readonly audience: string;
  readonly inResponseTo: string | undefined;
  readonly nowMs: number;
  readonly authnInstantMs: number;
  readonly authnContextClass: string;
  readonly nameId: NameId;
  /** The name is carried as EncryptedID. */
  readonly nameIdEncryption: Encryption | undefined;
  readonly attributes: readonly SamlAttribute[];
}

interface ResponseProtection {
  readonly signer: XmlSigner;
  readonly signing: ServiceProvider['signing'];
  readonly encryption: Encryption | undefined;
}

export interface Encryption {
  readonly key: KeyObject;
  readonly how: AssertionEncryption;
  readonly randomBytes: (size: number) => Buffer;
}

const assertionNotBeforeSkewMs = 60_000;
const assertionLifetimeMs = 5 * 60_000;

/** The Response as XML text. An encrypted assertion is always inside a signed Response. */
export async function buildResponse(content: ResponseContent, protection: ResponseProtection): Promise<string> {
  const { signer, signing, encryption } = protection;
  const plain = buildAssertion(content);
  const assertion = signing === 'response' ? writeCanonical(plain) : await signEnveloped(plain, content.assertionId, signer);
  const carried: WrittenNode =
    encryption === undefined ? assertion : element('saml:EncryptedAssertion', {}, encrypted(assertion, encryption));
  const response = buildEnvelope(content, carried);
  const signed =
    signing === 'assertion' && encryption === undefined
      ? writeCanonical(response)
      : await signEnveloped(response, content.responseId, signer);
  return signed.canonical;
}

const encrypted = (plain: CanonicalXml, { key, how, randomBytes }: Encryption): WrittenElement =>
  encryptElement(plain, key, how, randomBytes);

function buildEnvelope(content: ResponseContent, assertion: WrittenNode): WrittenElement {
  return element(
    'samlp:Response',
    {
      ID: content.responseId,
      Version: '2.0',
      IssueInstant: instant(content.nowMs),
      Destination: content.acsUrl,
      InResponseTo: content.inResponseTo,
    },
    element('saml:Issuer', {}, content.issuer),
    element('samlp:Status', {}, element('samlp:StatusCode', { Value: 'urn:oasis:names:tc:SAML:2.0:status:Success' })),
    assertion,
  );
}

function buildAssertion(content: ResponseContent): WrittenElement {
  const notOnOrAfter = instant(content.nowMs + assertionLifetimeMs);
  const statement = content.attributes.length === 0 ? [] : [buildAttributeStatement(content.attributes)];
  return element(
    'saml:Assertion',
    { ID: content.assertionId, Version: '2.0', IssueInstant: instant(content.nowMs) },
    element('saml:Issuer', {}, content.issuer),
    buildSubject(content, notOnOrAfter),
    element(
      'saml:Conditions',
      { NotBefore: instant(content.nowMs - assertionNotBeforeSkewMs), NotOnOrAfter: notOnOrAfter },
      element('saml:AudienceRestriction', {}, element('saml:Audience', {}, content.audience)),
    ),
    element(
      'saml:AuthnStatement',
      { AuthnInstant: instant(content.authnInstantMs), SessionIndex: content.sessionIndex },
      element('saml:AuthnContext', {}, element('saml:AuthnContextClassRef', {}, content.authnContextClass)),
    ),
    ...statement,
  );
}

function buildSubject({ nameId, nameIdEncryption, inResponseTo, acsUrl }: ResponseContent, notOnOrAfter: string): WrittenElement {
  const { format, nameQualifier, spNameQualifier, value } = nameId;
  const name = element('saml:NameID', { Format: format, NameQualifier: nameQualifier, SPNameQualifier: spNameQualifier }, value);
  return element(
    'saml:Subject',
    {},
    nameIdEncryption === undefined ? name : element('saml:EncryptedID', {}, encrypted(writeCanonical(name), nameIdEncryption)),
    element(
      'saml:SubjectConfirmation',
      { Method: 'urn:oasis:names:tc:SAML:2.0:cm:bearer' },
      element('saml:SubjectConfirmationData', {
        InResponseTo: inResponseTo,
        NotOnOrAfter: notOnOrAfter,
        Recipient: acsUrl,
      }),
    ),
  );
}

function buildAttributeStatement(attributes: readonly SamlAttribute[]): WrittenElement {
  return element(
    'saml:AttributeStatement',
    {},
    ...attributes.map(({ name, nameFormat, friendlyName, values }) =>
      element(
        'saml:Attribute',
        { FriendlyName: friendlyName, Name: name, NameFormat: nameFormat },
        ...values.map((value) => element('saml:AttributeValue', {}, value)),
      ),
    ),
  );
}

function instant(timeMs: number): string {
  return new Date(timeMs).toISOString();
}
