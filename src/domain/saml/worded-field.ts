// Fields that say in words of their own what their values must be: the schema of the Management API and of documents holds their types alone. Pure.
import { type About, field, type Json, type Kind } from '../field.ts';

const typeWords: ReadonlySet<string> = new Set(['type', 'required', 'properties', 'items', 'anyOf', 'description']);

/** A shape without its bounds and choices. */
function typeOf(shape: Json): Json {
  const kept = Object.entries(shape).filter(([word]) => typeWords.has(word));
  const within = (word: string, value: unknown): unknown => {
    if (word === 'items') return typeOf(value as Json);
    if (word === 'anyOf') return (value as readonly Json[]).map(typeOf);
    if (word !== 'properties') return value;
    return Object.fromEntries(Object.entries(value as Json).map(([name, one]) => [name, typeOf(one as Json)]));
  };
  return Object.fromEntries(kept.map(([word, value]) => [word, within(word, value)]));
}

/** Declares such a field. */
export const worded = <const N extends string, V, C extends string | number, const G extends About<V>>(
  name: N,
  kind: Kind<V, C>,
  about: G,
) =>
  field(
    name,
    { ...kind, shape: typeOf(kind.shape) },
    { ...about, check: (value: V) => shapeFault(kind.shape, value) ?? about.check?.(value) },
  ) as ReturnType<typeof field<N, V, C, G>>; // what is said about it, and what it must be

/** What a shape of the table asks for, in our words. */
export function shapeFault(shape: Json, value: unknown): string | undefined {
  const { type, enum: names, maxLength, minItems, maxItems, items } = shape as unknown as Shape; // those of the table
  if (type === 'boolean') return typeof value === 'boolean' ? undefined : 'true or false is required.';
  if (type === 'object') return isObject(value) ? undefined : 'A JSON object is required.';
  if (names !== undefined) return names.includes(value as string) ? undefined : `One of ${names.join(', ')} is required.`;
  if (maxLength !== undefined) {
    const fits = typeof value === 'string' && value !== '' && [...value].length <= maxLength;
    return fits ? undefined : `A text of 1 to ${maxLength} characters is required.`;
  }
  if (type !== 'array') return undefined;
  if (!Array.isArray(value) || value.length < minItems! || value.length > maxItems!)
    return `A list of ${minItems} to ${maxItems} is required.`;
  return firstFault(value, (item) => shapeFault(items!, item));
}

interface Shape {
  readonly type: string;
  readonly enum?: readonly string[];
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly items?: Json;
}

const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value);
export const firstFault = <Item>(items: readonly Item[], faultOf: (item: Item) => string | undefined): string | undefined =>
  items.map(faultOf).find((fault) => fault !== undefined);
export const notKnown = (name: string): string => `"${name.slice(0, 50)}" is not known.`;
