// The attributes a tenant adds to its people (design 10, section 2; design 16, section 1): their definitions as a table of fields,
// what a value must be, how a change is laid over the values before, and the keys that find them. Every surface reads the tenant's
// own list, which is part of the tenant. Pure.
import {
  customAllowedValuesMax,
  customAttributesPerTenantMax,
  customBytesPerUserMax,
  customClaimCharsMax,
  customKeyBytesMax,
  customValueCharsMax,
  customValuesMax,
  nameCharsMax,
} from '../../contract/limits.ts';
import { parseDateTime } from '../date-time.ts';
import { choice, type FieldFault, field, flag, type Json, list, text, type ValuesOf } from '../field.ts';
import { foldKey } from '../fold.ts';
import { defineKind, type KindFault } from '../kind.ts';
import { isXmlText } from '../saml/xml-text.ts';
import { userAttributes } from './user-attributes.ts';

const identifier = { ...text(40), shape: { type: 'string', pattern: '^[a-z][a-z0-9_]{0,39}$' } };

// biome-ignore format: a field a line or two
export const customAttributeFields = {
  name: field('name', identifier, { required: true, write: 'create', label: 'Name',
    help: 'Lower-case letters, digits and underscores. It never changes.' }),
  type: field('type', choice(['string', 'number', 'boolean', 'date']), { default: 'string', write: 'create', label: 'Type' }),
  list: field('list', flag, { default: false, write: 'create', label: 'A person may have several values' }),
  unique: field('unique', flag, { default: false, write: 'create', label: 'No two people have the same value' }),
  label: field('label', text(nameCharsMax), { label: 'Label', help: 'What forms call it. Empty: its name.' }),
  edit: field('edit', choice(['admin', 'provisioning', 'person']), { default: 'provisioning', label: 'Who writes it',
    help: 'admin: administrators; provisioning: SCIM too; person: also the person, on the account page.' }),
  allowedValues: field('allowed_values', list(text(customValueCharsMax), customAllowedValuesMax), { default: [], label: 'Allowed values',
    help: 'Of texts, one a line. Empty: any.' }),
  claim: field('claim', text(customClaimCharsMax), { label: 'Claim', check: claimFault,
    help: 'The claim of UserInfo that shows it to applications with the scope profile. Empty: none.' }),
} as const;

type Definition = ValuesOf<typeof customAttributeFields>;
export interface CustomAttribute extends Definition {
  readonly id: string;
}

export const customAttributeKind = defineKind({
  noun: 'custom_attribute',
  plural: 'custom_attributes',
  called: 'attribute',
  fields: customAttributeFields,
  key: 'id',
  alias: 'name',
  listedBy: 'name',
  unique: [
    ['name', 'The name is in use.'],
    ['claim', 'The claim is in use.'],
  ],
  atMost: { count: customAttributesPerTenantMax, field: 'name', of: 'attributes' },
  marksDeleted: true,
  timeless: true,
  rules: customAttributeFault,
  power: {
    read: 'settings:read',
    write: 'settings:write',
    // What people write of themselves may be what a NameID is made of before and afterwards: nobody comes to be somebody else by it.
    needs: ({ edit }) => (edit === 'person' ? ['users:write'] : []),
  },
  searched: ({ name, label }) => [name, label],
  told: { created: ({ name, type }) => ({ name, type }), deleted: ({ name }) => ({ name }) },
  defaultsLeftOut: { but: ['type'] },
  summaries: {
    create: 'Add an attribute to the people of the tenant; one that people write themselves needs users:write too',
    list: 'List the attributes of the tenant by name; `search` is a part of a name or label',
    read: 'Read an attribute by its id or name',
    change:
      'Change an attribute; values that people have stay until they are written again. Letting people write it, or no longer, needs users:write too',
    remove: 'Delete an attribute and what people have of it',
  },
  pages: {
    singular: 'Attribute',
    plural: 'Attributes',
    about: 'What you know of people beyond names and addresses: a cost code, a shirt size. Forms, SCIM and applications have it at once.',
    searchHint: 'A part of the name or label',
    title: 'name',
    deletion: 'What people have of it is deleted with it. You can’t undo this.',
  },
});

