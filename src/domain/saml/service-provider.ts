// A SAML service provider as registered (design 02, /service-providers; contract 7.12): the table of its fields, and what they
// mean together. A refusal names the one field to look at (design 02: `kind`). Pure.
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
} from '../../contract/limits.ts';
import { calledUriFault } from '../client/client-uris.ts';
import { choice, flag, type Json, json, list, text, type ValuesOf } from '../field.ts';
import type { ServiceProviderId } from '../ids.ts';
import { type Context, defineKind, type KindFault, type Thing } from '../kind.ts';
import { organizationPaths } from '../mappings/paths.ts';
import { rulesKind } from '../mappings/rule.ts';
import { rulesFault, unknownAttributeFault } from '../mappings/rule-faults.ts';
import { readsAsId } from '../organizations/tenant-organizations.ts';
import type { Capability } from '../people/capabilities.ts';
import { isCustomPath, nameIdAttribute, unknownCustomPath } from '../people/custom-attributes.ts';
import { samlSources } from '../people/user-attributes.ts';
import { readRsaPublicKey } from '../rsa-public-key.ts';
import {
  defaultNameIdFormats,
  type NameIdFormat,
  type NameIdSources,
  nameIdFault,
  nameIdFormats,
  nameIdFormatUris,
  nameIdSourceNames,
  nameIdSourcesFault,
  plainDefault,
} from './name-id.ts';
import { defaultRelease } from './saml-attribute-names.ts';
import { firstFault, notKnown, shapeFault, worded } from './worded-field.ts';
import { isXmlText } from './xml-text.ts';

export interface AssertionConsumerService {
  readonly url: string;
  readonly index: number;
  readonly default: boolean;
}

export interface AssertionEncryption {
  readonly algorithm: 'aes256-gcm' | 'aes128-gcm' | 'aes256-cbc';
  readonly keyTransport: 'rsa-oaep-mgf1p' | 'rsa-oaep-sha256';
}

const acsKind = {
  ...json<readonly AssertionConsumerService[]>({
    type: 'array',
    minItems: 1,
    maxItems: samlAcsPerProviderMax,
    items: {
      type: 'object',
      required: ['url'],
      properties: { url: { type: 'string' }, index: { type: 'integer' }, default: { type: 'boolean' } },
    },
  }),
  input: 'rows',
  parts: [
    { name: 'url', label: 'Address (https)', input: 'text' },
    { name: 'index', label: 'Index', input: 'number' },
    { name: 'default', label: 'Default', input: 'checkbox' },
  ],
  read: readAcs,
} as const;
const encryptionKind = {
  ...json<AssertionEncryption>({ type: 'object', properties: {} }),
  input: 'parts',
  parts: [
    { name: 'algorithm', label: 'Algorithm', input: 'select', names: ['aes256-gcm', 'aes128-gcm', 'aes256-cbc'] },
    { name: 'key_transport', label: 'Key transport', input: 'select', names: ['rsa-oaep-mgf1p', 'rsa-oaep-sha256'] },
  ],
  read: readEncryption,
  show: ({ algorithm, keyTransport }: AssertionEncryption) => ({ algorithm, key_transport: keyTransport }),
} as const;
const idChars = 36;
const pem = { ...text(samlKeyPemCharsMax), shape: { type: 'string' }, input: 'paragraph' } as const;
const pems = {
  ...json<readonly string[]>({ type: 'array', items: { type: 'string' }, minItems: 0, maxItems: samlSigningKeysPerProviderMax }),
  input: 'blocks',
} as const;
const relayStates = {
  ...json<readonly string[]>({ type: 'array', items: { type: 'string' }, minItems: 0, maxItems: samlRelayStatesPerProviderMax }),
  input: 'lines',
} as const;
const formats = {
  ...json<readonly NameIdFormat[]>({ ...list(choice(nameIdFormats), nameIdFormats.length).shape, minItems: 1 }),
  input: 'lines',
} as const;
const nameIdSources = {
  ...json<NameIdSources>({ type: 'object', properties: {} }),
  input: 'pairs',
  parts: [
    { name: 'format', label: 'NameID format', input: 'text', names: nameIdFormats },
    { name: 'source', label: 'Made of', input: 'text', names: nameIdSourceNames },
  ],
} as const;
/** What attribute_map may name, beside attributes of the tenant. */
const released = [...samlSources, ...organizationPaths];
const attributeMap = {
  ...json<Readonly<Record<string, string>>>({ type: 'object', properties: {} }),
  input: 'pairs',
  parts: [
    { name: 'from', label: 'Field of the person', input: 'text', names: released },
    { name: 'to', label: 'Attribute name', input: 'text' },
  ],
} as const;

