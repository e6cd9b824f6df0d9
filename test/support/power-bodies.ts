// Bodies made from a JSON schema towards somebody's advantage: each property by itself, with values that turn on and off, bound, redirect
// and rename.
import type { Json } from './management.ts';

interface Schema {
  readonly type?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: unknown;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly minimum?: number;
  readonly maximum?: number;
}

const address = 'https://evil.example/there';
const isAddress = /ur[il]s?$|issuer|identifier|endpoint|acs$|hosts$|domains?$/;

/** Values of one property. */
function valuesOf(name: string, schema: Schema): readonly unknown[] {
  if (schema.anyOf !== undefined) return schema.anyOf.flatMap((one) => valuesOf(name, one));
  if (schema.const !== undefined) return [schema.const];
  if (schema.enum !== undefined) return schema.enum;
  switch (schema.type) {
    case 'boolean':
      return [false, true];
    case 'null':
      return [null];
    case 'integer':
    case 'number':
      return [schema.minimum, schema.maximum].filter((bound) => bound !== undefined);
    case 'string':
      return [isAddress.test(name) ? address : /mail|value$|^to$/.test(name) ? 'evil@evil.example' : 'evil'];
    case 'array':
      return [[], ...valuesOf(name, schema.items ?? {}).map((value) => [value])];
    case 'object':
      return objectsOf(schema);
    default:
      return [];
  }
}

/** Objects of a schema: what is required, and each other property beside it. */
function objectsOf({ properties = {}, required = [], additionalProperties }: Schema): readonly Json[] {
  const first = (name: string): unknown => valuesOf(name, properties[name] ?? {})[0];
  const base = Object.fromEntries(required.map((name) => [name, first(name)]));
  const each = Object.entries(properties).flatMap(([name, schema]) => valuesOf(name, schema).map((value) => ({ ...base, [name]: value })));
  if (each.length > 0) return each;
  return typeof additionalProperties === 'object' ? [{ evil: 'evil' }] : [{}];
}

/** Every property of a body by itself, laid over what the body must have. */
export const bodiesOf = (schema: unknown, base: Json = {}): readonly Json[] =>
  Object.entries((schema as Schema | undefined)?.properties ?? {}).flatMap(([name, property]) =>
    valuesOf(name, property).map((value) => ({ ...base, [name]: value })),
  );
