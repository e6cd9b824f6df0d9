// The JSON of a service provider, in and out: every rule of its fields, for creation, change and metadata import alike.
// Called by service-providers.ts. A refusal names the one field to look at (design 02: `kind`).
import {
  nameCharsMax,
  samlAcsIndexMax,
  samlAcsPerProviderMax,
  samlAttributeNameCharsMax,
  samlEntityIdCharsMax,
  samlKeyPemCharsMax,
  samlRelayStateBytesMax,
  samlRelayStatesPerProviderMax,
  samlSigningKeysPerProviderMax,
  urlCharsMax,
} from '../contract/limits.ts';
import { readRsaPublicKey } from '../crypto/rsa-public-key.ts';
import { isXmlText } from '../crypto/xml/characters.ts';
import type { ServiceProviderId } from '../domain/ids.ts';
import {
  type AssertionConsumerService,
  type AttributeField,
  attributeFields,
  type NameIdFormat,
  nameIdFormats,
  type ServiceProvider,
} from '../domain/service-provider.ts';

export type ProviderReading =
  | { readonly ok: true; readonly provider: ServiceProvider }
  | { readonly ok: false; readonly field: string; readonly text: string };

type Json = Readonly<Record<string, unknown>>;

/** A new provider from a request body, defaults filled in. */
export function parseNewProvider(body: unknown, id: ServiceProviderId, nowMs: number): ProviderReading {
  return read(body, undefined, id, nowMs);
}

/** A provider changed by the fields a request body names; every other field stays. */
export function parseProviderChange(body: unknown, before: ServiceProvider, nowMs: number): ProviderReading {
  return read(body, before, before.id, nowMs);
}

/** The resource as the API shows it. */
export function providerToJson(provider: ServiceProvider): Json {
  return {
    id: provider.id,
    entity_id: provider.entityId,
    name: provider.name,
    acs: provider.acs,
    signing_keys: provider.signingKeys,
    encryption_key: provider.encryptionKey ?? null,
    require_signed_requests: provider.requireSignedRequests,
    signing: provider.signing,
    encrypt_assertions: provider.encryptAssertions,
    encryption: { algorithm: provider.encryption.algorithm, key_transport: provider.encryption.keyTransport },
    name_id_formats: provider.nameIdFormats,
    idp_initiated_allowed: provider.idpInitiatedAllowed,
    relay_states: provider.relayStates,
    attribute_map: provider.attributeMap,
    access_policy: provider.accessPolicy,
    enabled: provider.enabled,
    created_at: new Date(provider.createdAtMs).toISOString(),
    updated_at: new Date(provider.updatedAtMs).toISOString(),
  };
}

class WrongField extends Error {
  readonly field: string;
  constructor(field: string, text: string) {
    super(text);
    this.field = field;
  }
}

function read(body: unknown, before: ServiceProvider | undefined, id: ServiceProviderId, nowMs: number): ProviderReading {
  try {
    return { ok: true, provider: readFields(requireObject(body, 'body'), before, id, nowMs) };
  } catch (error) {
    if (error instanceof WrongField) return { ok: false, field: error.field, text: error.message };
    throw error;
  }
}

function readFields(body: Json, before: ServiceProvider | undefined, id: ServiceProviderId, nowMs: number): ServiceProvider {
  for (const name of Object.keys(body)) {
    if (!Object.hasOwn(readers, name)) throw new WrongField(name, 'This field is not known.');
  }
  const given = <Name extends keyof typeof readers>(name: Name): ReturnType<(typeof readers)[Name]> | undefined =>
    // each reader answers its own type; the index signature loses which
    body[name] === undefined ? undefined : (readers[name](body[name], before) as ReturnType<(typeof readers)[Name]>);
  const entityId = given('entity_id') ?? before?.entityId;
  const acs = given('acs') ?? before?.acs;
  if (entityId === undefined) throw new WrongField('entity_id', 'This field is required.');
  if (acs === undefined) throw new WrongField('acs', 'This field is required.');
  const name = given('name') ?? before?.name ?? [...entityId].slice(0, nameCharsMax).join('');
  const provider = {
    id, entityId, name, acs,
    signingKeys: given('signing_keys') ?? before?.signingKeys ?? [],
    encryptionKey: body['encryption_key'] === undefined ? before?.encryptionKey : given('encryption_key'),
    signing: given('signing') ?? before?.signing ?? 'both',
    encryption: given('encryption') ?? before?.encryption ?? defaultEncryption,
    nameIdFormats: given('name_id_formats') ?? before?.nameIdFormats ?? nameIdFormats,
    idpInitiatedAllowed: given('idp_initiated_allowed') ?? before?.idpInitiatedAllowed ?? false,
    relayStates: given('relay_states') ?? before?.relayStates ?? [],
    attributeMap: given('attribute_map') ?? before?.attributeMap ?? {},
    accessPolicy: given('access_policy') ?? before?.accessPolicy ?? 'everyone',
    enabled: given('enabled') ?? before?.enabled ?? true,
    createdAtMs: before?.createdAtMs ?? nowMs,
    updatedAtMs: nowMs,
  } as const; // biome-ignore format: one line a field
  // A key that appears turns its use on, unless the request says otherwise; a key that goes never turns it off silently.
  const hadKeys = (before?.signingKeys.length ?? 0) > 0;
  const hasKeys = provider.signingKeys.length > 0;
  const requireSignedRequests = given('require_signed_requests') ?? (hadKeys || !hasKeys ? (before?.requireSignedRequests ?? false) : true);
  if (requireSignedRequests && !hasKeys)
    throw new WrongField('require_signed_requests', 'Signed requests need an RSA key in signing_keys.');
  const hasEncryptionKey = provider.encryptionKey !== undefined;
  const encryptBefore = before?.encryptionKey === undefined && hasEncryptionKey ? true : (before?.encryptAssertions ?? false);
  const encryptAssertions = given('encrypt_assertions') ?? encryptBefore;
  if (encryptAssertions && !hasEncryptionKey) throw new WrongField('encrypt_assertions', 'Encryption needs an RSA key in encryption_key.');
  return { ...provider, requireSignedRequests, encryptAssertions };
}