type Scalar = string | number | boolean;
export type CustomValue = Scalar | readonly Scalar[];
/** The values of a person by the attributes' names. */
export type CustomValues = Readonly<Record<string, CustomValue>>;

/** What a definition says about itself that its single fields cannot. */
function customAttributeFault({ type, allowedValues }: Definition): KindFault | undefined {
  return type !== 'string' && allowedValues.length > 0 ? { field: 'allowed_values', text: 'is for texts' } : undefined;
}

/** Claims that the protocol gives a meaning, beside those of the attribute table. */
const protocolClaims = `iss sub aud exp iat nbf jti auth_time nonce acr amr azp sid at_hash c_hash s_hash scope client_id act may_act cnf events
  token_use name picture updated_at email email_verified phone_number phone_number_verified address groups roles gender birthdate website`;
const takenClaims: ReadonlySet<string> = new Set([
  ...protocolClaims.split(/\s+/),
  ...userAttributes.flatMap(({ claim }) => claim?.[0] ?? []),
]);

function claimFault(name: string): string | undefined {
  if (!/^[\x21-\x7e]+$/.test(name)) return 'is a name without spaces';
  return takenClaims.has(name) ? 'is a claim that has a meaning already' : undefined;
}

/** The name under which maps, mappings and claims know an attribute. */
export const customPath = ({ name }: Pick<CustomAttribute, 'name'>): string => `custom.${name}`;
export const labelOf = ({ name, label }: CustomAttribute): string => label ?? name;

/** Whether a path names an attribute of the form that a tenant can add. */
export const isCustomPath = (path: string): boolean => /^custom\.[a-z][a-z0-9_]{0,39}$/.test(path);

/** The first of these paths that names an attribute the tenant does not have, as a text for people. */
export function unknownCustomPath(attributes: readonly CustomAttribute[], paths: readonly string[]): string | undefined {
  const unknown = paths.find((path) => isCustomPath(path) && !attributes.some((one) => customPath(one) === path));
  return unknown && `"${unknown}" is no attribute of the tenant. Known: ${attributes.map(customPath).join(', ') || 'none'}.`;
}

/** The attribute NameIDs of this path are made of: never one that people write themselves, who could name themselves anybody. */
export const nameIdAttribute = (attributes: readonly CustomAttribute[], path: string): CustomAttribute | undefined =>
  attributes.find((one) => customPath(one) === path && one.edit !== 'person' && !one.list);

interface Type {
  readonly expected: string;
  readonly fits: (value: unknown) => boolean;
  /** Equal for values that are the same, and in their order. */
  readonly key: (value: Scalar) => string;
}

const types: Readonly<Record<CustomAttribute['type'], Type>> = {
  string: { expected: `must be a text of 1 to ${customValueCharsMax} characters`, fits: isText, key: (value) => foldKey(String(value)) },
  number: { expected: 'must be a number', fits: (value) => Number.isFinite(value), key: (value) => orderedKey(Number(value)) },
  boolean: { expected: 'must be true or false', fits: (value) => typeof value === 'boolean', key: (value) => orderedKey(Number(value)) },
  date: {
    expected: 'must be a date or a date and time of RFC 3339',
    fits: (value) => dateMs(value) !== undefined,
    key: (value) => orderedKey(dateMs(value)!),
  },
};

function isText(value: unknown): boolean {
  return typeof value === 'string' && value !== '' && value.length <= customValueCharsMax && isXmlText(value) && fitsIndex(value);
}

const fitsIndex = (value: string): boolean => Buffer.byteLength(foldKey(value)) <= customKeyBytesMax;

