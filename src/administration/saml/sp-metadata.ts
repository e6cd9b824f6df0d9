// Reads a service provider's metadata (SAML metadata 2.4): what its registration can use, and what is left out and why.
// Decides nothing about a stored registration (sp-import.ts does), judges no signature and fetches nothing.
import { samlAcsIndexMax, samlAcsPerProviderMax, samlSigningKeysPerProviderMax } from '../../contract/limits.ts';
import { samlMetadataEntitiesMax, samlMetadataXmlLimits } from '../../contract/saml-metadata-limits.ts';
import {
  ancestry,
  entitiesIn,
  isExpired,
  isTrue,
  readMetadataKey,
  rolesOf,
  withoutByteOrderMark,
} from '../../crypto/xml/entity-metadata.ts';
import { readLongXml, type XmlLimits } from '../../crypto/xml/reader.ts';
import { allElements, attributeOf, childrenNamed, isNamed, textOf, type XmlElement } from '../../crypto/xml/tree.ts';
import { type NameIdFormat, nameIdFormats } from '../../domain/saml/name-id.ts';
import { fieldOfAttributeName } from '../../domain/saml/saml-attribute-names.ts';
import { samlBindings, samlNamespaces } from '../../domain/saml/saml-names.ts';
import { type AssertionConsumerService, acsUrlFault } from '../../domain/saml/service-provider.ts';
import type { Pace } from '../../platform/turns/pace.ts';

export interface SpMetadata {
  readonly entityId: string;
  /** By language, as written; the empty language for a name that has none. */
  readonly names: readonly { readonly language: string; readonly value: string }[];
  readonly acs: readonly AssertionConsumerService[];
  /** PEM certificates with RSA keys we take, at most as many as a registration holds. */
  readonly signingKeys: readonly string[];
  readonly encryptionKey: string | undefined;
  /** Algorithm URIs listed with the encryption key. */
  readonly encryptionMethods: readonly string[];
  /** It has keys that count for encryption, and none that can be used. */
  readonly encryptionUnusable: boolean;
  /** Those that are known, in the document's order; empty when it names none of them. */
  readonly nameIdFormats: readonly NameIdFormat[];
  /** Known RequestedAttributes; empty when it asks for none of them. */
  readonly requestedAttributes: Readonly<Record<string, string>>;
  readonly authnRequestsSigned: boolean;
  /** For how long it may be kept, in milliseconds, where it says so. */
  readonly cacheDurationMs: number | undefined;
  readonly leftOut: readonly LeftOut[];
}

interface LeftOut {
  readonly item: string;
  readonly reason: string;
}

/** A refusal names the registration field an administrator should look at. */
export interface SpMetadataRefusal {
  readonly ok: false;
  readonly reason: string;
  readonly field: 'metadata' | 'entity_id' | 'acs' | 'signing_keys' | 'encryption_key';
  readonly text: string;
}

type SpMetadataReading = { readonly ok: true; readonly metadata: SpMetadata; readonly root: XmlElement } | SpMetadataRefusal;

const namesListedMax = 20;
const displayNames = 'urn:oasis:names:tc:SAML:metadata:ui';
const { metadata: md } = samlNamespaces;