const defaultEncryption = { algorithm: 'aes256-gcm', keyTransport: 'rsa-oaep-mgf1p' } as const;

const readers = {
  entity_id: (value: unknown) => requireText(value, 'entity_id', samlEntityIdCharsMax),
  name: (value: unknown) => requireText(value, 'name', nameCharsMax),
  acs: (value: unknown) => readAcs(value),
  signing_keys: (value: unknown) => readSigningKeys(value),
  encryption_key: (value: unknown) => (value === null ? undefined : requireKey(value, 'encryption_key')),
  require_signed_requests: (value: unknown) => requireBoolean(value, 'require_signed_requests'),
  signing: (value: unknown) => requireOneOf(value, 'signing', ['both', 'assertion', 'response'] as const),
  encrypt_assertions: (value: unknown) => requireBoolean(value, 'encrypt_assertions'),
  encryption: (value: unknown, before?: ServiceProvider) => readEncryption(value, before?.encryption ?? defaultEncryption),
  name_id_formats: (value: unknown) => readNameIdFormats(value),
  idp_initiated_allowed: (value: unknown) => requireBoolean(value, 'idp_initiated_allowed'),
  relay_states: (value: unknown) => readRelayStates(value),
  attribute_map: (value: unknown) => readAttributeMap(value),
  access_policy: (value: unknown) => requireOneOf(value, 'access_policy', ['everyone', 'assigned'] as const),
  enabled: (value: unknown) => requireBoolean(value, 'enabled'),
} as const;

function readAcs(value: unknown): readonly AssertionConsumerService[] {
  const list = requireList(value, 'acs', 1, samlAcsPerProviderMax).map((item) => requireObject(item, 'acs'));
  const taken = new Set(list.map((item) => item['index']).filter((index) => typeof index === 'number'));
  const nextIndex = (): number => {
    let index = 0;
    while (taken.has(index)) index += 1;
    taken.add(index);
    return index;
  };
  const marked = list.findIndex((item) => item['default'] === true);
  const acs = list.map((item, at) => {
    const unknown = Object.keys(item).find((key) => !['url', 'index', 'default'].includes(key));
    if (unknown !== undefined) throw new WrongField('acs', `"${unknown.slice(0, 50)}" is not known.`);
    if (item['default'] !== undefined) requireBoolean(item['default'], 'acs');
    const index = item['index'] === undefined ? nextIndex() : requireIndex(item['index']);
    return { url: requireAcsUrl(item['url']), index, default: at === Math.max(marked, 0) };
  });
  if (list.filter((item) => item['default'] === true).length > 1) throw new WrongField('acs', 'At most one entry is the default.');
  if (new Set(acs.map(({ index }) => index)).size < acs.length) throw new WrongField('acs', 'An index stands twice.');
  if (new Set(acs.map(({ url }) => url)).size < acs.length) throw new WrongField('acs', 'A URL stands twice.');
  return acs;
}

// https, or http on loopback: an answer in plain text on a network is an answer to everybody.
function requireAcsUrl(value: unknown): string {
  const url = requireText(value, 'acs', urlCharsMax);
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  const isLoopback = parsed?.protocol === 'http:' && ['localhost', '127.0.0.1', '[::1]'].includes(parsed.hostname);
  if (parsed === undefined || (parsed.protocol !== 'https:' && !isLoopback)) {
    throw new WrongField('acs', 'Each url is https, or http on loopback.');
  }
  if (parsed.username !== '' || parsed.password !== '' || url.includes('#') || /\s/u.test(url)) {
    throw new WrongField('acs', 'A url has no user, fragment or white space.');
  }
  return url;
}

