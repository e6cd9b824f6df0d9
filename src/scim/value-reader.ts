// Turns JSON values from request bodies into typed leaf values and elements, or refuses them as invalidValue.
// null, "", [] and {} are absent (RFC 7643 section 2.5). Keys of the result come from the schema table only.
import { emailCharsMax } from '../contract/limits.ts';
import { isXmlText } from '../crypto/xml/characters.ts';
import { foldKey } from '../domain/fold.ts';
import type { Attribute } from './attribute.ts';
import { type DraftElement, type Element, emptyElement, type Scalar } from './document.ts';
import { invalidValue } from './refuse.ts';
import { findSubAttribute, type Plural } from './schema-lookup.ts';
import { binaryLengthMax, elementsMax, indexedBytesMax, stringLengthMax } from './scim-limits.ts';

/** A JSON object as parsed; only own keys are ever looked at. */
export type JsonObject = Readonly<Record<string, unknown>>;

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Reads the value of a leaf; undefined when it is absent. */
export function readScalar(attribute: Attribute, value: unknown): Scalar | undefined {
  if (value === null || value === undefined) return undefined;
  if (attribute.type === 'boolean') return readBoolean(attribute, value);
  if (typeof value !== 'string') throw invalidValue(`${attribute.name} must be a string.`);
  if (value === '') return undefined;
  checkText(attribute, value);
  return value;
}

function readBoolean(attribute: Attribute, value: unknown): boolean | undefined {
  if (typeof value === 'boolean') return value;
  const word = typeof value === 'string' ? value.toLowerCase() : undefined;
  if (word === '') return undefined;
  if (word === 'true' || word === 'false') return word === 'true';
  throw invalidValue(`${attribute.name} must be true or false.`);
}

function checkText(attribute: Attribute, value: string): void {
  const max = attribute.type === 'binary' ? binaryLengthMax : stringLengthMax;
  if (value.length > max) throw invalidValue(`${attribute.name} is longer than ${max} characters.`);
  // Beyond what databases refuse: characters no SAML assertion could carry.
  if (!isXmlText(value)) throw invalidValue(`${attribute.name} is not valid text.`);
  if (attribute.type === 'binary') return;
  if (Buffer.byteLength(attribute.caseExact ? value : foldKey(value)) > indexedBytesMax) {
    throw invalidValue(`${attribute.name} is longer than ${indexedBytesMax} bytes.`);
  }
}

/** Reads the elements of a multi-valued attribute; a single object counts as a list of one. */
export function readElements(plural: Plural, value: unknown): readonly Element[] {
  if (value === null || value === undefined) return [];
  const list = isJsonObject(value) ? [value] : value;
  const { name } = plural.attribute;
  if (!Array.isArray(list)) throw invalidValue(`${name} must be a list.`);
  const elements: Element[] = [];
  for (const item of list) {
    if (item === null) continue;
    if (!isJsonObject(item)) throw invalidValue(`Each of ${name} must be an object.`);
    const element = readElement(plural.attribute, item);
    if (Object.keys(element).length > 0) elements.push(element);
  }
  return elements;
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

/** Checks what every multi-valued attribute of a user must keep: few elements, at most one primary, values where required. */
export function checkElements(plural: Plural, elements: readonly Element[]): void {
  const { name } = plural.attribute;
  if (elements.length > elementsMax) throw invalidValue(`${name} has more than ${elementsMax} values.`);
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