/** What the document says about one service provider: its only one, or the one of `entityId`. */
export async function parseSpMetadata(
  bytes: Uint8Array,
  options: { readonly nowMs: number; readonly entityId?: string | undefined; readonly limits?: XmlLimits | undefined; readonly pace: Pace },
): Promise<SpMetadataReading> {
  const { limits = samlMetadataXmlLimits, pace } = options;
  const reading = await readLongXml(withoutByteOrderMark(bytes), { limits, comments: 'dropped' }, pace);
  if (!reading.ok) return refused('metadata', reading.reason, 'Expected well-formed SAML metadata within the limits.');
  const { root } = reading;
  const choice = chooseEntity(root, options.entityId);
  if (!choice.ok) return choice;
  const { entity } = choice;
  const roles = rolesOf(entity, 'SPSSODescriptor');
  const [role] = roles;
  if (role === undefined || roles.length > 1) return refused('metadata', 'not_one_sp_role', 'Expected one SAML 2.0 service provider role.');
  const around = [...ancestry(entity), role];
  if (around.some((element) => isExpired(element, options.nowMs)))
    return refused('metadata', 'metadata_expired', 'The metadata has expired (validUntil): get it from the provider anew.');
  const entityId = attributeOf(entity, 'entityID');
  if (entityId === undefined || entityId === '') return refused('entity_id', 'entity_id_missing', 'The EntityDescriptor has no entityID.');
  const leftOut: LeftOut[] = [];
  const acs = await readAcs(role, leftOut, pace);
  if (acs.length === 0)
    return refused('acs', 'no_usable_consumer_service', 'No AssertionConsumerService has the HTTP-POST binding and an https address.');
  const authnRequestsSigned = isTrue(attributeOf(role, 'AuthnRequestsSigned'));
  const keys = await readKeys(role, leftOut, pace);
  if (authnRequestsSigned && keys.signing.length === 0)
    return refused(
      'signing_keys',
      'no_usable_signing_key',
      `It signs requests (AuthnRequestsSigned) and has no key to verify them by: ${rsaWanted}`,
    );
  if (keys.encryption === undefined && keys.encryptionAsked)
    return refused('encryption_key', 'no_usable_encryption_key', `None of its encryption keys can be used: ${rsaWanted}`);
  const metadata = {
    entityId,
    names: readNames(role),
    acs,
    signingKeys: keys.signing,
    encryptionKey: keys.encryption?.pem,
    encryptionMethods: keys.encryption?.methods ?? [],
    encryptionUnusable: keys.encryption === undefined && keys.encryptionGiven,
    nameIdFormats: readNameIdFormats(role, leftOut),
    requestedAttributes: readRequestedAttributes(role, leftOut),
    authnRequestsSigned,
    cacheDurationMs: shortestDuration(around.map((element) => attributeOf(element, 'cacheDuration'))),
    leftOut,
  };
  return { ok: true, metadata, root };
}

const rsaWanted = 'a certificate with an RSA key of 2048 bits or more is needed.';

function refused(field: SpMetadataRefusal['field'], reason: string, text: string): SpMetadataRefusal {
  return { ok: false, field, reason, text };
}

/** The one provider of the document, or the one asked for. */
function chooseEntity(root: XmlElement, asked: string | undefined): { readonly ok: true; readonly entity: XmlElement } | SpMetadataRefusal {
  if (!isNamed(root, md, 'EntityDescriptor') && !isNamed(root, md, 'EntitiesDescriptor'))
    return refused('metadata', 'not_metadata', 'Expected an EntityDescriptor or EntitiesDescriptor of SAML 2.0.');
  const entities = entitiesIn(root);
  if (entities.length > samlMetadataEntitiesMax) {
    const text = `The metadata describes ${entities.length} entities; at most ${samlMetadataEntitiesMax} are read. Ask for the provider's own.`;
    return refused('metadata', 'too_many_entities', text);
  }
  const providers = entities.filter((entity) => rolesOf(entity, 'SPSSODescriptor').length > 0);
  const found = asked === undefined ? providers : providers.filter((entity) => attributeOf(entity, 'entityID') === asked);
  const [entity] = found;
  if (entity !== undefined && found.length === 1) return { ok: true, entity };
  const named = providers.slice(0, namesListedMax).map((provider) => attributeOf(provider, 'entityID') ?? '');
  const more = providers.length > named.length ? ` and ${providers.length - named.length} more` : '';
  const has = named.length === 0 ? 'no SAML 2.0 service provider' : `${named.join(', ')}${more}`;
  if (asked !== undefined)
    return refused('metadata', 'entity_not_in_metadata', `The metadata does not name that entity once. It has: ${has}.`);
  if (named.length === 0) return refused('metadata', 'no_service_provider', 'The metadata names no SAML 2.0 service provider.');
  return refused('metadata', 'several_service_providers', `Say which one with entity_id. The metadata has: ${has}.`);
}

