// Finds in a person's list the values a rule can take without looking at every one: many rules read the same list of groups, each for a
// prefix of its own. Values keep the order of the list. Pure.
import type { MappedValue } from './paths.ts';
import type { MappingRule } from './rule.ts';

/** What a rule looks for at its start: the only values that can pass all its steps. */
export interface Sought {
  readonly how: 'prefix' | 'equals';
  readonly texts: readonly string[];
}

/** Undefined: any value may pass, so all are looked at. */
export function soughtBy({ only, strip, values }: MappingRule): Sought | undefined {
  if (only?.equals !== undefined) return { how: 'equals', texts: only.equals };
  if (only?.prefix !== undefined) return { how: 'prefix', texts: only.prefix };
  if (values === undefined || strip !== undefined || Object.hasOwn(values, '*')) return undefined;
  return { how: 'equals', texts: Object.keys(values) };
}

type Entry = readonly [text: string, position: number];

/** A list in the order of its code units, so that values of one prefix stand together. */
export interface ListIndex {
  readonly values: readonly MappedValue[];
  readonly sorted: readonly Entry[];
}

export const indexOf = (values: readonly MappedValue[]): ListIndex => ({
  values,
  sorted: values
    .map((value, position): Entry => [String(value), position])
    .sort(([one], [other]) => (one < other ? -1 : Number(one > other))),
});

/** The values a rule looks for, in the order of the list, each once. */
export function seek({ values, sorted }: ListIndex, { how, texts }: Sought): readonly MappedValue[] {
  const found = new Set<number>();
  for (const text of texts)
    for (let at = firstAtLeast(sorted, text); at < sorted.length; at += 1) {
      const [value, position] = sorted[at]!;
      if (how === 'equals' ? value !== text : !value.startsWith(text)) break;
      found.add(position);
    }
  return [...found].sort((one, other) => one - other).map((position) => values[position]!);
}

function firstAtLeast(sorted: readonly Entry[], text: string): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle]![0] < text) low = middle + 1;
    else high = middle;
  }
  return low;
}