function requireIndex(value: unknown): number {
  if (typeof value !== 'number' || !Number.isInteger(value) || value < 0 || value > samlAcsIndexMax) {
    throw new WrongField('acs', `An index is a whole number from 0 to ${samlAcsIndexMax}.`);
  }
  return value;
}

function readSigningKeys(value: unknown): readonly string[] {
  return requireList(value, 'signing_keys', 0, samlSigningKeysPerProviderMax).map((item) => requireKey(item, 'signing_keys'));
}

function requireKey(value: unknown, field: string): string {
  if (typeof value !== 'string' || value.length > samlKeyPemCharsMax)
    throw new WrongField(field, 'A PEM certificate or public key is required.');
  const reading = readRsaPublicKey(value);
  if (!reading.ok) throw new WrongField(field, keyTexts[reading.reason]);
  return value;
}

const keyTexts = {
  not_a_key: 'This is not one PEM certificate or public key.',
  not_rsa: 'The key is not RSA.',
  modulus_too_small: 'RSA keys have 2048 bits or more.',
  modulus_too_large: 'RSA keys have at most 8192 bits.',
  exponent_too_small: 'The RSA exponent is 65537 or more.',
} as const;

function readEncryption(value: unknown, before: ServiceProvider['encryption']): ServiceProvider['encryption'] {
  const given = requireObject(value, 'encryption');
  const unknown = Object.keys(given).find((key) => key !== 'algorithm' && key !== 'key_transport');
  if (unknown !== undefined) throw new WrongField('encryption', `"${unknown.slice(0, 50)}" is not known.`);
  const { algorithm = before.algorithm, key_transport: keyTransport = before.keyTransport } = given;
  return {
    algorithm: requireOneOf(algorithm, 'encryption', ['aes256-gcm', 'aes256-cbc'] as const),
    keyTransport: requireOneOf(keyTransport, 'encryption', ['rsa-oaep-mgf1p', 'rsa-oaep-sha256'] as const),
  };
}

function readNameIdFormats(value: unknown): readonly NameIdFormat[] {
  const formats = requireList(value, 'name_id_formats', 1, nameIdFormats.length).map((item) =>
    requireOneOf(item, 'name_id_formats', nameIdFormats),
  );
  if (new Set(formats).size < formats.length) throw new WrongField('name_id_formats', 'A format stands twice.');
  return formats;
}

function readRelayStates(value: unknown): readonly string[] {
  return requireList(value, 'relay_states', 0, samlRelayStatesPerProviderMax).map((item) => {
    if (
      typeof item !== 'string' ||
      item === '' ||
      Buffer.byteLength(item) > samlRelayStateBytesMax ||
      item.includes('\0') ||
      !item.isWellFormed()
    ) {
      throw new WrongField('relay_states', `Each is a text of 1 to ${samlRelayStateBytesMax} bytes.`);
    }
    return item;
  });
}

function readAttributeMap(value: unknown): ServiceProvider['attributeMap'] {
  const entries = Object.entries(requireObject(value, 'attribute_map')).map(([path, name]): [AttributeField, string] => {
    const field = attributeFields.find((candidate) => candidate === path);
    if (field === undefined)
      throw new WrongField('attribute_map', `"${path.slice(0, 50)}" is no user field. Known: ${attributeFields.join(', ')}.`);
    return [field, requireText(name, 'attribute_map', samlAttributeNameCharsMax)];
  });
  if (new Set(entries.map(([, name]) => name)).size < entries.length)
    throw new WrongField('attribute_map', 'Two fields have the same attribute name.');
  return Object.fromEntries(entries);
}

// Text that an XML attribute carries unchanged: no control characters, and no white space at the ends.
function requireText(value: unknown, field: string, charsMax: number): string {
  if (typeof value !== 'string' || value === '' || [...value].length > charsMax)
    throw new WrongField(field, `A text of 1 to ${charsMax} characters is required.`);
  if (!isXmlText(value) || /[\t\n\r]/.test(value) || value.trim() !== value) {
    throw new WrongField(field, 'Control characters and white space at the ends are not allowed.');
  }
  return value;
}

function requireBoolean(value: unknown, field: string): boolean {
  if (typeof value !== 'boolean') throw new WrongField(field, 'true or false is required.');
  return value;
}

function requireOneOf<const Choice extends string>(value: unknown, field: string, choices: readonly Choice[]): Choice {
  const found = choices.find((choice) => choice === value);
  if (found === undefined) throw new WrongField(field, `One of ${choices.join(', ')} is required.`);
  return found;
}

function requireList(value: unknown, field: string, min: number, max: number): readonly unknown[] {
  if (!Array.isArray(value) || value.length < min || value.length > max)
    throw new WrongField(field, `A list of ${min} to ${max} is required.`);
  return value;
}

function requireObject(value: unknown, field: string): Json {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new WrongField(field, 'A JSON object is required.');
  return value as Json; // just checked
}
