// Turns JSON values from request bodies into typed leaf values and elements, or refuses them as invalidValue.
// null, "", [] and {} are absent (RFC 7643 section 2.5). Keys of the result come from the schema table only.
import { directoryKeyBytesMax, directoryValueCharsMax, directoryValuesMax, emailCharsMax } from '../contract/limits.ts';
import { foldKey } from '../domain/fold.ts';
import { dateMs } from '../domain/people/custom-attributes.ts';
import { isXmlText } from '../domain/saml/xml-text.ts';
import { type DraftElement, type Element, emptyElement, type Scalar } from './document.ts';
import { invalidValue } from './refuse.ts';
import { type Attribute, isPlainList } from './schema/attribute.ts';
import { findSubAttribute, type Plural } from './schema/schema-lookup.ts';
import { binaryLengthMax } from './scim-limits.ts';

/** A JSON object as parsed; only own keys are ever looked at. */
export type JsonObject = Readonly<Record<string, unknown>>;

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Reads the value of a leaf; undefined when it is absent. */
export function readScalar(attribute: Attribute, value: unknown): Scalar | undefined {
  if (value === null || value === undefined) return undefined;
  if (attribute.type === 'boolean') return readBoolean(attribute, value);
  if (attribute.type === 'decimal') {
    if (typeof value === 'number') return value;
    throw invalidValue(`${attribute.name} must be a number.`);
  }
  if (typeof value !== 'string') throw invalidValue(`${attribute.name} must be a string.`);
  if (value === '') return undefined;
  if (attribute.type === 'dateTime') {
    const instant = dateMs(value);
    if (instant === undefined) throw invalidValue(`${attribute.name} must be a date and time.`);
    return instant;
  }
  checkText(attribute, value);
  return value;
}

function readBoolean(attribute: Attribute, value: unknown): boolean {
  if (typeof value === 'boolean') return value;
  const word = typeof value === 'string' ? value.toLowerCase() : undefined;
  if (word === 'true' || word === 'false') return word === 'true';
  throw invalidValue(`${attribute.name} must be true or false.`);
}

/** RFC 7643 2.3.6: either alphabet of RFC 4648, with its padding or without. */
const base64 = /^(?:[\w+/-]{4})*(?:[\w+/-]{2}(?:==)?|[\w+/-]{3}=?)?$/;

function checkText(attribute: Attribute, value: string): void {
  const max = attribute.type === 'binary' ? binaryLengthMax : directoryValueCharsMax;
  if (value.length > max) throw invalidValue(`${attribute.name} is longer than ${max} characters.`);
  // Beyond what databases refuse: characters no SAML assertion could carry.
  if (!isXmlText(value)) throw invalidValue(`${attribute.name} is not valid text.`);
  if (attribute.type === 'binary') {
    if (!base64.test(value)) throw invalidValue(`${attribute.name} is not base64.`);
    return;
  }
  if (Buffer.byteLength(attribute.caseExact ? value : foldKey(value)) > directoryKeyBytesMax) {
    throw invalidValue(`${attribute.name} is longer than ${directoryKeyBytesMax} bytes.`);
  }
}

/** Reads the elements of a multi-valued attribute, few of a user; a single object counts as a list of one. */
export const readElements = (plural: Plural, value: unknown): readonly Element[] => requireFew(plural, elementsIn(plural, value));

/** Refuses more elements than an attribute of a user has; asked before anything compares them with one another. */
export function requireFew(plural: Plural, elements: readonly Element[]): readonly Element[] {
  const { name, elements: table } = plural.attribute;
  if (table !== 'members' && elements.length > directoryValuesMax)
    throw invalidValue(`${name} has more than ${directoryValuesMax} values.`);
  return elements;
}

function elementsIn(plural: Plural, value: unknown): readonly Element[] {
  if (value === null || value === undefined) return [];
  const isPlain = isPlainList(plural.attribute);
  const list = isJsonObject(value) || (isPlain && !Array.isArray(value)) ? [value] : value;
  const { name } = plural.attribute;
  if (!Array.isArray(list)) throw invalidValue(`${name} must be a list.`);
  const isMembers = plural.attribute.elements === 'members';
  const elements: Element[] = [];
  for (const item of list) {
    if (item === null && !isMembers) continue;
    const object = isPlain && !isJsonObject(item) ? { value: item } : item;
    if (!isJsonObject(object)) throw invalidValue(`Each of ${name} must be an object.`);
    const element = readElement(plural.attribute, object);
    // A member that names nobody is a client's mistake, and dropping it would change who is in the group.
    if (isMembers && element['value'] === undefined) throw invalidValue('Each of members needs a value.');
    if (Object.keys(element).length > 0) elements.push(element);
  }
  return elements;
}

/** The elements of a list as it is to be stored: of an email that is there twice, one, the later values winning. */
export function readStoredElements(plural: Plural, value: unknown): readonly Element[] {
  const elements = elementsIn(plural, value);
  return requireFew(plural, plural.attribute.elements === 'emails' ? mergedEmails(elements) : elements);
}

function mergedEmails(elements: readonly Element[]): readonly Element[] {
  const merged = new Map<unknown, Element>();
  for (const element of elements) {
    const { value } = element;
    const key = typeof value === 'string' ? foldKey(value) : element; // without an address it is refused later
    merged.set(key, Object.assign(emptyElement(), merged.get(key), element));
  }
  return [...merged.values()];
}

/** Reads one element; read-only and unknown sub-attributes are left out. */
export function readElement(attribute: Attribute, value: JsonObject): Element {
  const element: DraftElement = emptyElement();
  for (const key of Object.keys(value)) {
    const sub = findSubAttribute(attribute, key);
    if (sub === undefined || sub.mutability === 'readOnly') continue;
    const scalar = readScalar(sub, value[key]);
    if (scalar !== undefined) element[sub.name] = scalar;
  }
  return element;
}

/** Checks what every multi-valued attribute of a user must keep: at most one primary, values where required. */
export function checkElements(plural: Plural, elements: readonly Element[]): void {
  const { name } = plural.attribute;
  if (elements.filter((element) => element['primary'] === true).length > 1) {
    throw invalidValue(`${name} has more than one primary value.`);
  }
  if (name === 'emails') for (const element of elements) checkEmail(element);
}

function checkEmail(element: Element): void {
  const value = element['value'];
  if (typeof value !== 'string') throw invalidValue('Each of emails needs a value.');
  if (value.length > emailCharsMax) throw invalidValue(`An email address is longer than ${emailCharsMax} characters.`);
  if (!/^[^\s@]+@[^\s@]+$/.test(value)) throw invalidValue('An email address is malformed.');
}