// biome-ignore format: a field a line or two
export const serviceProviderFields = {
  entityId: worded('entity_id', text(samlEntityIdCharsMax), { required: true, label: 'Entity ID', form: 'new', check: xmlFault, hashed: true }),
  name: worded('name', text(nameCharsMax), { default: '', label: 'Name', help: 'Shown to people when they sign in.', check: xmlFault }),
  acs: worded('acs', acsKind, { required: true, label: 'Assertion consumer services', check: acsFault,
    help: 'Where answers are posted to. Without an index, a row gets the next free one.' }),
  signingKeys: worded('signing_keys', pems, { default: [], label: 'Signing keys', tab: 'Keys', check: keysFault,
    help: 'At most four certificates or public keys as PEM, one after another.' }),
  encryptionKey: worded('encryption_key', pem, { label: 'Encryption key', tab: 'Keys', help: 'A certificate or public key as PEM.', check: keyFault }),
  requireSignedRequests: worded('require_signed_requests', flag, { default: false, label: 'Requests must be signed', tab: 'Keys' }),
  signing: worded('signing', choice(['both', 'assertion', 'response']), { default: 'both', label: 'What is signed', tab: 'Keys' }),
  signingKey: worded('signing_key', choice(['tenant', 'own']), { default: 'tenant', label: 'Whose key signs', tab: 'Keys',
    help: "own: a ring of its own, which signs from its first rotation; until then the tenant's key does" }),
  encryptAssertions: worded('encrypt_assertions', flag, { default: false, label: 'Assertions are encrypted', tab: 'Keys' }),
  encryption: worded('encryption', encryptionKind, { default: { algorithm: 'aes256-gcm', keyTransport: 'rsa-oaep-mgf1p' }, label: 'Encryption',
    tab: 'Keys', check: encryptionFault }),
  nameIdFormats: worded('name_id_formats', formats, { default: defaultNameIdFormats, label: 'NameID formats', tab: 'Sign-in',
    help: 'One a line; the first is the default.', check: formatsFault }),
  nameIdSources: worded('name_id_sources', nameIdSources, { default: {}, label: 'What NameIDs are made of', tab: 'Sign-in', check: nameIdSourcesFault,
    help: 'By format, a field of the person. Unspecified and other formats of SAML 1.1 need one.' }),
  idpInitiatedAllowed: worded('idp_initiated_allowed', flag, { default: false, label: 'IdP-initiated sign-in allowed', tab: 'Sign-in' }),
  relayStates: worded('relay_states', relayStates, { default: [], label: 'RelayStates of IdP-initiated sign-ins', tab: 'Sign-in',
    help: 'One a line; the first is sent when none of these was asked for.', check: relayStatesFault }),
  attributeMap: worded('attribute_map', attributeMap, { default: {}, label: 'Attributes', tab: 'Attributes', check: attributeMapFault,
    help: 'What it learns about people: a field, or custom.<name>, under the name of an attribute.' }),
  mappings: worded('mappings', rulesKind('saml'), { default: [], label: 'Attributes by rules', tab: 'Attributes', check: mappingsFault,
    help: 'Rules that make attributes; they replace, by `to`, those of attribute_map and of the default table (/mappings/saml).' }),
  metadataUrl: worded('metadata_url', text(urlCharsMax), { label: 'Address of its metadata', tab: 'Metadata', check: metadataUrlFault,
    help: 'Read once a day, or as often as the metadata says. Changes apply by themselves; an address at a new host waits for approval.' }),
  metadataCertificate: worded('metadata_certificate', pem, { label: 'Who signs its metadata', tab: 'Metadata', check: keyFault,
    help: 'A certificate or public key as PEM. With it, metadata without its signature is not taken.' }),
  organization: worded('organization', text(idChars), { label: 'Organisation', tab: 'Sign-in', check: organizationFault,
    help: 'Its id. People sign in here for this organisation: by its rules, and its members alone.' }),
  accessPolicy: worded('access_policy', choice(['everyone', 'assigned']), { default: 'everyone', label: 'Who may use it' }),
  enabled: worded('enabled', flag, { default: true, label: 'Enabled' }),
} as const;

