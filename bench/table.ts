// What a measurement is, how medians of interleaved rounds are taken, and how the figures are printed.

export interface Figure {
  /** Bar of docs, e.g. `P1`. */
  readonly id: string;
  readonly what: string;
  readonly value: number;
  readonly unit: string;
  /** The bar, if there is one, and whether the value meets it. */
  readonly bar?: string;
  readonly met?: boolean;
  /** Further numbers worth keeping. */
  readonly more?: Readonly<Record<string, number>>;
}

export type Bench = () => Promise<readonly Figure[]>;

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((left, right) => left - right);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

/** Measures the contenders in turn (A B A B …) and gives the medians, so that a slow minute hits all of them. */
export async function interleave<Name extends string>(
  rounds: number,
  contenders: Readonly<Record<Name, () => Promise<number>>>,
): Promise<Readonly<Record<Name, number>>> {
  const names = Object.keys(contenders) as Name[]; // keys of a Record<Name, …>
  const values = new Map<Name, number[]>(names.map((name) => [name, []]));
  for (let round = 0; round < rounds; round += 1) for (const name of names) values.get(name)!.push(await contenders[name]());
  return Object.fromEntries(names.map((name) => [name, median(values.get(name)!)])) as Record<Name, number>;
}

/** A ratio with a lower bar. */
export function ratio(id: string, what: string, value: number, bar: number, more?: Readonly<Record<string, number>>): Figure {
  return { id, what, value, unit: 'x', bar: `>= ${bar}`, met: value >= bar, ...(more === undefined ? {} : { more }) };
}

/** A figure with an upper bar. */
export function atMost(id: string, what: string, value: number, unit: string, bar: number): Figure {
  return { id, what, value, unit, bar: `< ${bar}`, met: value < bar };
}

export function printTable(figures: readonly Figure[]): void {
  const rows = figures.map((figure) => [
    figure.id,
    figure.what,
    `${format(figure.value)} ${figure.unit}`,
    figure.bar ?? '',
    figure.met === undefined ? '' : figure.met ? 'met' : 'MISSED',
    Object.entries(figure.more ?? {})
      .map(([name, value]) => `${name} ${format(value)}`)
      .join(', '),
  ]);
  const widths = [0, 1, 2, 3, 4].map((column) => Math.max(...rows.map((row) => row[column]!.length)));
  for (const row of rows)
    console.log(
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    );
}

const format = (value: number): string => (value >= 1000 ? Math.round(value).toLocaleString('en') : value.toPrecision(3));
