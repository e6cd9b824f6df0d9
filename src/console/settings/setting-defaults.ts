// What a setting is without being set, in words, and the way back to it: derived from the fields, so a new setting has both.
import { isDeepStrictEqual } from 'node:util';
import { type Json, leavesOf } from '../../domain/field.ts';
import { settingFields } from '../../domain/tenant/settings.ts';
import { type FormField, valueAt } from '../../first-party/form-field.ts';
import { isTime, timeInWords } from '../../first-party/time-field.ts';
import { type Html, html } from '../../platform/html.ts';

const leaves = new Map(leavesOf(settingFields));
/** What forms do not show cannot be compared, and is not reset here. */
const hiddenInputs: ReadonlySet<string> = new Set(['secret', 'password', 'json', 'none', 'secret-parts']);

const yearSeconds = 31_536_000;

/** The form whose buttons go back to a default; apart from the settings' own, so that Enter in a field saves. */
export const resetFormId = 'reset';

/** The change that puts one setting back; undefined for what has none. */
export function defaultChange(path: string): Json | undefined {
  const leaf = leaves.get(path);
  if (leaf === undefined || hiddenInputs.has(leaf.kind.input)) return undefined;
  return path.split('.').reduceRight<unknown>((inner, name) => ({ [name]: inner }), leaf.about.default) as Json; // a path has at least one name
}

/** Whether a setting is as nobody set it; undefined where a form does not show what is set. */
export function isDefault({ path }: FormField, settings: Json): boolean | undefined {
  const leaf = leaves.get(path);
  if (leaf === undefined || hiddenInputs.has(leaf.kind.input)) return undefined;
  return isDeepStrictEqual(valueAt(settings, path), leaf.about.default);
}

/** Below a field: its bounds and default, and of another value a mark and a button; nothing where there is nothing to say. */
export function defaultLine(field: FormField, settings: Json): Html | undefined {
  const { path, bounds, kind } = field;
  const isUnset = isDefault(field, settings);
  if (isUnset === undefined) return undefined;
  const { minimum, maximum } = bounds ?? {};
  // A time that may be years has no bound that anybody meets.
  const hasBounds = minimum !== undefined && maximum !== undefined && (kind === 'number' || (kind === 'time' && maximum < yearSeconds));
  const range = hasBounds ? `${shown(field, minimum)} to ${shown(field, maximum)}. ` : '';
  // What a setting is by itself is said of another value, and beside numbers, which say little alone.
  if (isUnset && kind !== 'number' && kind !== 'time') return undefined;
  const mark = html`<span class="badge plain">changed</span> `;
  return html`<p class="hint default">${!isUnset && mark}${range}Default: ${shown(field, leaves.get(path)?.about.default)}${
    !isUnset &&
    html` <button class="link small" form="${resetFormId}" name="reset" value="${path}" id="reset-${path.replaceAll('.', '-')}">Reset<span class="hidden"> ${field.label}</span></button>`
  }</p>`;
}

function shown(field: FormField, value: unknown): string {
  if (value === null || value === undefined) return 'none';
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (typeof value === 'number') return isTime(field.path) ? timeInWords(value) : value.toLocaleString('en');
  if (Array.isArray(value)) return value.length === 0 ? 'none' : value.map((one) => nameOf(field, String(one))).join(', ');
  if (typeof value !== 'object') return nameOf(field, String(value));
  const { limit, period_seconds: seconds } = value as { readonly limit?: number; readonly period_seconds?: number }; // a rate limit
  return `${limit} in ${timeInWords(seconds ?? 0)}`;
}

const nameOf = ({ optionLabels }: FormField, value: string): string => optionLabels?.[value]?.label ?? value;
