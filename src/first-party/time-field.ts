// Times in forms, in the unit that people say: 15 minutes for the 900 seconds of the API. A number and a unit beside it; a form
// without the unit means seconds. Also what is made of times: a rate limit, and how long a session lasts.
import type { Json } from '../domain/field.ts';
import { rateLimitParts } from '../domain/tenant/settings.ts';
import { type Html, html } from '../platform/html.ts';
import type { Typed } from './app-form.ts';
import type { ReadValue } from './row-field.ts';

const units = { days: 86_400, hours: 3_600, minutes: 60, seconds: 1 } as const;
type Unit = keyof typeof units;
const unitNames = Object.keys(units) as readonly Unit[];

/** What stands at a field beside its label. */
export interface Said {
  readonly described: Html;
  readonly hint: Html;
}

interface TimeField {
  readonly path: string;
  readonly label: string;
  readonly isNamedAbove?: true;
}

/** Names of fields that hold seconds. */
export const isTime = (path: string): boolean => /_seconds(?:_|$)/.test(path);

/** The same label where the unit stands beside the number. */
export const withoutUnit = (label: string): string => label.replace(/, in seconds$/, '');

/** The largest unit that holds so many seconds exactly. */
const unitOf = (seconds: number): Unit => unitNames.find((name) => seconds >= units[name] && seconds % units[name] === 0) ?? 'seconds';

/** Seconds as people say them: 15 minutes. */
export function timeInWords(seconds: number): string {
  const unit = unitOf(seconds);
  const count = seconds / units[unit];
  return `${count.toLocaleString('en')} ${count === 1 ? unit.slice(0, -1) : unit}`;
}

const idOf = (path: string): string => `field-${path.replaceAll('.', '-')}`;
const unitName = (path: string): string => `${path}.unit`;

/** A number and its unit, holding what was typed before or else the seconds. */
function renderNumber(path: string, seconds: unknown, typed: Typed | undefined, { label, described = html`` }: NumberSaid): Html {
  const isKept = typed?.has(path) === true;
  const known = typeof seconds === 'number' ? seconds : undefined;
  const unit = isKept ? (typed.get(unitName(path)) ?? 'seconds') : known === undefined ? 'minutes' : unitOf(known);
  const text = isKept ? typed.get(path)! : known === undefined ? '' : String(known / units[unitOf(known)]);
  return html`<span class="time"><input type="number" name="${path}" id="${idOf(path)}" value="${text}" min="0" step="any"${label !== undefined && html` aria-label="${label}"`}${described}> <select name="${unitName(path)}" id="${idOf(unitName(path))}" aria-label="${label ?? ''}${label !== undefined && ', '}unit">${unitNames.toReversed().map((name) => html`<option${name === unit && html` selected`}>${name}</option>`)}</select></span>`;
}

interface NumberSaid {
  readonly label?: string;
  readonly described?: Html;
}

/** A time with its label. */
export const renderTime = ({ path, label }: TimeField, seconds: unknown, typed: Typed | undefined, said: Said): Html =>
  html`<div class="field"><label for="${idOf(path)}">${label}</label>${renderNumber(path, seconds, typed, { described: said.described })}${said.hint}</div>`;

/** A rate limit: so many in a time; both empty switch it off. */
export function renderLimit({ path, label }: TimeField, value: unknown, typed: Typed | undefined, said: Said): Html {
  const [limit, period] = rateLimitParts.map((part) => `${path}.${part}`) as [string, string]; // two names
  const known = (value ?? {}) as Json;
  const many = typed?.get(limit) ?? String(known['limit'] ?? '');
  return html`<fieldset class="limit" id="${idOf(path)}"${said.described}><legend>${label}</legend><div><input type="number" name="${limit}" id="${idOf(limit)}" value="${many}" min="1" aria-label="${label}: how many"><span>in</span>${renderNumber(period, known['period_seconds'], typed, { label: `${label}: time` })}</div>${said.hint}</fieldset>`;
}

/** How long a browser's session lasts: one of two names, or two times, which stand there for whoever chooses them. */
export function renderSession({ path, label, isNamedAbove }: TimeField, value: unknown, typed: Typed | undefined, said: Said): Html {
  const chosen = typed?.get(path) ?? (typeof value === 'object' ? 'time' : value);
  const times = typeof value === 'object' ? (value as Json) : { idle_seconds: 8 * 3600, absolute_seconds: 24 * 3600 };
  const option = (name: string, text: string): Html =>
    html`<label class="check"><input type="radio" name="${path}" value="${name}"${chosen === name && html` checked`}> ${text}</label>`;
  const input = (part: 'idle_seconds' | 'absolute_seconds', name: string): Html =>
    renderNumber(`${path}.${part}`, times[part], typed, { label: `${label}: ${name}` });
  return html`<fieldset class="limit" id="${idOf(path)}"${said.described}><legend${isNamedAbove === true && html` class="hidden"`}>${label}</legend>${option('off', 'Off')}${option('browser', 'Until the browser closes')}${option('time', 'For a time')}<div class="times">${input('idle_seconds', 'without use')}<span>without use,</span>${input('absolute_seconds', 'at most')}<span>at most</span></div>${said.hint}</fieldset>`;
}

/** The seconds that were typed; null for none. */
export function readTime(path: string, typed: Typed): ReadValue {
  const text = (typed.get(path) ?? '').trim();
  const unit = typed.get(unitName(path)) ?? 'seconds';
  if (!Object.hasOwn(units, unit)) return { ok: false, text: `The unit is one of ${unitNames.join(', ')}.` };
  if (text === '') return { ok: true, value: null };
  // 1.1 hours are 3,960 seconds, whatever binary fractions make of it.
  const seconds = Math.round(Number(text) * units[unit as Unit] * 1_000) / 1_000;
  return Number.isFinite(seconds) ? { ok: true, value: seconds } : { ok: false, text: 'This is no number.' };
}

/** Two numbers of an object, each under its own name: what was typed of them. */
function readBoth(parts: readonly (readonly [name: string, read: ReadValue])[]): ReadValue {
  const wrong = parts.find(([, read]) => !read.ok);
  if (wrong !== undefined) return wrong[1];
  const given = parts.flatMap(([name, read]) => (read.ok && read.value !== null ? [[name, read.value] as const] : []));
  return { ok: true, value: Object.fromEntries(given) };
}

/** Both empty: null. */
export function readLimit(path: string, typed: Typed): ReadValue {
  const many = (typed.get(`${path}.limit`) ?? '').trim();
  const read = readBoth([
    ['limit', { ok: true, value: many === '' ? null : Number(many) }],
    ['period_seconds', readTime(`${path}.period_seconds`, typed)],
  ]);
  return read.ok && Object.keys(read.value as Json).length === 0 ? { ok: true, value: null } : read;
}

export function readSession(path: string, typed: Typed): ReadValue {
  const chosen = (typed.get(path) ?? '').trim();
  if (chosen !== 'time') return { ok: true, value: chosen };
  return readBoth(['idle_seconds', 'absolute_seconds'].map((part) => [part, readTime(`${path}.${part}`, typed)] as const));
}
