// Parameters of OAuth requests: a form body or a query, parsed once into a readonly value. Called by every OIDC endpoint,
// which turns a failure into its own row. Nothing here knows what a parameter means.

import type { FastifyRequest } from 'fastify';
import { parameterCharsMax, parametersMax } from '../contract/limits.ts';

export interface RequestParameters {
  /** The value; undefined when the parameter is absent or empty (RFC 6749 3.1: sent without a value counts as omitted). */
  get(name: string): string | undefined;
  /** Every value that is not empty, for parameters that may repeat (RFC 8707 2). */
  getAll(name: string): readonly string[];
  /** True when the parameter was sent, even without a value. */
  has(name: string): boolean;
  /** Names in the order they were sent. */
  names(): readonly string[];
}

type ParametersFailure = 'repeated_parameter' | 'malformed_encoding' | 'too_many_parameters' | 'parameter_too_long';

export type ParsedParameters =
  | { readonly ok: true; readonly parameters: RequestParameters }
  /** `parameter` is the offending name, when it could be read. */
  | { readonly ok: false; readonly reason: ParametersFailure; readonly parameter: string | undefined };

/** What a client may read about a failure, for rows that take text. */
export const parametersFailureText: Readonly<Record<ParametersFailure, string>> = {
  repeated_parameter: 'A parameter is repeated.',
  malformed_encoding: 'A parameter is not correctly encoded.',
  too_many_parameters: 'There are too many parameters.',
  parameter_too_long: 'A parameter is too long.',
};

const repeatable: ReadonlySet<string> = new Set(['resource', 'audience']);

/** The form body of a POST; no body is no parameters. Other content types never get here: the surface answers 415. */
export function parseForm(request: FastifyRequest): ParsedParameters {
  return parseParameters(typeof request.body === 'string' ? request.body : '');
}

/** The query of the request target. */
export function parseQuery(request: FastifyRequest): ParsedParameters {
  const target = request.url;
  const start = target.indexOf('?');
  return parseParameters(start === -1 ? '' : target.slice(start + 1));
}

/** Parses application/x-www-form-urlencoded text: UTF-8, no parameter twice but those that may repeat, within the limits. */
export function parseParameters(text: string): ParsedParameters {
  const values = new Map<string, string | readonly string[]>();
  const decode = mayBeEncoded.test(text) ? decodeFormText : asItIs;
  let count = 0;
  for (let start = 0; start < text.length; ) {
    const ampersand = text.indexOf('&', start);
    const end = ampersand === -1 ? text.length : ampersand;
    const pair = text.slice(start, end);
    start = end + 1;
    if (pair === '') continue;
    count += 1;
    if (count > parametersMax) return { ok: false, reason: 'too_many_parameters', parameter: undefined };
    const equals = pair.indexOf('=');
    const name = decode(equals === -1 ? pair : pair.slice(0, equals));
    if (name === undefined) return { ok: false, reason: 'malformed_encoding', parameter: undefined };
    if (name.length > parameterCharsMax) return { ok: false, reason: 'parameter_too_long', parameter: undefined };
    const value = equals === -1 ? '' : decode(pair.slice(equals + 1));
    if (value === undefined) return { ok: false, reason: 'malformed_encoding', parameter: name };
    if (value.length > parameterCharsMax) return { ok: false, reason: 'parameter_too_long', parameter: name };
    const before = values.get(name);
    if (before === undefined) values.set(name, value);
    else if (!repeatable.has(name)) return { ok: false, reason: 'repeated_parameter', parameter: name };
    else values.set(name, typeof before === 'string' ? [before, value] : [...before, value]);
  }
  return { ok: true, parameters: new ParameterValues(values) };
}

/** What decoding would change or refuse. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: U+0000 is refused
const mayBeEncoded = /[%+\u0000]/;
const asItIs = (text: string): string | undefined => text;

/** Decodes one name or value of a form; undefined for bad percent-encoding, bytes that are not UTF-8, and U+0000. */
export function decodeFormText(text: string): string | undefined {
  let decoded = text;
  if (text.includes('+')) decoded = decoded.replaceAll('+', ' ');
  if (text.includes('%')) {
    try {
      decoded = decodeURIComponent(decoded);
    } catch {
      return undefined;
    }
  }
  return decoded.includes('\u0000') ? undefined : decoded;
}

class ParameterValues implements RequestParameters {
  readonly #values: ReadonlyMap<string, string | readonly string[]>;

  constructor(values: ReadonlyMap<string, string | readonly string[]>) {
    this.#values = values;
  }

  get(name: string): string | undefined {
    const value = this.#values.get(name);
    if (typeof value === 'string') return value === '' ? undefined : value;
    return value === undefined ? undefined : this.getAll(name)[0];
  }

  getAll(name: string): readonly string[] {
    const value = this.#values.get(name);
    if (value === undefined || value === '') return none;
    return typeof value === 'string' ? [value] : value.filter((item) => item !== '');
  }

  has(name: string): boolean {
    return this.#values.has(name);
  }

  names(): readonly string[] {
    return [...this.#values.keys()];
  }
}

const none: readonly string[] = [];