/** Of xs:durations, the shortest in milliseconds; a year has 365 days and a month 30. */
function shortestDuration(texts: readonly (string | undefined)[]): number | undefined {
  const found = texts.flatMap((text) => {
    const match = /^P(?:(\d{1,5})Y)?(?:(\d{1,5})M)?(?:(\d{1,5})D)?(?:T(?:(\d{1,7})H)?(?:(\d{1,7})M)?(?:(\d{1,9})(?:\.\d{1,9})?S)?)?$/.exec(
      text ?? '',
    );
    if (match === null) return [];
    const [years = 0, months = 0, days = 0, hours = 0, minutes = 0, seconds = 0] = match.slice(1).map((digits) => Number(digits ?? 0));
    return [((((years * 365 + months * 30 + days) * 24 + hours) * 60 + minutes) * 60 + seconds) * 1000];
  });
  return found.length === 0 ? undefined : Math.min(...found);
}

/** mdui:DisplayName, then the ServiceNames. */
function readNames(role: XmlElement): SpMetadata['names'] {
  const inRole = allElements(role);
  const named = [
    ...inRole.filter((element) => isNamed(element, displayNames, 'DisplayName')),
    ...inRole.filter((element) => isNamed(element, md, 'ServiceName')),
  ];
  return named.flatMap((element) => {
    const value = textOf(element)?.trim() ?? '';
    const language = element.attributes.find(({ prefix, localName }) => prefix === 'xml' && localName === 'lang')?.value ?? '';
    return value === '' ? [] : [{ language: language.toLowerCase(), value }];
  });
}

// Answers go by HTTP-POST alone, so only those consumer services count. The default is the one marked, else the first
// not marked false, else the first (SAML metadata 2.2.3).
async function readAcs(role: XmlElement, leftOut: LeftOut[], pace: Pace): Promise<readonly AssertionConsumerService[]> {
  const taken = new Set<number>();
  const usable: { readonly url: string; readonly index: number; readonly mark: string | undefined }[] = [];
  const services = childrenNamed(role, md, 'AssertionConsumerService');
  const indexOf = (service: XmlElement): number => Number(attributeOf(service, 'index') ?? Number.NaN);
  const freeIndex = freeIndexes(services.map(indexOf));
  for (const [at, service] of services.entries()) {
    await pace();
    const binding = attributeOf(service, 'Binding') ?? '';
    const url = attributeOf(service, 'Location') ?? '';
    const given = indexOf(service);
    const index = attributeOf(service, 'index') === undefined ? freeIndex(at) : given;
    const fault =
      (binding === samlBindings.post ? undefined : `the binding is ${binding.split(':').at(-1)}, answers go by HTTP-POST`) ??
      acsUrlFault(url) ??
      (Number.isInteger(index) && index >= 0 && index <= samlAcsIndexMax
        ? undefined
        : `an index is a whole number up to ${samlAcsIndexMax}`) ??
      (taken.has(index) ? `the index ${index} stands twice` : undefined) ??
      (usable.length < samlAcsPerProviderMax ? undefined : `a provider has at most ${samlAcsPerProviderMax}`);
    if (fault !== undefined) leftOut.push({ item: `AssertionConsumerService ${url}`.trim(), reason: fault });
    else {
      taken.add(index);
      usable.push({ url, index, mark: attributeOf(service, 'isDefault') });
    }
  }
  const marked = usable.findIndex(({ mark }) => isTrue(mark));
  const unmarked = usable.findIndex(({ mark }) => mark === undefined);
  const chosen = marked >= 0 ? marked : Math.max(unmarked, 0);
  return usable.map(({ url, index }, at) => ({ url, index, default: at === chosen }));
}

