// Fields of console forms: how a value of the Management API is shown in a form and read back from it. A form keeps what was
// typed when the API refuses it. Every kind is one entry.
import { type Html, html } from '../../platform/html.ts';
import type { Typed } from '../own-app/app-form.ts';

export interface FormField {
  /** Path in the JSON of the API, e.g. `name.given_name`. */
  readonly path: string;
  readonly label: string;
  readonly kind: 'text' | 'email' | 'integer' | 'lines' | 'checkbox' | 'select' | 'checks' | 'json' | 'limit';
  readonly hint?: string;
  readonly options?: readonly string[];
  readonly required?: boolean;
  /** Shown when something is created, not when it is changed. */
  readonly onlyNew?: boolean;
}

type Json = Readonly<Record<string, unknown>>;

/** The value at a dotted path. */
export function valueAt(json: Json, path: string): unknown {
  let value: unknown = json;
  for (const name of path.split('.')) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
    value = (value as Json)[name];
  }
  return value;
}

const idOf = (path: string): string => `field-${path.replaceAll('.', '-')}`;

/** One labelled field, holding what was typed before or else what the API has. */
export function renderField(field: FormField, json: Json, typed: Typed | undefined): Html {
  const id = idOf(field.path);
  const hint = field.hint === undefined ? undefined : html`<p class="hint" id="${id}-hint">${field.hint}</p>`;
  const described = field.hint !== undefined && html` aria-describedby="${id}-hint"`;
  const value = valueAt(json, field.path);
  if (field.kind === 'checkbox') {
    const checked = typed === undefined ? value === true : typed.has(field.path);
    return html`<div class="field"><label class="check"><input type="checkbox" name="${field.path}" id="${id}"${checked && html` checked`}${described}> ${field.label}</label>${hint}</div>`;
  }
  if (field.kind === 'checks') {
    const chosen = new Set(typed?.getAll(field.path) ?? (Array.isArray(value) ? value : []));
    return html`<fieldset><legend>${field.label}</legend><div class="checks">${(field.options ?? []).map(
      (option) =>
        html`<label class="check"><input type="checkbox" name="${field.path}" value="${option}"${chosen.has(option) && html` checked`}> <code>${option}</code></label>`,
    )}</div>${hint}</fieldset>`;
  }
  if (field.kind === 'limit') return renderLimit(field, value, typed);
  const text = typed?.get(field.path) ?? textOf(field, value);
  const label = html`<label for="${id}">${field.label}</label>`;
  if (field.kind === 'select')
    return html`<div class="field">${label}<select name="${field.path}" id="${id}"${described}>${(field.options ?? []).map(
      (option) => html`<option value="${option}"${option === text && html` selected`}>${option === '' ? '(none)' : option}</option>`,
    )}</select>${hint}</div>`;
  if (field.kind === 'lines' || field.kind === 'json')
    return html`<div class="field">${label}<textarea name="${field.path}" id="${id}"${described}>\n${text}</textarea>${hint}</div>`;
  const inputType = field.kind === 'integer' ? 'number' : field.kind === 'email' ? 'email' : 'text';
  return html`<div class="field">${label}<input type="${inputType}" name="${field.path}" id="${id}" value="${text}"${field.required === true && html` required`}${described}>${hint}</div>`;
}

const limitParts = ['limit', 'period_seconds'] as const;

/** A rate limit: so many in so many seconds; both empty switch it off. */
function renderLimit({ path, label }: FormField, value: unknown, typed: Typed | undefined): Html {
  const input = (part: (typeof limitParts)[number], name: string): Html => {
    const text = typed?.get(`${path}.${part}`) ?? String(valueAt((value ?? {}) as Json, part) ?? '');
    return html`<input type="number" name="${path}.${part}" id="${idOf(`${path}.${part}`)}" value="${text}" min="1" aria-label="${label}: ${name}">`;
  };
  return html`<fieldset class="limit"><legend>${label}</legend><div>${input('limit', 'how many')}<span>in</span>${input('period_seconds', 'seconds')}<span>seconds</span></div></fieldset>`;
}

function textOf(field: FormField, value: unknown): string {
  if (value === undefined || value === null) return '';
  if (field.kind === 'lines') return Array.isArray(value) ? value.join('\n') : '';
  if (field.kind === 'json') return JSON.stringify(value, null, 2);
  return String(value);
}

export type ReadForm = { readonly ok: true; readonly json: Json } | { readonly ok: false; readonly text: string };

/** Reads a form back into the JSON of the API. Empty texts are null; a JSON field that is no JSON is refused here. */
export function readFields(fields: readonly FormField[], typed: Typed): ReadForm {
  const json: Record<string, unknown> = {};
  for (const field of fields) {
    const read = readField(field, typed);
    if (!read.ok) return { ok: false, text: `${field.label} is not valid JSON.` };
    put(json, field.path.split('.'), read.value);
  }
  return { ok: true, json };
}

function readField(field: FormField, typed: Typed): { readonly ok: true; readonly value: unknown } | { readonly ok: false } {
  const text = (typed.get(field.path) ?? '').trim();
  switch (field.kind) {
    case 'checkbox':
      return { ok: true, value: typed.has(field.path) };
    case 'checks':
      return { ok: true, value: typed.getAll(field.path) };
    case 'limit': {
      const parts = limitParts
        .map((part) => [part, (typed.get(`${field.path}.${part}`) ?? '').trim()] as const)
        .filter(([, part]) => part !== '');
      return { ok: true, value: parts.length === 0 ? null : Object.fromEntries(parts.map(([part, number]) => [part, Number(number)])) };
    }
    case 'lines':
      return {
        ok: true,
        value: text
          .split(/\r?\n/)
          .map((line) => line.trim())
          .filter((line) => line !== ''),
      };
    case 'integer':
      return { ok: true, value: text === '' ? null : Number(text) };
    case 'json':
      try {
        return { ok: true, value: text === '' ? null : JSON.parse(text) };
      } catch {
        return { ok: false };
      }
    default:
      return { ok: true, value: text === '' ? null : text };
  }
}

function put(target: Record<string, unknown>, [name, ...rest]: readonly string[], value: unknown): void {
  if (name === undefined) return;
  if (rest.length === 0) {
    target[name] = value;
    return;
  }
  const inner = target[name];
  const next = typeof inner === 'object' && inner !== null ? (inner as Record<string, unknown>) : {};
  target[name] = next;
  put(next, rest, value);
}