export type ServiceProvider = Thing<typeof serviceProviderFields, ServiceProviderId>;
export type ProviderValues = ValuesOf<typeof serviceProviderFields>;

export const serviceProviderKind = defineKind({
  noun: 'service_provider',
  plural: 'service_providers',
  called: 'service provider',
  fields: serviceProviderFields,
  key: 'id',
  unique: [['entityId', 'This entityID is registered already.']],
  inSentences: true,
  complete: completeProvider,
  rules: (values, context) => providerFault(values) ?? tenantFault(values, context),
  power: { read: 'service-providers:read', write: 'service-providers:write', toChange: capabilitiesToBind },
  searched: ({ name, entityId }) => [name, entityId],
  told: {
    created: ({ entityId }) => ({ entity_id: entityId }),
    edited: (before, after) => ({ act: 'changed', data: { changed: changedMembers(before, after) } }),
  },
  defaultsLeftOut: { but: ['entity_id', 'name', 'acs', 'signing_keys', 'encryption_key'] },
  // A document releases what it names: one written before there was a default release must not start to release.
  unsaid: { attribute_map: {} },
  summaries: {
    create: 'Register a service provider',
    list: 'List service providers, oldest first; `search` is a part of a name or entityID',
    read: 'Read a service provider',
    change: 'Change a service provider',
    remove: 'Delete a service provider; sign-ins under way are refused',
  },
  pages: {
    singular: 'SAML application',
    plural: 'SAML applications',
    about: 'An application people sign in to by SAML. Its metadata says all that is needed.',
    searchHint: 'A part of the name or entity ID',
    title: 'name',
    deletion: 'You can’t undo this. Sign-ins under way are refused.',
  },
});

/** The use of the signing keys of one provider alone; without one, how such a use begins. */
export const ownUse = (provider: ServiceProviderId | ''): string => `saml:${provider}`;

/** The members of a registration that differ, the time of the change aside. */
export function changedMembers<T extends ProviderValues>(before: T, after: T): readonly string[] {
  const names = Object.keys(after) as (keyof T & string)[]; // both have exactly these members
  return names.filter((name) => name !== 'updatedAtMs' && JSON.stringify(before[name]) !== JSON.stringify(after[name]));
}

/** For which organisation people sign in says how they do: the word of those who say that, who see the organisations they name. */
function capabilitiesToBind(before: ProviderValues | undefined, after: ProviderValues | undefined): readonly Capability[] {
  if (before?.organization === after?.organization) return [];
  return after?.organization === undefined ? ['sign-in:write'] : ['sign-in:write', 'organizations:read'];
}

/** Defaults that hang on others: a key that appears turns its use on, unless the request says otherwise. */
function completeProvider(laid: ProviderValues, given: Json, before: ProviderValues | undefined): ProviderValues {
  const isNew = (has: (values: ProviderValues) => boolean): boolean => has(laid) && !(before !== undefined && has(before));
  const turned = (name: string, was: boolean, has: (values: ProviderValues) => boolean): boolean =>
    (given[name] === undefined && isNew(has)) || was;
  return {
    ...laid,
    name: laid.name === '' ? [...laid.entityId].slice(0, nameCharsMax).join('') : laid.name,
    requireSignedRequests: turned('require_signed_requests', laid.requireSignedRequests, hasSigningKeys),
    encryptAssertions: turned('encrypt_assertions', laid.encryptAssertions, hasEncryptionKey),
    attributeMap:
      before === undefined && given['attribute_map'] === undefined ? releaseWhenUndecided(laid.nameIdFormats) : laid.attributeMap,
  };
}

const hasSigningKeys = ({ signingKeys }: ProviderValues): boolean => signingKeys.length > 0;
const hasEncryptionKey = ({ encryptionKey }: ProviderValues): boolean => encryptionKey !== undefined;

