// The metadata of a SAML identity provider people sign in with (SAML metadata 2.4.3), as an administrator pasted it: who it is, where
// it is asked, the keys it signs with. No address of it is ever called by us, and its own signature is not judged: who pasted it vouches.
import type { KeyObject } from 'node:crypto';
import { samlEntityIdCharsMax } from '../../contract/limits.ts';
import { samlMetadataXmlLimits } from '../../contract/saml-metadata-limits.ts';
import {
  ancestry,
  entitiesIn,
  isExpired,
  isTrue,
  type MetadataKey,
  readMetadataKey,
  rolesOf,
  withoutByteOrderMark,
} from '../../crypto/xml/entity-metadata.ts';
import { readXml } from '../../crypto/xml/reader.ts';
import { attributeOf, childrenNamed, textOf, type XmlElement } from '../../crypto/xml/tree.ts';
import { calledUriFault } from '../../domain/client/client-uris.ts';
import { readRsaPublicKey } from '../../domain/rsa-public-key.ts';
import { nameIdFormatUris } from '../../domain/saml/name-id.ts';
import { samlBindings, samlNamespaces } from '../../domain/saml/saml-names.ts';
import type { IdentityProvider } from '../../domain/sign-in/identity-provider.ts';

export interface UpstreamMetadata {
  readonly entityId: string;
  /** By HTTP-Redirect. */
  readonly ssoUrl: string;
  readonly signingKeys: readonly KeyObject[];
  readonly wantsSignedRequests: boolean;
  /** What we ask for by NameIDPolicy; undefined leaves it to the provider. */
  readonly nameIdFormat: string | undefined;
}

/** `text` completes "metadata …". */
type UpstreamMetadataReading = { readonly ok: true; readonly metadata: UpstreamMetadata } | { readonly ok: false; readonly text: string };

const { metadata: md } = samlNamespaces;

/** Reads the one identity provider of the document; refuses what has expired already. */
export function readUpstreamMetadata(xml: string, nowMs: number): UpstreamMetadataReading {
  const bytes = withoutByteOrderMark(Buffer.from(xml.trim()));
  const reading = readXml(bytes, { limits: samlMetadataXmlLimits, comments: 'dropped' });
  if (!reading.ok) return fault(`must be well-formed SAML metadata within the limits (${reading.reason})`);
  const found = entitiesIn(reading.root).flatMap((entity) => rolesOf(entity, 'IDPSSODescriptor'));
  const [role] = found;
  if (role === undefined || found.length > 1) return fault(`must describe one SAML 2.0 identity provider, and describes ${found.length}`);
  const around = ancestry(role);
  if (around.some((element) => isExpired(element, nowMs))) return fault('has expired (validUntil): get it from the provider anew');
  const entityId = attributeOf(around[1]!, 'entityID') ?? ''; // a role stands in its EntityDescriptor
  if (entityId === '' || entityId.length > samlEntityIdCharsMax) return fault('must name an entityID');
  const ssoUrl = redirectServiceOf(role);
  if (ssoUrl === undefined) return fault('must have a SingleSignOnService with the HTTP-Redirect binding and an https address');
  const keys = childrenNamed(role, md, 'KeyDescriptor')
    .filter((descriptor) => attributeOf(descriptor, 'use') !== 'encryption')
    .map(readMetadataKey);
  const signingKeys = keys.flatMap(publicKeysOf);
  if (signingKeys.length === 0)
    return fault(`must hold a certificate its answers are signed with: RSA of 2048 bits or more (${keys[0]?.fault ?? 'it holds none'})`);
  const wantsSignedRequests = isTrue(attributeOf(role, 'WantAuthnRequestsSigned'));
  return { ok: true, metadata: { entityId, ssoUrl, signingKeys, wantsSignedRequests, nameIdFormat: formatOf(role) } };
}

type Described = Pick<IdentityProvider, 'alias' | 'metadata'>;

const readBy = new WeakMap<Described, UpstreamMetadata>();

/** The metadata of a registered provider, which was good when it was registered. */
export function metadataOf(provider: Described): UpstreamMetadata {
  const known = readBy.get(provider);
  if (known !== undefined) return known;
  const reading = readUpstreamMetadata(provider.metadata ?? '', 0);
  if (!reading.ok) throw new Error(`the metadata of identity provider ${provider.alias} ${reading.text}`);
  readBy.set(provider, reading.metadata);
  return reading.metadata;
}

const fault = (text: string): UpstreamMetadataReading => ({ ok: false, text });

function redirectServiceOf(role: XmlElement): string | undefined {
  return childrenNamed(role, md, 'SingleSignOnService')
    .filter((service) => attributeOf(service, 'Binding') === samlBindings.redirect)
    .map((service) => attributeOf(service, 'Location') ?? '')
    .find((location) => calledUriFault(location) === undefined);
}

function publicKeysOf(key: MetadataKey): readonly KeyObject[] {
  const reading = key.fault === undefined ? readRsaPublicKey(key.pem) : undefined;
  return reading?.ok === true ? [reading.key] : [];
}

/** A name that stays, where the provider says it makes one; else what it thinks best. */
function formatOf(role: XmlElement): string | undefined {
  const offered = childrenNamed(role, md, 'NameIDFormat').map((element) => textOf(element)?.trim());
  return [nameIdFormatUris.persistent, nameIdFormatUris.emailAddress].find((format) => offered.includes(format));
}
