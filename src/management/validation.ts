// Checks queries and bodies against the schemas of an endpoint. TypeBox's compiler is loaded at the first request, because
// it takes longer to load than a server may take to start; each schema is compiled once per process.
import type { TSchema } from 'typebox';
import type { ContractError } from '../contract/contract-error.ts';
import { isXmlText } from '../domain/saml/xml-text.ts';
import { invalidField, type Json } from './endpoint.ts';

type Compiler = typeof import('typebox/compile');
interface Validator {
  readonly Check: (value: unknown) => boolean;
  readonly Errors: (
    value: unknown,
  ) => Iterable<{ readonly keyword: string; readonly instancePath: string; readonly params: unknown; readonly message: string }>;
}

const fieldCharsMax = 100;
const validators = new WeakMap<TSchema, Validator>();
let compiler: Compiler | undefined;

async function validatorOf(schema: TSchema): Promise<Validator> {
  const known = validators.get(schema);
  if (known !== undefined) return known;
  compiler ??= await import('typebox/compile');
  const compiled: Validator = compiler.Compile(schema);
  validators.set(schema, compiled);
  return compiled;
}

/** Gives the refusal of a JSON body that does not have the schema's shape. */
export async function checkBody(schema: TSchema, body: unknown): Promise<ContractError | undefined> {
  const unfit = fieldOfUnfitText(body, '');
  if (unfit !== undefined) return invalidField(shown(unfit) || 'body', 'Control characters and lone surrogates are not allowed.');
  const validator = await validatorOf(schema);
  if (validator.Check(body)) return undefined;
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return invalidField('body', 'Expected a JSON object.');
  return faultOf(validator, body);
}

// Text neither PostgreSQL nor a SAML assertion can carry is refused wherever it would be stored. Names the field by its
// path, up to the first list.
function fieldOfUnfitText(value: unknown, path: string): string | undefined {
  if (typeof value === 'string') return isXmlText(value) ? undefined : path;
  if (Array.isArray(value)) return value.some((item) => fieldOfUnfitText(item, path) !== undefined) ? path : undefined;
  if (typeof value !== 'object' || value === null) return undefined;
  for (const [key, member] of Object.entries(value)) {
    const unfit = fieldOfUnfitText(member, path === '' ? key : `${path}.${key}`);
    if (unfit !== undefined) return unfit;
  }
  return undefined;
}

/** Reads a query string by its schema: integers, true and false are decoded, repeated and unknown parameters refused. */
export async function readQuery(schema: TSchema | undefined, query: Json): Promise<{ readonly value: Json } | ContractError> {
  const properties = (schema as { properties?: Record<string, { type?: string }> } | undefined)?.properties ?? {};
  const value: Record<string, unknown> = {};
  for (const [name, text] of Object.entries(query)) {
    if (!Object.hasOwn(properties, name)) return invalidField(shown(name), 'This parameter is not known here.');
    if (typeof text !== 'string') return invalidField(name, 'This parameter may be given once.');
    value[name] = decoded(text, properties[name]?.type);
  }
  if (schema === undefined) return { value };
  const validator = await validatorOf(schema);
  return validator.Check(value) ? { value } : faultOf(validator, value);
}

function decoded(text: string, type: string | undefined): unknown {
  if (type === 'integer' && /^-?\d{1,12}$/.test(text)) return Number(text);
  return type === 'boolean' && (text === 'true' || text === 'false') ? text === 'true' : text;
}

/** The first fault, told by its field: a path of names, up to the first list. */
function faultOf(validator: Validator, value: unknown): ContractError {
  const faults = [...validator.Errors(value)];
  const unexpected = faults.find((fault) => fault.keyword === 'additionalProperties');
  const fault = unexpected ?? faults.find((candidate) => candidate.keyword !== 'boolean') ?? faults[0]!;
  const path = fault.instancePath
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
  const list = path.findIndex((part) => /^\d+$/.test(part));
  const { requiredProperties: missing, additionalProperties: unknown } = fault.params as {
    requiredProperties?: readonly string[];
    additionalProperties?: readonly string[];
  };
  const named = list >= 0 ? path.slice(0, list) : [...path, ...(unknown ?? missing ?? []).slice(0, 1)];
  const field = shown(named.join('.')) || 'body';
  if (unknown !== undefined && list < 0) return invalidField(field, 'This field is not known here.');
  if (missing !== undefined && list < 0) return invalidField(field, 'This field is required.');
  return invalidField(field, `This field ${textOf(faults, fault.instancePath)}.`);
}

/** What the schema wanted at that place, in one sentence of ours. */
function textOf(
  faults: readonly { readonly keyword: string; readonly instancePath: string; readonly params: unknown; readonly message: string }[],
  at: string,
): string {
  const here = faults.filter((fault) => fault.instancePath === at);
  const allowed = here.flatMap((fault) => {
    const { allowedValue, allowedValues } = fault.params as { allowedValue?: unknown; allowedValues?: readonly unknown[] };
    return allowedValues ?? (allowedValue === undefined ? [] : [allowedValue]);
  });
  if (allowed.length > 0) return `must be one of ${allowed.join(', ')}`;
  const told = here.find((fault) => fault.keyword !== 'anyOf' && fault.keyword !== 'pattern');
  return (
    told?.message ??
    (here.some((fault) => fault.keyword === 'pattern') ? 'does not have the expected form' : 'does not have the expected type')
  );
}

function shown(name: string): string {
  return name.replace(/[^\x20-\x7e]/g, '?').slice(0, fieldCharsMax);
}
