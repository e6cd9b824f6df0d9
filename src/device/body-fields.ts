// Reads typed members of a JSON body. A wrong member is `device.invalid_request` with the member's name as kind; unknown
// members are ignored, so that newer phones may send more.
import { reject } from '../contract/contract-error.ts';
import { parseStrictJson } from '../http/strict-json.ts';

export type Fields = Readonly<Record<string, unknown>>;

/** The object of a body; an empty body counts as an empty object. */
export function parseBody(bytes: Uint8Array): Fields {
  if (bytes.byteLength === 0) return {};
  const parsed = parseStrictJson(bytes);
  if (!parsed.ok) throw reject('management.malformed', parsed.reason);
  if (!isObject(parsed.value)) throw reject('management.malformed', 'body_not_an_object');
  return parsed.value;
}

export function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The refusal of one member. */
export function badField(name: string, expected: string): Error {
  return reject(
    'device.invalid_request',
    { reason: 'field', received: name, expected },
    { text: `${name} must be ${expected}.`, kind: name },
  );
}

/** A string of 1 to `charsMax` characters. */
export function requireText(fields: Fields, name: string, charsMax: number): string {
  const value = own(fields, name);
  if (typeof value !== 'string' || value === '' || value.length > charsMax) throw badField(name, `a text of 1 to ${charsMax} characters`);
  return value;
}

/** As requireText, or undefined when the member is absent or null. */
export function optionalText(fields: Fields, name: string, charsMax: number): string | undefined {
  const value = own(fields, name);
  return value === undefined || value === null ? undefined : requireText(fields, name, charsMax);
}

export function requireObject(fields: Fields, name: string): Fields {
  const value = own(fields, name);
  if (!isObject(value)) throw badField(name, 'an object');
  return value;
}

export function requireObjects(fields: Fields, name: string, itemsMax: number): readonly Fields[] {
  const value = own(fields, name);
  if (!Array.isArray(value) || value.length > itemsMax || !value.every(isObject))
    throw badField(name, `a list of at most ${itemsMax} objects`);
  return value;
}

export function requireOneOf<const Choice extends string>(fields: Fields, name: string, choices: readonly Choice[]): Choice {
  const value = own(fields, name);
  const found = choices.find((choice) => choice === value);
  if (found === undefined) throw badField(name, `one of ${choices.join(', ')}`);
  return found;
}

/** A boolean; false when the member is absent. */
export function optionalFlag(fields: Fields, name: string): boolean {
  const value = own(fields, name);
  if (value !== undefined && typeof value !== 'boolean') throw badField(name, 'a boolean');
  return value ?? false;
}

/** The member itself, never an inherited one. */
export function own(fields: Fields, name: string): unknown {
  return Object.hasOwn(fields, name) ? fields[name] : undefined;
}
