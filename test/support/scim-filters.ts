// Random SCIM filters and values for the fuzz test: every attribute the schema table can filter, every operator that applies,
// texts chosen to break folding, LIKE, quoting and code point order.
import fc from 'fast-check';
import type { Attribute } from '../../src/scim/schema/attribute.ts';
import type { TypeIndex } from '../../src/scim/schema/schema-lookup.ts';
import { customSchema } from './scim.ts';

const pieces = [
  'a',
  'A',
  'ab',
  'abc',
  'B',
  'ß',
  'SS',
  'ſ',
  'é',
  'e\u0301',
  'ﬁ',
  'fi',
  'İ',
  'i',
  'Σ',
  'ς',
  '%',
  '_',
  '\\',
  '"',
  "'",
  '*',
  '{',
  ' ',
  '-',
  '名',
  '前',
  '😀',
  '\ufffd',
  '\u{10ffff}',
  '𐐀',
  '\ue000',
  '\ud7ff',
  '0',
  '9',
];

/** Texts short enough to meet each other. */
export const textArbitrary = fc.array(fc.constantFrom(...pieces), { minLength: 1, maxLength: 5 }).map((parts) => parts.join(''));

export interface FilterPools {
  /** Instants in milliseconds that occur in the data. */
  readonly instants: readonly number[];
  /** Texts that occur in the data, of which parts are searched. */
  readonly texts: readonly string[];
}

/** Filters over one resource type. */
export function filterArbitrary(index: TypeIndex, pools: FilterPools): fc.Arbitrary<string> {
  const leaves = index.leaves.filter((leaf) => leaf.attribute.column !== undefined);
  const plurals = index.plurals.filter((plural) => plural.attribute.elements !== 'schemas');
  const pathOf = (key: string, urn: string, prefix: string): string => (prefix === '' ? key : `${urn}:${key.slice(prefix.length)}`);
  const leafTest = fc
    .constantFrom(...leaves)
    .chain((leaf) => test(pathOf(leaf.key, leaf.schema.id, leaf.schema.keyPrefix), leaf.attribute, pools));
  const subTest = fc.constantFrom(...plurals).chain((plural) => {
    const subs = plural.attribute.subAttributes.filter((sub) => sub.column !== undefined);
    const name = plural.key.startsWith('custom.') ? `${customSchema}:${plural.key.slice('custom.'.length)}` : plural.key;
    const one = fc.constantFrom(...subs).chain((sub) => test(`${name}.${sub.name}`, sub, pools));
    const inside = combined(fc.constantFrom(...subs).chain((sub) => test(sub.name, sub, pools)));
    const bracket = inside.map((text) => `${name}[${text}]`);
    const after = fc.tuple(bracket, fc.constantFrom(...subs)).chain(([head, sub]) => test(`${head}.${sub.name}`, sub, pools));
    return fc.oneof(one, bracket, after, fc.constant(`${name} pr`));
  });
  const schemas = fc
    .constantFrom(...index.schemas.map((schema) => schema.id), 'urn:x')
    .chain((urn) => fc.constantFrom('eq', 'ne', 'co', 'sw').map((operator) => `schemas ${operator} "${urn}"`));
  return combined(fc.oneof({ weight: 5, arbitrary: leafTest }, { weight: 4, arbitrary: subTest }, { weight: 1, arbitrary: schemas }));
}

function combined(atom: fc.Arbitrary<string>): fc.Arbitrary<string> {
  return fc.letrec<{ filter: string }>((tie) => ({
    filter: fc.oneof(
      { maxDepth: 4, depthSize: 'small' },
      atom,
      fc.tuple(tie('filter'), fc.constantFrom('and', 'or', 'AND', 'Or'), tie('filter')).map(([a, word, b]) => `(${a}) ${word} (${b})`),
      tie('filter').map((inner) => `not (${inner})`),
    ),
  })).filter;
}

const ordering = ['eq', 'ne', 'gt', 'ge', 'lt', 'le'];

function test(path: string, attribute: Attribute, pools: FilterPools): fc.Arbitrary<string> {
  const always = fc.constantFrom(`${path} pr`, `${path} eq null`, `${path} ne null`);
  const compared = operators(attribute).chain((operator) => value(attribute, pools).map((literal) => `${path} ${operator} ${literal}`));
  return fc.oneof({ weight: 1, arbitrary: always }, { weight: 5, arbitrary: compared });
}

function operators(attribute: Attribute): fc.Arbitrary<string> {
  if (attribute.type === 'boolean' || attribute.type === 'binary') return fc.constantFrom('eq', 'ne');
  if (attribute.type === 'dateTime' || attribute.type === 'decimal') return fc.constantFrom(...ordering);
  return fc.constantFrom(...ordering, 'co', 'sw', 'ew', 'co', 'sw', 'ew');
}

function value(attribute: Attribute, pools: FilterPools): fc.Arbitrary<string> {
  if (attribute.type === 'boolean') return fc.constantFrom('true', 'false', '"True"', '"false"');
  if (attribute.type === 'dateTime') return instant(pools.instants);
  if (attribute.type === 'decimal') return fc.constantFrom('-3', '-0.5', '0', '-0', '1e-9', '2', '1E+21', '7', '-1', '1e300');
  const part = fc
    .tuple(fc.constantFrom(...pools.texts), fc.nat(8), fc.nat(8))
    .map(([text, from, length]) => [...text].slice(from, from + length).join(''));
  return fc.oneof(fc.constantFrom(...pools.texts), part, textArbitrary).map((text) => JSON.stringify(text));
}

function instant(instants: readonly number[]): fc.Arbitrary<string> {
  const fraction = fc.constantFrom('', '000000', '000001', '999999', '5');
  return fc.tuple(fc.constantFrom(...instants), fc.integer({ min: -1, max: 1 }), fraction).map(([ms, step, digits]) => {
    const text = new Date(ms + step).toISOString();
    return JSON.stringify(`${text.slice(0, -1)}${digits}Z`);
  });
}