/** The instant, in milliseconds since the epoch, of a date (its first moment in UTC) or date-time; undefined when it is neither. */
export function dateMs(value: unknown): number | undefined {
  if (typeof value !== 'string' || !/^\d{4}-\d\d-\d\d(?:T.+(?:Z|[+-]\d\d:\d\d))?$/.test(value)) return undefined;
  const instant = parseDateTime(value.includes('T') ? value : `${value}T00:00:00Z`);
  return instant === undefined ? undefined : Number(instant / 1_000_000n);
}

const sign = 1n << 63n;

/** Text whose order by bytes is that of the numbers: their bits, those of negative ones turned over (IEEE 754). */
export function orderedKey(value: number): string {
  const bytes = Buffer.alloc(8);
  bytes.writeDoubleBE(value + 0); // no negative zero
  const bits = bytes.readBigUInt64BE();
  return ((bits & sign) === 0n ? bits | sign : BigInt.asUintN(64, ~bits)).toString(16).padStart(16, '0');
}

/** The key a value of an attribute is found by. */
export const keyOf = ({ type }: Pick<CustomAttribute, 'type'>, value: Scalar): string => types[type].key(value);

function valueFault(attribute: CustomAttribute, value: unknown): string | undefined {
  const { type, allowedValues } = attribute;
  if (!attribute.list || !Array.isArray(value)) {
    if (attribute.list) return 'must be a list';
    if (!types[type].fits(value)) return types[type].expected;
    const isAllowed = allowedValues.length === 0 || allowedValues.includes(value as string);
    return isAllowed ? undefined : `must be one of ${allowedValues.join(', ')}`;
  }
  if (value.length > customValuesMax) return `must have at most ${customValuesMax} values`;
  return value.map((one) => valueFault({ ...attribute, list: false }, one)).find((fault) => fault !== undefined);
}

export type CustomReading = { readonly ok: true; readonly values: CustomValues } | ({ readonly ok: false } & FieldFault);

/** Lays a change over the values before: null and an empty list remove, what is not named stays. */
export function changeCustom(attributes: readonly CustomAttribute[], before: CustomValues, change: Json): CustomReading {
  const values: Record<string, CustomValue> = { ...before };
  for (const [name, value] of Object.entries(change)) {
    const attribute = attributes.find((one) => one.name === name);
    if (attribute === undefined) return { ok: false, field: `custom.${name}`, text: 'is not known here' };
    delete values[name];
    if (value === null || (Array.isArray(value) && attribute.list && value.length === 0)) continue;
    const fault = valueFault(attribute, value);
    if (fault !== undefined) return { ok: false, field: `custom.${name}`, text: fault };
    values[name] = value as CustomValue; // it fits
  }
  if (Buffer.byteLength(JSON.stringify(values)) > customBytesPerUserMax)
    return { ok: false, field: 'custom', text: `must take at most ${customBytesPerUserMax} bytes together` };
  return { ok: true, values };
}

/** Values as they are stored: by the attributes' ids, so that nothing of a deleted one is ever read again. */
export interface CustomCells {
  readonly cell: string | null;
  readonly keys: readonly { readonly attribute: CustomAttribute; readonly key: string }[];
}

const noCustom: CustomCells = { cell: null, keys: [] };

export function toCustomCells(attributes: readonly CustomAttribute[], values: CustomValues): CustomCells {
  const present = attributes.filter(({ name }) => values[name] !== undefined);
  if (present.length === 0) return noCustom;
  return {
    cell: JSON.stringify(Object.fromEntries(present.map(({ id, name }) => [id, values[name]]))),
    keys: present.flatMap((attribute) =>
      [...new Set([values[attribute.name]!].flat().map((value) => keyOf(attribute, value)))].map((key) => ({ attribute, key })),
    ),
  };
}

/** The values of a stored person, in the order of the definitions. */
export function fromCustomCell(attributes: readonly CustomAttribute[], cell: string | null): CustomValues {
  if (cell === null) return {};
  const stored = JSON.parse(cell) as CustomValues; // of toCustomCells
  return Object.fromEntries(attributes.flatMap(({ id, name }) => (stored[id] === undefined ? [] : [[name, stored[id]]])));
}
