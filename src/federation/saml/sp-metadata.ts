// Our metadata as a service provider of one identity provider (SAML metadata 2.4.4): what its administrator uploads there. Every
// provider sees an entityID of its own, so that an assertion for one is for no other.
import { digestMethods, signatureMethods } from '../../crypto/xml/algorithms.ts';
import { decryptionMethods } from '../../crypto/xml/decryption.ts';
import { base64Text, element, type WrittenElement, writeCanonical } from '../../crypto/xml/writer.ts';
import { nameIdFormatUris } from '../../domain/saml/name-id.ts';
import { samlBindings, samlNamespaces } from '../../domain/saml/saml-names.ts';

interface SpFacts {
  readonly callbackUri: string;
  /** DER: what signs our requests now and next. */
  readonly signing: readonly Buffer[];
  /** DER: what answers may be encrypted for. */
  readonly encryption: Buffer;
  readonly signsRequests: boolean;
}

/** Our entityID at the provider of this callback address, which is also where its metadata is. */
export const spEntityId = (callbackUri: string): string => `${callbackUri}/metadata`;

/** The EntityDescriptor. */
export function writeSpMetadata({ callbackUri, signing, encryption, signsRequests }: SpFacts): string {
  const algorithms = [
    ...digestMethods.map((Algorithm) => element('alg:DigestMethod', { Algorithm })),
    ...signatureMethods.map((Algorithm) => element('alg:SigningMethod', { Algorithm })),
  ];
  const opened = decryptionMethods.map((Algorithm) => element('md:EncryptionMethod', { Algorithm }));
  const descriptor = element(
    'md:SPSSODescriptor',
    {
      AuthnRequestsSigned: String(signsRequests),
      WantAssertionsSigned: 'true',
      protocolSupportEnumeration: samlNamespaces.protocol,
    },
    element('md:Extensions', {}, ...algorithms),
    ...signing.map((certificate) => keyDescriptor('signing', certificate, [])),
    keyDescriptor('encryption', encryption, opened),
    ...[nameIdFormatUris.persistent, nameIdFormatUris.emailAddress].map((format) => element('md:NameIDFormat', {}, format)),
    element('md:AssertionConsumerService', { Binding: samlBindings.post, Location: callbackUri, index: '0', isDefault: 'true' }),
  );
  const root = element('md:EntityDescriptor', { entityID: spEntityId(callbackUri) }, descriptor);
  return `<?xml version="1.0" encoding="UTF-8"?>\n${writeCanonical(root).canonical}\n`;
}

const keyDescriptor = (use: string, certificate: Buffer, methods: readonly WrittenElement[]): WrittenElement =>
  element(
    'md:KeyDescriptor',
    { use },
    element('ds:KeyInfo', {}, element('ds:X509Data', {}, element('ds:X509Certificate', {}, base64Text(certificate)))),
    ...methods,
  );
