// Writes our own metadata (SAML metadata 2.4.3): what a provider needs to trust our answers and to reach us.
import { base64Text, element, writeCanonical } from '../crypto/xml/writer.ts';
import { samlBindings } from '../domain/saml-names.ts';
import { nameIdFormats } from '../domain/service-provider.ts';

/** The EntityDescriptor of a tenant; `certificates` are DER, the current one first, then the next. */
export function buildIdpMetadata(entityId: string, ssoUrl: string, certificates: readonly Buffer[]): string {
  const keys = certificates.map((certificate) =>
    element(
      'md:KeyDescriptor',
      { use: 'signing' },
      element('ds:KeyInfo', {}, element('ds:X509Data', {}, element('ds:X509Certificate', {}, base64Text(certificate)))),
    ),
  );
  const descriptor = element(
    'md:IDPSSODescriptor',
    { WantAuthnRequestsSigned: 'false', protocolSupportEnumeration: 'urn:oasis:names:tc:SAML:2.0:protocol' },
    ...keys,
    ...nameIdFormats.map((format) => element('md:NameIDFormat', {}, format)),
    ...[samlBindings.redirect, samlBindings.post].map((binding) =>
      element('md:SingleSignOnService', { Binding: binding, Location: ssoUrl }),
    ),
  );
  const root = element('md:EntityDescriptor', { entityID: entityId }, descriptor);
  return `<?xml version="1.0" encoding="UTF-8"?>\n${writeCanonical(root).canonical}\n`;
}
