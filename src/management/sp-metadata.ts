// Reads a service provider's metadata (SAML metadata 2.4) into the fields its registration has. Called by the import
// route, which validates and stores them as if typed in. The document is trusted because an administrator gives it:
// a signature in it is not judged, and nothing it names is fetched.

import { samlMetadataXmlLimits } from '../contract/limits.ts';
import { toPem } from '../crypto/certificate.ts';
import { parseBase64 } from '../crypto/xml/characters.ts';
import { parseUtcDateTime } from '../crypto/xml/date-time.ts';
import { readXml } from '../crypto/xml/reader.ts';
import { allElements, attributeOf, childrenNamed, isNamed, textOf, type XmlElement } from '../crypto/xml/tree.ts';
import { samlBindings, samlNamespaces } from '../domain/saml-names.ts';
import { type NameIdFormat, nameIdFormats } from '../domain/service-provider.ts';

export interface SpMetadata {
  readonly entityId: string;
  readonly acs: readonly { readonly url: string; readonly index: number; readonly default: boolean }[];
  readonly signingKeys: readonly string[];
  readonly encryptionKey: string | undefined;
  /** Those we can make, in the document's order; empty when it names none of them. */
  readonly nameIdFormats: readonly NameIdFormat[];
  readonly authnRequestsSigned: boolean;
}

export type SpMetadataReading =
  | { readonly ok: true; readonly metadata: SpMetadata }
  /** `field` is the registration field an administrator should look at. */
  | {
      readonly ok: false;
      readonly reason: string;
      readonly field: 'metadata' | 'entity_id' | 'acs' | 'signing_keys' | 'encryption_key';
    };

/** What one EntityDescriptor says about its service provider role. */
export function parseSpMetadata(bytes: Uint8Array, nowMs: number): SpMetadataReading {
  const reading = readXml(bytes, { limits: samlMetadataXmlLimits, comments: 'dropped' });
  if (!reading.ok) return { ok: false, reason: reading.reason, field: 'metadata' };
  const { root } = reading;
  if (!isNamed(root, samlNamespaces.metadata, 'EntityDescriptor'))
    return { ok: false, reason: 'not_an_entity_descriptor', field: 'metadata' };
  const roles = childrenNamed(root, samlNamespaces.metadata, 'SPSSODescriptor').filter(speaksSaml2);
  const [role] = roles;
  if (role === undefined || roles.length > 1) return { ok: false, reason: 'not_one_sp_role', field: 'metadata' };
  if ([root, role].some((element) => isExpired(element, nowMs))) return { ok: false, reason: 'metadata_expired', field: 'metadata' };
  const entityId = attributeOf(root, 'entityID');
  if (entityId === undefined) return { ok: false, reason: 'entity_id_missing', field: 'entity_id' };
  const acs = readAcs(role);
  if (acs === undefined || acs.length === 0) return { ok: false, reason: 'no_post_consumer_service', field: 'acs' };
  const signingKeys = readKeys(role, 'signing');
  if (signingKeys === undefined) return { ok: false, reason: 'key_without_certificate', field: 'signing_keys' };
  const encryptionKeys = readKeys(role, 'encryption');
  if (encryptionKeys === undefined) return { ok: false, reason: 'key_without_certificate', field: 'encryption_key' };
  const authnRequestsSigned = ['true', '1'].includes(attributeOf(role, 'AuthnRequestsSigned') ?? '');
  return {
    ok: true,
    metadata: {
      entityId,
      acs,
      signingKeys,
      encryptionKey: encryptionKeys[0],
      nameIdFormats: readNameIdFormats(role),
      authnRequestsSigned,
    },
  };
}

function speaksSaml2(role: XmlElement): boolean {
  return (attributeOf(role, 'protocolSupportEnumeration') ?? '').split(/[ \t\r\n]+/).includes(samlNamespaces.protocol);
}

function isExpired(element: XmlElement, nowMs: number): boolean {
  const validUntil = parseUtcDateTime(attributeOf(element, 'validUntil'));
  return validUntil !== undefined && validUntil <= nowMs;
}

// Answers go by HTTP-POST alone, so only those consumer services count. The default is the one marked, else the first
// not marked false, else the first (SAML metadata 2.2.3).
function readAcs(role: XmlElement): SpMetadata['acs'] | undefined {
  const services = childrenNamed(role, samlNamespaces.metadata, 'AssertionConsumerService').filter(
    (service) => attributeOf(service, 'Binding') === samlBindings.post,
  );
  const marks = services.map((service) => attributeOf(service, 'isDefault'));
  const marked = marks.findIndex((mark) => mark === 'true' || mark === '1');
  const unmarked = marks.indexOf(undefined);
  const chosen = marked >= 0 ? marked : Math.max(unmarked, 0);
  const acs = services.map((service, at) => ({
    url: attributeOf(service, 'Location') ?? '',
    index: Number(attributeOf(service, 'index') ?? at),
    default: at === chosen,
  }));
  return acs.every(({ index }) => Number.isInteger(index)) ? acs : undefined;
}

// A KeyDescriptor without `use` counts for both (SAML metadata 2.4.1.1). Repeated certificates count once.
function readKeys(role: XmlElement, use: 'signing' | 'encryption'): readonly string[] | undefined {
  const keys = new Set<string>();
  for (const descriptor of childrenNamed(role, samlNamespaces.metadata, 'KeyDescriptor')) {
    if ((attributeOf(descriptor, 'use') ?? use) !== use) continue;
    const [certificate] = allElements(descriptor).filter((element) => isNamed(element, samlNamespaces.signature, 'X509Certificate'));
    const der = certificate === undefined ? undefined : parseBase64(textOf(certificate) ?? '', 'allowed');
    if (der === undefined) return undefined;
    keys.add(toPem(der));
  }
  return [...keys];
}

function readNameIdFormats(role: XmlElement): readonly NameIdFormat[] {
  const named = childrenNamed(role, samlNamespaces.metadata, 'NameIDFormat').map((element) => textOf(element)?.trim());
  return nameIdFormats.filter((format) => named.includes(format)).toSorted((left, right) => named.indexOf(left) - named.indexOf(right));
}