// A provider that is given transient names is not to know who comes.
function releaseWhenUndecided(formats: readonly NameIdFormat[]): ProviderValues['attributeMap'] {
  return plainDefault(formats) === nameIdFormatUris.transient ? {} : defaultRelease;
}

const sentence = (field: string, text: string): KindFault => ({ field, text, is: 'sentence' });

/** What is wrong with values together. A key that goes never turns its use off silently. */
export function providerFault(values: ProviderValues): KindFault | undefined {
  const { requireSignedRequests, encryptAssertions, nameIdFormats, nameIdSources } = values;
  if (requireSignedRequests && !hasSigningKeys(values))
    return sentence('require_signed_requests', 'Signed requests need an RSA key in signing_keys.');
  if (encryptAssertions && !hasEncryptionKey(values))
    return sentence('encrypt_assertions', 'Encryption needs an RSA key in encryption_key.');
  const fault = nameIdFault(nameIdFormats, nameIdSources, hasEncryptionKey(values));
  return fault && sentence(fault.field, fault.text);
}

/** What is wrong with them in this tenant; attributes it names already may have gone since. */
function tenantFault(
  { attributeMap, mappings, nameIdSources }: ProviderValues,
  context: Context<typeof serviceProviderFields>,
): KindFault | undefined {
  const { tenant, before } = context;
  const named = Object.keys(attributeMap).filter((path) => before?.attributeMap[path] === undefined);
  const unknown = unknownCustomPath(tenant.customAttributes, named);
  if (unknown !== undefined) return sentence('attribute_map', unknown);
  const nobody = Object.values(nameIdSources).find(
    (path) => isCustomPath(path) && nameIdAttribute(tenant.customAttributes, path) === undefined,
  );
  const text = `"${nobody}" names nobody: it is no attribute of one value that administrators or provisioning write.`;
  return unknownAttributeFault('saml', mappings, context) ?? (nobody === undefined ? undefined : sentence('name_id_sources', text));
}

// Text that an XML attribute carries unchanged: no control characters, and no white space at the ends.
function xmlFault(value: string): string | undefined {
  const fits = isXmlText(value) && !/[\t\n\r]/.test(value) && value.trim() === value;
  return fits ? undefined : 'Control characters and white space at the ends are not allowed.';
}

type GivenAcs = Readonly<Partial<AssertionConsumerService>>;

function acsFault(given: readonly GivenAcs[]): string | undefined {
  const fault = firstFault(given, consumerServiceFault);
  if (fault !== undefined) return fault;
  if (given.filter((item) => item.default === true).length > 1) return 'At most one entry is the default.';
  const acs = readAcs(given);
  return new Set(acs.map(({ index }) => index)).size < acs.length ? 'An index stands twice.' : undefined;
}

function consumerServiceFault(given: GivenAcs): string | undefined {
  const unknown = Object.keys(given).find((key) => !['url', 'index', 'default'].includes(key));
  if (unknown !== undefined) return notKnown(unknown);
  if (given.default !== undefined && typeof given.default !== 'boolean') return 'true or false is required.';
  const { index } = given;
  if (index !== undefined && !(Number.isInteger(index) && index >= 0 && index <= samlAcsIndexMax))
    return `An index is a whole number from 0 to ${samlAcsIndexMax}.`;
  return shapeFault(text(urlCharsMax).shape, given.url) ?? xmlFault(given.url!) ?? acsUrlFault(given.url!);
}

/** https, or http on loopback: an answer in plain text on a network is an answer to everybody. */
export function acsUrlFault(url: string): string | undefined {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  const isLoopback = parsed?.protocol === 'http:' && ['localhost', '127.0.0.1', '[::1]'].includes(parsed.hostname);
  if (parsed === undefined || (parsed.protocol !== 'https:' && !isLoopback)) return 'Each url is https, or http on loopback.';
  const isBare = parsed.username === '' && parsed.password === '' && !url.includes('#') && !/\s/u.test(url);
  return isBare ? undefined : 'A url has no user, fragment or white space.';
}

function metadataUrlFault(url: string): string | undefined {
  return calledUriFault(url) === undefined ? undefined : 'An https URL without fragment and credentials is required.';
}

