// Writes our own metadata (SAML metadata 2.4.3): what a provider needs to trust our answers and to reach us, with the
// algorithms we verify (SAML metadata profile for algorithm support 1.0).
import { digestMethods, signatureMethods } from '../crypto/xml/algorithms.ts';
import { base64Text, element, writeCanonical } from '../crypto/xml/writer.ts';
import { samlBindings } from '../domain/saml/saml-names.ts';

export interface IdpMetadata {
  readonly entityId: string;
  readonly ssoUrl: string;
  /** DER: current, next, then what signed until lately. */
  readonly certificates: readonly Buffer[];
  readonly nameIdFormats: readonly string[];
  readonly wantAuthnRequestsSigned: boolean;
}

/** The EntityDescriptor of a tenant as one reader is to see it. */
export function buildIdpMetadata({ entityId, ssoUrl, certificates, nameIdFormats, wantAuthnRequestsSigned }: IdpMetadata): string {
  const keys = certificates.map((certificate) =>
    element(
      'md:KeyDescriptor',
      { use: 'signing' },
      element('ds:KeyInfo', {}, element('ds:X509Data', {}, element('ds:X509Certificate', {}, base64Text(certificate)))),
    ),
  );
  const algorithms = [
    ...digestMethods.map((Algorithm) => element('alg:DigestMethod', { Algorithm })),
    ...signatureMethods.map((Algorithm) => element('alg:SigningMethod', { Algorithm })),
  ];
  const descriptor = element(
    'md:IDPSSODescriptor',
    { WantAuthnRequestsSigned: String(wantAuthnRequestsSigned), protocolSupportEnumeration: 'urn:oasis:names:tc:SAML:2.0:protocol' },
    element('md:Extensions', {}, ...algorithms),
    ...keys,
    ...nameIdFormats.map((format) => element('md:NameIDFormat', {}, format)),
    ...[samlBindings.redirect, samlBindings.post].map((binding) =>
      element('md:SingleSignOnService', { Binding: binding, Location: ssoUrl }),
    ),
  );
  const root = element('md:EntityDescriptor', { entityID: entityId }, descriptor);
  return `<?xml version="1.0" encoding="UTF-8"?>\n${writeCanonical(root).canonical}\n`;
}
