// What a setting is without being set, in words, and the way back to it: derived from the fields, so a new setting has both.
import { isDeepStrictEqual } from 'node:util';
import { type Json, leavesOf } from '../../domain/field.ts';
import { settingFields } from '../../domain/tenant/settings.ts';
import { type FormField, valueAt } from '../../first-party/form-field.ts';
import { type Html, html } from '../../platform/html.ts';

const leaves = new Map(leavesOf(settingFields));
/** What forms do not show cannot be compared, and is not reset here. */
const hiddenInputs: ReadonlySet<string> = new Set(['secret', 'password', 'json', 'none', 'secret-parts']);

/** The form whose buttons go back to a default; apart from the settings' own, so that Enter in a field saves. */
export const resetFormId = 'reset';

/** The settings as they are with one at its default; undefined for what has none. */
export function defaultChange(path: string): { readonly label: string; readonly json: Json } | undefined {
  const leaf = leaves.get(path);
  if (leaf === undefined || hiddenInputs.has(leaf.kind.input)) return undefined;
  const json = path.split('.').reduceRight<unknown>((inner, name) => ({ [name]: inner }), leaf.about.default);
  return { label: leaf.about.label, json: json as Json }; // a path has at least one name
}

/** Below a field: its bounds and default, and a button where it has another value; nothing where there is nothing to say. */
export function defaultLine({ path, bounds, kind }: FormField, settings: Json): Html | undefined {
  const leaf = leaves.get(path);
  if (leaf === undefined || hiddenInputs.has(leaf.kind.input)) return undefined;
  const isTime = path.endsWith('_seconds');
  const { minimum, maximum } = bounds ?? {};
  const range =
    kind === 'number' && minimum !== undefined && maximum !== undefined ? `${amount(minimum, isTime)} to ${amount(maximum, isTime)}. ` : '';
  const isDefault = isDeepStrictEqual(valueAt(settings, path), leaf.about.default);
  // What a setting is by itself is said of another value, and beside numbers, which say little alone.
  if (isDefault && kind !== 'number') return undefined;
  return html`<p class="hint default">${range}Default: ${shown(leaf.about.default, isTime)}${
    !isDefault &&
    html` <button class="link small" form="${resetFormId}" name="reset" value="${path}" id="reset-${path.replaceAll('.', '-')}">Reset<span class="hidden"> ${leaf.about.label}</span></button>`
  }</p>`;
}

function shown(value: unknown, isTime: boolean): string {
  if (value === null || value === undefined) return 'none';
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (typeof value === 'number') return amount(value, isTime);
  if (Array.isArray(value)) return value.length === 0 ? 'none' : value.join(', ');
  const { limit, period_seconds: seconds } = value as { readonly limit?: number; readonly period_seconds?: number }; // a rate limit, or a name
  return typeof value === 'object' ? `${limit} in ${amount(seconds ?? 0, true)}` : String(value);
}

const units = [
  [86_400, 'day'],
  [3_600, 'hour'],
  [60, 'minute'],
] as const;

/** Seconds in the largest unit that holds them exactly, beside the number. */
function amount(value: number, isTime: boolean): string {
  const number = value.toLocaleString('en');
  if (!isTime) return number;
  const [size, unit] = units.find(([one]) => value >= one && value % one === 0) ?? [1, 'second'];
  const count = value / size;
  const inUnit = `${count.toLocaleString('en')} ${unit}${count === 1 ? '' : 's'}`;
  return size === 1 ? inUnit : `${number} (${inUnit})`;
}
