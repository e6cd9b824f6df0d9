// Checks an item of a document against the schema of its kind and says what was expected, what stands there, and in which line.
import type { TSchema } from 'typebox';
import { isXmlText } from '../../domain/saml/xml-text.ts';
import { type Declared, faultAt, type Path } from './document.ts';

interface Fault {
  readonly keyword: string;
  readonly instancePath: string;
  readonly params: unknown;
  readonly message: string;
}
interface Validator {
  readonly Check: (value: unknown) => boolean;
  readonly Errors: (value: unknown) => Iterable<Fault>;
}
export type ShapeCheck = (declared: Declared) => void;

/**
 * Compiles a schema; the check throws a DeclarationFault, which does not show what stands at one of the `secrets`, by their dotted names. TypeBox is
 * loaded here because most commands need none of it.
 */
export async function createShapeCheck(schema: TSchema, secrets: readonly string[] = []): Promise<ShapeCheck> {
  const { Compile } = await import('typebox/compile');
  const validator: Validator = Compile(schema);
  const members = Object.keys((schema as { properties?: object }).properties ?? {});
  const shown = (path: Path, value: unknown): unknown => (isSecret(secrets, path) && value !== undefined ? 'a secret' : value);
  return (declared) => {
    requireText(declared, declared.value, [], shown);
    if (!validator.Check(declared.value)) throw firstFault(declared, [...validator.Errors(declared.value)], members, shown);
  };
}

/** What a fault shows of a value. */
type Shown = (path: Path, value: unknown) => unknown;

/** Also of what would hold one: where it is no object, it may be the secret itself. */
function isSecret(secrets: readonly string[], path: Path): boolean {
  const name = path.join('.');
  return name !== '' && secrets.some((one) => one === name || one.startsWith(`${name}.`) || name.startsWith(`${one}.`));
}

// Text that PostgreSQL and SAML cannot carry is refused wherever it would be stored.
function requireText(declared: Declared, value: unknown, path: Path, shown: Shown): void {
  if (typeof value === 'string') {
    if (!isXmlText(value)) throw faultAt(declared, path, 'text without control characters and lone surrogates', shown(path, value));
  } else if (Array.isArray(value)) for (const [index, member] of value.entries()) requireText(declared, member, [...path, index], shown);
  else if (typeof value === 'object' && value !== null)
    for (const [name, member] of Object.entries(value)) requireText(declared, member, [...path, name], shown);
}

function firstFault(declared: Declared, faults: readonly Fault[], members: readonly string[], shown: Shown): Error {
  const fault =
    faults.find((candidate) => candidate.keyword === 'additionalProperties') ??
    faults.find((candidate) => candidate.keyword === 'required') ??
    faults.find((candidate) => candidate.keyword !== 'boolean') ??
    faults[0]!;
  const path = pathOf(declared.value, fault.instancePath);
  const { requiredProperties: missing, additionalProperties: unknown } = fault.params as {
    requiredProperties?: readonly string[];
    additionalProperties?: readonly string[];
  };
  if (unknown?.[0] !== undefined) {
    const known = path.length === 0 && members.length > 0 ? `one of ${members.join(', ')}` : 'no field of this name';
    return faultAt(declared, [...path, unknown[0]], known, unknown[0]);
  }
  if (missing?.[0] !== undefined) return faultAt(declared, [...path, missing[0]], 'a value', undefined);
  return faultAt(declared, path, expectedOf(faults, fault), shown(path, valueAt(declared.value, path)));
}

function pathOf(value: unknown, pointer: string): Path {
  const parts = pointer
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
  return parts.map((part, at) => (Array.isArray(valueAt(value, parts.slice(0, at))) ? Number(part) : part));
}

function valueAt(value: unknown, path: Path): unknown {
  return path.reduce<unknown>(
    (at, part) => (typeof at === 'object' && at !== null ? (at as Readonly<Record<string | number, unknown>>)[part] : undefined),
    value,
  );
}

function expectedOf(faults: readonly Fault[], fault: Fault): string {
  const here = faults.filter((candidate) => candidate.instancePath === fault.instancePath);
  const allowed = here.flatMap((candidate) => (candidate.params as { allowedValues?: readonly unknown[] }).allowedValues ?? []);
  if (allowed.length > 0) return `one of ${allowed.join(', ')}`;
  const types = here.flatMap((candidate) => (candidate.params as { type?: string | readonly string[] }).type ?? []);
  // A text that may be absent and is too long is told of its length, not that it is no null.
  if (types.some((type) => type !== 'null')) return `a value of type ${[...new Set(types)].join(' or ')}`;
  const told = here.find(({ keyword }) => keyword !== 'anyOf' && keyword !== 'type') ?? fault;
  return told.keyword === 'pattern' ? `text of the form ${(told.params as { pattern?: unknown }).pattern}` : `a value that ${told.message}`;
}