/** Entries without an index are given the next free one; the first is the default when none is marked. */
function readAcs(json: unknown): readonly AssertionConsumerService[] {
  const given = json as readonly GivenAcs[]; // checked by acsFault
  const taken = new Set(given.map(({ index }) => index));
  const nextIndex = (): number => {
    let index = 0;
    while (taken.has(index)) index += 1;
    taken.add(index);
    return index;
  };
  const marked = given.findIndex((item) => item.default === true);
  return given.map(({ url, index }, at) => ({ url: url!, index: index ?? nextIndex(), default: at === Math.max(marked, 0) }));
}

function keysFault(keys: readonly unknown[]): string | undefined {
  return firstFault(keys, keyFault);
}

function keyFault(key: unknown): string | undefined {
  if (typeof key !== 'string' || key.length > samlKeyPemCharsMax) return 'A PEM certificate or public key is required.';
  const reading = readRsaPublicKey(key);
  return reading.ok ? undefined : keyTexts[reading.reason];
}

const keyTexts = {
  not_a_key: 'This is not one PEM certificate or public key.',
  not_rsa: 'The key is not RSA.',
  modulus_too_small: 'RSA keys have 2048 bits or more.',
  modulus_too_large: 'RSA keys have at most 8192 bits.',
  exponent_too_small: 'The RSA exponent is 65537 or more.',
} as const;

const algorithms = choice(['aes256-gcm', 'aes128-gcm', 'aes256-cbc']).shape;
const keyTransports = choice(['rsa-oaep-mgf1p', 'rsa-oaep-sha256']).shape;

function encryptionFault(given: object): string | undefined {
  const { algorithm, key_transport: keyTransport, ...others } = given as Json; // an object, by its shape
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) return notKnown(unknown);
  const fault = algorithm === undefined ? undefined : shapeFault(algorithms, algorithm);
  return fault ?? (keyTransport === undefined ? undefined : shapeFault(keyTransports, keyTransport));
}

function readEncryption(json: unknown, before: AssertionEncryption = { algorithm: 'aes256-gcm', keyTransport: 'rsa-oaep-mgf1p' }) {
  const { algorithm = before.algorithm, key_transport: keyTransport = before.keyTransport } = json as Json;
  return { algorithm, keyTransport } as AssertionEncryption; // checked by encryptionFault
}

function formatsFault(given: readonly string[]): string | undefined {
  return new Set(given).size < given.length ? 'A format stands twice.' : undefined;
}

function relayStatesFault(states: readonly unknown[]): string | undefined {
  const fits = (state: unknown): boolean =>
    typeof state === 'string' &&
    state !== '' &&
    Buffer.byteLength(state) <= samlRelayStateBytesMax &&
    !state.includes('\0') &&
    state.isWellFormed();
  return states.every(fits) ? undefined : `Each is a text of 1 to ${samlRelayStateBytesMax} bytes.`;
}

function mappingsFault(rules: readonly unknown[]): string | undefined {
  const fault = rulesFault('saml', rules);
  return fault && `A mistake in ${fault}.`;
}

function organizationFault(id: string): string | undefined {
  return readsAsId(id) ? undefined : 'The id of an organisation is required.';
}

function attributeMapFault(given: object): string | undefined {
  const entries = Object.entries(given);
  const name = text(samlAttributeNameCharsMax).shape;
  const fault = firstFault(entries, ([path, value]) =>
    released.includes(path) || isCustomPath(path)
      ? (shapeFault(name, value) ?? xmlFault(value))
      : `"${path.slice(0, 50)}" is no user field. Known: ${released.join(', ')}, custom.<name>.`,
  );
  if (fault !== undefined) return fault;
  return new Set(entries.map(([, value]) => value)).size < entries.length ? 'Two fields have the same attribute name.' : undefined;
}

/** The consumer service answers go to when a request names none. */
export function defaultAcs(provider: ServiceProvider): AssertionConsumerService {
  const found = provider.acs.find((acs) => acs.default) ?? provider.acs[0];
  if (found === undefined) throw new Error(`service provider ${provider.id} has no assertion consumer service`);
  return found;
}