// The schema wants an index; generators that leave it out mean the order. Each look goes on from the last: a document may have thousands.
function freeIndexes(given: readonly number[]): (at: number) => number {
  const taken = new Set(given);
  let next = 0;
  return (at) => {
    next = Math.max(next, at);
    while (taken.has(next)) next += 1;
    return next++;
  };
}

interface Keys {
  readonly signing: readonly string[];
  readonly encryption: { readonly pem: string; readonly methods: readonly string[] } | undefined;
  /** It has keys that count for encryption. */
  readonly encryptionGiven: boolean;
  /** One of them is for encryption alone, or lists algorithms for it. */
  readonly encryptionAsked: boolean;
}

// A KeyDescriptor without `use` counts for both (SAML metadata 2.4.1.1). Repeated certificates count once.
async function readKeys(role: XmlElement, leftOut: LeftOut[], pace: Pace): Promise<Keys> {
  const signing = new Set<string>();
  let encryption: Keys['encryption'];
  let encryptionGiven = false;
  let encryptionAsked = false;
  for (const descriptor of childrenNamed(role, md, 'KeyDescriptor')) {
    await pace();
    const use = attributeOf(descriptor, 'use');
    const item = `KeyDescriptor${use === undefined ? '' : ` for ${use}`}`;
    encryptionGiven ||= use !== 'signing';
    encryptionAsked ||= use === 'encryption' || (use === undefined && encryptionMethodsOf(descriptor).length > 0);
    const key = readMetadataKey(descriptor);
    if (key.fault !== undefined) {
      leftOut.push({ item, reason: key.fault });
      continue;
    }
    if (use !== 'encryption' && !signing.has(key.pem)) {
      if (signing.size < samlSigningKeysPerProviderMax) signing.add(key.pem);
      else leftOut.push({ item, reason: `a provider has at most ${samlSigningKeysPerProviderMax} signing keys` });
    }
    if (use !== 'signing') {
      if (encryption === undefined) encryption = { pem: key.pem, methods: encryptionMethodsOf(descriptor) };
      else if (encryption.pem !== key.pem) leftOut.push({ item, reason: 'the first encryption key is used' });
    }
  }
  return { signing: [...signing], encryption, encryptionGiven, encryptionAsked };
}

function encryptionMethodsOf(descriptor: XmlElement): readonly string[] {
  return childrenNamed(descriptor, md, 'EncryptionMethod').map((method) => attributeOf(method, 'Algorithm') ?? '');
}

function readNameIdFormats(role: XmlElement, leftOut: LeftOut[]): readonly NameIdFormat[] {
  const named = [...new Set(childrenNamed(role, md, 'NameIDFormat').map((element) => textOf(element)?.trim() ?? ''))];
  return named.flatMap((name) => {
    const known = nameIdFormats.find((format) => format === name);
    if (known === undefined) leftOut.push({ item: `NameIDFormat ${name}`, reason: 'no name of this format is made' });
    return known === undefined ? [] : [known];
  });
}

// Those of the default AttributeConsumingService, else of the first.
function readRequestedAttributes(role: XmlElement, leftOut: LeftOut[]): SpMetadata['requestedAttributes'] {
  const services = childrenNamed(role, md, 'AttributeConsumingService');
  const service = services.find((candidate) => isTrue(attributeOf(candidate, 'isDefault'))) ?? services[0];
  const map: Record<string, string> = {};
  for (const requested of service === undefined ? [] : childrenNamed(service, md, 'RequestedAttribute')) {
    const name = attributeOf(requested, 'Name') ?? '';
    const field = fieldOfAttributeName(name);
    const item = `RequestedAttribute ${attributeOf(requested, 'FriendlyName') ?? ''} ${name}`.replace('  ', ' ').trim();
    if (field === undefined) leftOut.push({ item, reason: 'no user field is known by this Name: map one by hand' });
    else if (map[field] === undefined) map[field] = name;
    else if (map[field] !== name) leftOut.push({ item, reason: `${field} is sent as ${map[field]}` });
  }
  return map;
}
