// Periods as people type them behind an option.
import { usage } from './failure.ts';

const units: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Milliseconds of `30m`, `1h` or `7d`. @throws CommandFailure naming the option */
export function periodMs(option: string, text: string): number {
  const [, count, unit] = /^(\d{1,5})([mhd])$/.exec(text) ?? [];
  if (count === undefined || unit === undefined) throw usage(`${option}: expected a time such as 30m, 1h or 7d, found ${text}`);
  return Number(count) * units[unit]!;
}
