// What an import of metadata does to a registration (design 15, "Import"): the first one makes it, later ones raise what
// protects and never lower it. Called by the management API and by the refresh; both store the fields as if typed in.
import { nameCharsMax } from '../../contract/limits.ts';
import type { Json } from '../../domain/field.ts';
import { type NameIdFormat, nameIdFormatUris, needsSource, plainDefault } from '../../domain/saml/name-id.ts';
import type { AssertionEncryption, ProviderValues } from '../../domain/saml/service-provider.ts';
import type { SpMetadata } from './sp-metadata.ts';

export interface SpImport {
  /** Fields of the registration, for creation or change. */
  readonly fields: Json;
  readonly report: {
    /** Names of the fields that were set. */
    readonly applied: readonly string[];
    readonly left_out: readonly { readonly item: string; readonly reason: string }[];
    readonly warnings: readonly string[];
  };
}

/** The fields an import sets; `before` is the registration of the same entityID, if there is one. */
export function planImport(metadata: SpMetadata, before: ProviderValues | undefined): SpImport {
  const warnings: string[] = [];
  const formats = formatsFor(metadata, before);
  const fields: Record<string, unknown> = {
    entity_id: metadata.entityId,
    acs: metadata.acs,
    require_signed_requests: (before?.requireSignedRequests ?? false) || metadata.authnRequestsSigned,
    ...(metadata.signingKeys.length > 0 ? { signing_keys: metadata.signingKeys } : {}),
    ...(metadata.encryptionKey === undefined
      ? {}
      : { encryption_key: metadata.encryptionKey, encryption: encryptionFor(metadata, before, warnings) }),
    ...(plainDefault(formats.taken) === undefined ? {} : { name_id_formats: formats.taken }),
    ...(before === undefined ? firstFields(metadata) : {}),
  };
  if (metadata.encryptionUnusable && before?.encryptionKey === undefined)
    warnings.push('None of its keys can be encrypted to, which takes an RSA key of 2048 bits or more: its assertions go out unencrypted.');
  if (metadata.signingKeys.length > 0 && fields['require_signed_requests'] === false)
    warnings.push(
      'It has signing keys and does not say that it signs requests: unsigned ones are taken. Signatures it sends are verified.',
    );
  return { fields, report: { applied: Object.keys(fields), left_out: [...metadata.leftOut, ...formats.leftOut], warnings } };
}

/** The formats the provider can be given names of: with a source where one is needed, encrypted ones with a key. */
function formatsFor(
  { nameIdFormats, encryptionKey }: SpMetadata,
  before: ProviderValues | undefined,
): { readonly taken: readonly NameIdFormat[]; readonly leftOut: SpMetadata['leftOut'] } {
  const hasKey = (encryptionKey ?? before?.encryptionKey) !== undefined;
  const reasonAgainst = (format: NameIdFormat): string | undefined => {
    if (format === nameIdFormatUris.encrypted) return hasKey ? undefined : 'encrypted names need an encryption key';
    const hasSource = !needsSource(format) || before?.nameIdSources[format] !== undefined;
    return hasSource ? undefined : 'say in name_id_sources what such names are made of, and enable it';
  };
  // Unspecified leaves the choice to us, so nothing is lost without it.
  const leftOut = nameIdFormats.flatMap((format) => {
    const reason = format === nameIdFormatUris.unspecified ? undefined : reasonAgainst(format);
    return reason === undefined ? [] : [{ item: `NameIDFormat ${format}`, reason }];
  });
  return { taken: nameIdFormats.filter((format) => reasonAgainst(format) === undefined), leftOut };
}

function firstFields({ names, requestedAttributes }: SpMetadata): Json {
  const name = (names.find(({ language }) => language === 'en' || language.startsWith('en-')) ?? names[0])?.value;
  return {
    ...(name === undefined ? {} : { name: [...name.replace(/\s+/g, ' ')].slice(0, nameCharsMax).join('') }),
    ...(Object.keys(requestedAttributes).length === 0 ? {} : { attribute_map: requestedAttributes }),
  };
}

type Encryption = { readonly algorithm: AssertionEncryption['algorithm']; readonly key_transport: AssertionEncryption['keyTransport'] };

/** Best first. */
const algorithms = [
  ['aes256-gcm', 'http://www.w3.org/2009/xmlenc11#aes256-gcm'],
  ['aes128-gcm', 'http://www.w3.org/2009/xmlenc11#aes128-gcm'],
  ['aes256-cbc', 'http://www.w3.org/2001/04/xmlenc#aes256-cbc'],
] as const;
const keyTransports = [
  ['rsa-oaep-sha256', 'http://www.w3.org/2009/xmlenc11#rsa-oaep'],
  ['rsa-oaep-mgf1p', 'http://www.w3.org/2001/04/xmlenc#rsa-oaep-mgf1p'],
] as const;
/** Of all content encryption algorithms, also those we do not make: what is no key transport. */
const isContentAlgorithm = (uri: string): boolean => !uri.includes('#rsa-') && !uri.includes('#kw-');

function encryptionFor({ encryptionMethods }: SpMetadata, before: ProviderValues | undefined, warnings: string[]): Encryption {
  const stored = before?.encryptionKey === undefined ? undefined : before.encryption;
  const listed = best(algorithms, encryptionMethods);
  if (listed === undefined && encryptionMethods.some(isContentAlgorithm))
    warnings.push('It lists no encryption algorithm that is made here; AES-256-GCM is used, which it may not be able to read.');
  if (listed === 'aes256-cbc' && (stored === undefined || stored.algorithm === 'aes256-cbc'))
    warnings.push('It reads AES-CBC alone, which does not detect changes by itself; the Response around it is always signed.');
  if (listed === 'aes256-cbc' && stored !== undefined && stored.algorithm !== 'aes256-cbc')
    warnings.push(`It lists AES-CBC alone; ${stored.algorithm} stays, for an import never lowers it.`);
  return {
    algorithm: better(algorithms, stored?.algorithm, listed) ?? 'aes256-gcm',
    key_transport: better(keyTransports, stored?.keyTransport, best(keyTransports, encryptionMethods)) ?? 'rsa-oaep-mgf1p',
  };
}

type Ranking<Name extends string> = readonly (readonly [name: Name, uri: string])[];

function best<Name extends string>(ranking: Ranking<Name>, uris: readonly string[]): Name | undefined {
  return ranking.find(([, uri]) => uris.includes(uri))?.[0];
}

function better<Name extends string>(ranking: Ranking<Name>, ...names: readonly (Name | undefined)[]): Name | undefined {
  return ranking.find(([name]) => names.includes(name))?.[0];
}
