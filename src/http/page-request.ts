// What the pages of people read of a request: whether JSON is wanted, where a post comes from, and the fields of a form or of JSON.
import type { FastifyRequest } from 'fastify';
import { reject } from '../contract/contract-error.ts';
import { parametersMax } from '../contract/limits.ts';
import { prefersHtml, prefersJson } from '../platform/accept.ts';
import { parseStrictJson } from './strict-json.ts';

/** JSON when asked for, or when JSON was sent and no page was asked for; else pages and redirects. */
export function wantsJson(request: FastifyRequest): boolean {
  const { accept, 'content-type': contentType } = request.headers;
  return prefersJson(accept) || (!prefersHtml(accept) && contentType?.startsWith('application/json') === true);
}

/** @throws login.forbidden when a post says it comes from elsewhere */
export function refuseForeignOrigin(request: FastifyRequest): void {
  const { origin } = request.headers;
  const own = new URL(request.tenant.baseUrl).origin;
  if (origin !== undefined && origin !== own)
    throw reject('login.forbidden', { reason: 'foreign_origin', received: origin, expected: own });
}

/** The one text field a step takes, from JSON or form. Absent fields and empty bodies give undefined. */
export function readField(request: FastifyRequest, name: string, charsMax: number): string {
  const value = fieldsOf(request).get(name);
  if (value === undefined || value === '') throw badField(name, 'required');
  if (value.length > charsMax) throw badField(name, 'too_long', `at most ${charsMax} characters`);
  return value;
}

/** The same for a field that may be absent or empty. */
export function readOptionalField(request: FastifyRequest, name: string, charsMax: number): string | undefined {
  const value = fieldsOf(request).get(name);
  return value === undefined || value === '' ? undefined : readField(request, name, charsMax);
}

/** A ticked box: browsers send `on`. */
const tickCharsMax = 10;

export const isTicked = (request: FastifyRequest, name: string): boolean => readOptionalField(request, name, tickCharsMax) !== undefined;

/** The one object a step takes: a member of the JSON body, or the same as JSON text in a form field. Undefined for neither. */
export function readObjectField(request: FastifyRequest, name: string): unknown {
  const { body } = request;
  const isForm = typeof body === 'string';
  const value: unknown = isForm ? formFields(body).get(name) : jsonMembers((body as Buffer | null) ?? Buffer.alloc(0)).get(name); // as fieldsOf
  if (value === undefined || value === '') throw badField(name, 'required');
  if (!isForm) return value;
  const parsed = parseStrictJson(Buffer.from(String(value)));
  return parsed.ok ? parsed.value : undefined;
}

export function badField(name: string, reason: string, expected = 'a value'): Error {
  return reject('login.invalid_request', { reason: `${name}_${reason}`, expected }, { kind: name, text: `${name}: expected ${expected}.` });
}

function fieldsOf(request: FastifyRequest): ReadonlyMap<string, string> {
  const { body } = request;
  if (body === undefined || body === null) return new Map();
  return typeof body === 'string' ? formFields(body) : jsonFields(body as Buffer); // the surface reads forms as text, JSON as bytes
}

function jsonFields(body: Buffer): ReadonlyMap<string, string> {
  const fields = new Map<string, string>();
  for (const [name, value] of jsonMembers(body)) {
    if (typeof value === 'string') fields.set(name, value);
    else throw badField(name, 'not_text', 'text');
  }
  return fields;
}

function jsonMembers(body: Buffer): ReadonlyMap<string, unknown> {
  if (body.length === 0) return new Map();
  const parsed = parseStrictJson(body);
  if (!parsed.ok) throw reject('management.malformed', parsed.reason);
  if (typeof parsed.value !== 'object' || parsed.value === null || Array.isArray(parsed.value))
    throw reject('management.malformed', 'not_an_object');
  return new Map(Object.entries(parsed.value));
}

function formFields(body: string): ReadonlyMap<string, string> {
  const fields = new Map<string, string>();
  const pairs = body === '' ? [] : body.split('&');
  if (pairs.length > parametersMax) throw reject('management.malformed', 'too_many_parameters');
  for (const pair of pairs) {
    const at = pair.indexOf('=');
    const name = decodeComponent(at === -1 ? pair : pair.slice(0, at));
    if (fields.has(name)) throw reject('management.malformed', { reason: 'repeated_parameter', received: name });
    fields.set(name, decodeComponent(at === -1 ? '' : pair.slice(at + 1)));
  }
  return fields;
}

function decodeComponent(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    throw reject('management.malformed', 'percent_encoding');
  }
}
