// What a measurement is, how medians of interleaved rounds are taken, and how the figures are printed.
import type { Cost } from './load.ts';

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

/** Measures the contenders in turn (A B A B …) and gives the medians of each number, so that a slow minute hits all of them. */
export async function interleave<Name extends string, Sample extends Readonly<Record<string, number>>>(
  rounds: number,
  contenders: Readonly<Record<Name, () => Promise<Sample>>>,
): Promise<Readonly<Record<Name, Sample>>> {
  const names = Object.keys(contenders) as Name[]; // keys of a Record<Name, …>
  const samples = new Map<Name, Sample[]>(names.map((name) => [name, []]));
  for (let round = 0; round < rounds; round += 1) for (const name of names) samples.get(name)!.push(await contenders[name]());
  return Object.fromEntries(names.map((name) => [name, medians(samples.get(name)!)])) as Record<Name, Sample>;
}

function medians<Sample extends Readonly<Record<string, number>>>(samples: readonly Sample[]): Sample {
  const keys = Object.keys(samples[0]!);
  return Object.fromEntries(keys.map((key) => [key, median(samples.map((sample) => sample[key]!))])) as unknown as Sample; // the same keys
}

/** Milliseconds of this process's own processor time, all threads, for each of `count` pieces of work. */
export async function ownCpuMs(count: number, work: () => unknown): Promise<number> {
  const before = process.cpuUsage();
  for (let run = 0; run < count; run += 1) await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000 / count;
}

/** How many times less processor time a request of ours takes than one of the peer's, with both rates beside it. */
export function timesLess(id: string, what: string, costs: Readonly<Record<'ours' | 'peer', Cost>>, bar: number): Figure {
  const { ours, peer } = costs;
  const more = {
    ours_ms: ours.cpuMs,
    peer_ms: peer.cpuMs,
    ours_rate: ours.rate,
    peer_rate: peer.rate,
    p50_ms: ours.p50Ms,
    p99_ms: ours.p99Ms,
  };
  return ratio(id, what, peer.cpuMs / ours.cpuMs, bar, more);
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
