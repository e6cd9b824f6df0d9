// Fields of console forms: how a value of the Management API is shown in a form and read back from it. A form keeps what was
// typed when the API refuses it. Every kind is one entry.

import { type Json, leavesOf, mayBeAbsent, type Part, type Table } from '../domain/field.ts';
import { type Html, html, trusted } from '../platform/html.ts';
import type { Typed } from './app-form.ts';
import { inWords, lineCheckOf } from './fault-words.ts';
import {
  isParted,
  isPartedAsked,
  isRemoved,
  type PartedKind,
  type ReadValue,
  readParted,
  removeBox,
  renderParted,
  wrongRow,
} from './row-field.ts';
import { renderTicks, ticksOf } from './tick-field.ts';
import { isTime, readLimit, readSession, readTime, renderLimit, renderSession, renderTime, type Said, withoutUnit } from './time-field.ts';

export interface FormField {
  /** Path in the JSON of the API, e.g. `name.given_name`. */
  readonly path: string;
  /** What the API's refusals call it, where that is not its path. */
  readonly apiPath?: string;
  readonly label: string;
  readonly kind:
    | 'text'
    | 'email'
    | 'paragraph'
    | 'number'
    | 'time'
    | 'ticks'
    | 'order'
    | 'lines'
    | 'checkbox'
    | 'select'
    | 'checks'
    | 'grouped'
    | 'picker'
    | 'json'
    | 'limit'
    | 'session'
    | 'secret'
    | PartedKind
    | 'blocks'
    | 'keys'
    | 'password';
  /** Whether one line of several is wrong by itself, where that can be told. */
  readonly isLineWrong?: (line: string, typed: Typed) => boolean;
  /** Whether one of several rows is wrong by itself, where that can be told. */
  readonly isRowWrong?: (row: unknown) => boolean;
  /** Of a value that is asked for in parts. */
  readonly parts?: readonly Part[];
  readonly hint?: string;
  /** True: its label is the heading above it, and is told to screen readers alone. */
  readonly isNamedAbove?: true;
  readonly options?: readonly string[];
  /** What a text may be, offered while it is typed. */
  readonly suggestions?: readonly string[];
  /** What the options mean. */
  readonly optionLabels?: Readonly<Record<string, { readonly label: string; readonly help?: string }>>;
  /** Of what is picked: names in groups, with what they mean. */
  readonly groups?: readonly OptionGroup[];
  /** The part of the form it stands in; the first without one. */
  readonly tab?: string;
  readonly required?: boolean;
  /** Of a number. */
  readonly bounds?: { readonly minimum?: number; readonly maximum?: number };
  /** Shown when something is created, not when it is changed. */
  readonly onlyNew?: boolean;
}

export interface OptionGroup {
  readonly name: string;
  readonly options: readonly (readonly [option: string, meaning: string])[];
  /** True: the names are ours, and what they mean stands for them. */
  readonly areOurs?: true;
}

/** The form of a table of fields: every field in its order. */
export const formOf = (table: Table): readonly FormField[] =>
  leavesOf(table).flatMap(([path, one]): readonly FormField[] => {
    const { kind, about } = one;
    const { input, names = [], choices } = kind;
    if (input === 'none' || about.write === 'never' || about.write === 'change') return [];
    const isTimed = input === 'number' && isTime(path);
    const isLineWrong = input === 'lines' ? lineCheckOf(one) : undefined;
    return [
      {
        path,
        label: isTimed ? withoutUnit(about.label) : about.label,
        kind: isTimed ? 'time' : input,
        options: input === 'select' && mayBeAbsent(one) ? ['', ...names] : names,
        onlyNew: about.form === 'new' || about.write === 'create',
        required: about.required === true || (input === 'number' && !mayBeAbsent(one)),
        bounds: kind.shape as FormField['bounds'] & object,
        ...(isLineWrong !== undefined && { isLineWrong }),
        ...(kind.parts !== undefined && { parts: kind.parts, isRowWrong: (row: unknown) => about.check?.(row as never) !== undefined }), // of the shape
        ...(about.help !== undefined && { hint: about.help }),
        ...(about.tab !== undefined && { tab: about.tab }),
        ...(choices !== undefined && { optionLabels: choices }),
      },
    ];
  });

/** What is wrong with one field of a form that was refused. */
export interface FieldFault {
  readonly field: FormField;
  readonly text: string;
}

/** The field that a refusal of the API names, and what it says of it: by line where it quotes one of several. */
export function faultIn(fields: readonly FormField[], name: string, text: string, typed: Typed): FieldFault | undefined {
  const nameOf = ({ path, apiPath }: FormField): string => apiPath ?? path;
  const found =
    fields.find((field) => nameOf(field) === name) ??
    fields.find((field) => name.startsWith(`${nameOf(field)}.`) || nameOf(field).startsWith(`${name}.`));
  if (found === undefined) return undefined;
  const row = isParted(found) ? wrongRow(found, typed, (one) => found.isRowWrong?.(one) === true) : 0;
  const said = inWords(found, text);
  if (row > 0) return { field: found, text: `Row ${row}: ${said}` };
  const lines = found.kind === 'lines' ? linesOf(typed.get(found.path) ?? '') : [];
  const line = lines.length > 1 ? wrongLine(lines, text, found.isLineWrong && ((one) => found.isLineWrong!(one, typed))) : -1;
  return { field: found, text: line < 0 ? said : `Line ${line + 1}: ${said}` };
}

/** The line that is wrong by itself, else the longest that the text quotes as a word of its own; -1: none. */
function wrongLine(lines: readonly string[], text: string, isWrong: ((line: string) => boolean) | undefined): number {
  if (isWrong !== undefined) return lines.findIndex(isWrong);
  const quoted = lines.filter((line) => quotes(text, line)).toSorted((left, right) => right.length - left.length);
  return quoted.length === 0 ? -1 : lines.indexOf(quoted[0]!);
}

/** What a name, an address or a capability is made of: a text that goes on with one of these quotes something longer. */
const partOfWord = /[\p{L}\p{N}_@:/.-]/u;

function quotes(text: string, line: string): boolean {
  for (let at = text.indexOf(line); at >= 0; at = text.indexOf(line, at + 1)) {
    const end = text.slice(at + line.length).replace(/^[.:](?!\S)/, ''); // the end of a sentence
    if (!partOfWord.test(text[at - 1] ?? ' ') && !partOfWord.test(end[0] ?? ' ')) return true;
  }
  return false;
}

/** A form of more fields than this shows its first part, and the others once they are opened. */
const unfoldedMax = 14;

/** The fields of a form, part by part. */
export function renderFields(fields: readonly FormField[], json: Json, typed: Typed | undefined, fault?: FieldFault): readonly Html[] {
  const parts = [...Map.groupBy(fields, ({ tab }) => tab)];
  const folds = parts.length > 1 && fields.length > unfoldedMax;
  return parts.map(([tab, part]) => {
    const shown = part.map((field) => renderField(field, json, typed, fault));
    if (tab === undefined) return html`${shown}`;
    if (!folds) return html`<h2>${tab}</h2>${shown}`;
    // A browser cannot show what is missing in a part that is closed.
    const isOpen = part.some((field) => field.required === true || field.path === fault?.field.path);
    return html`<details class="part"${isOpen && html` open`}><summary>${tab}</summary>${shown}</details>`;
  });
}

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

/** One labelled field, holding what was typed before or else what the API has, with what is wrong with it. */
export function renderField(field: FormField, json: Json, typed: Typed | undefined, fault?: FieldFault): Html {
  const id = idOf(field.path);
  const wrong = fault?.field.path === field.path ? fault.text : undefined;
  const hint = html`${wrong !== undefined && html`<p class="wrong" id="${id}-wrong">${wrong}</p>`}${field.hint !== undefined && html`<p class="hint" id="${id}-hint">${field.hint}</p>`}`;
  const told = [wrong !== undefined && `${id}-wrong`, field.hint !== undefined && `${id}-hint`].filter((one) => one !== false);
  const described = html`${wrong !== undefined && html` aria-invalid="true"`}${told.length > 0 && html` aria-describedby="${told.join(' ')}"`}`;
  const value = valueAt(json, field.path);
  if (field.kind === 'checkbox') {
    const checked = typed === undefined ? value === true : typed.has(field.path);
    return html`<div class="field"><label class="check"><input type="checkbox" name="${field.path}" id="${id}"${checked && html` checked`}${described}> ${field.label}</label>${hint}</div>`;
  }
  if (field.kind === 'checks') {
    const chosen = new Set(typed?.getAll(field.path) ?? (Array.isArray(value) ? value : []));
    return html`<fieldset id="${id}"${described}><legend>${field.label}</legend><div class="checks">${(field.options ?? []).map(
      (option) =>
        html`<label class="check"${named(field, option) !== undefined && html` title="${option}"`}><input type="checkbox" name="${field.path}" value="${option}"${chosen.has(option) && html` checked`}> ${named(field, option) ?? html`<code>${option}</code>`}</label>`,
    )}</div>${hint}</fieldset>`;
  }
  if (field.kind === 'grouped') return renderGrouped(field, new Set(typed?.getAll(field.path) ?? (value as string[])), { described, hint }); // a list of the API
  if (field.kind === 'picker')
    return renderPicker(field, new Set(typed === undefined ? (value as string[]) : wordsOf(field, typed)), { described, hint }); // a list of the API
  if (isParted(field)) return renderParted(field, value, typed, { described, hint });
  if (field.kind === 'ticks' || field.kind === 'order') return renderTicks(field, value, typed, { described, hint });
  if (field.kind === 'time') return renderTime(field, value, typed, { described, hint });
  if (field.kind === 'limit') return renderLimit(field, value, typed, { described, hint });
  if (field.kind === 'session') return renderSession(field, value, typed, { described, hint });
  const text = typed?.get(field.path) ?? textOf(field, value);
  const label = html`<label for="${id}">${field.label}</label>`;
  if (field.kind === 'select')
    return html`<div class="field">${label}<select name="${field.path}" id="${id}"${described}>${(field.options ?? []).map(
      (option) =>
        html`<option value="${option}"${option === text && html` selected`}>${named(field, option) ?? (option === '' ? '(none)' : option)}</option>`,
    )}</select>${hint}</div>`;
  if (field.kind !== 'text' && field.kind !== 'email' && field.kind !== 'number' && field.kind !== 'password')
    return html`<div class="field">${label}<textarea name="${field.path}" id="${id}"${described}>\n${text}</textarea>${field.kind === 'secret' && removeBox(field.path)}${hint}</div>`;
  const { minimum, maximum } = field.bounds ?? {};
  const bounds =
    field.kind === 'number' &&
    html`${minimum !== undefined && html` min="${String(minimum)}"`}${maximum !== undefined && html` max="${String(maximum)}"`}`;
  const inputType = field.kind;
  const hasList = (field.suggestions ?? []).length > 0;
  return html`<div class="field">${label}<input type="${inputType}" name="${field.path}" id="${id}" value="${text}"${field.kind === 'password' && html` autocomplete="off"`}${bounds}${field.required === true && html` required`}${hasList && html` list="${id}-names"`}${described}>${hasList && html`<datalist id="${id}-names">${field.suggestions!.map((one) => html`<option>${one}`)}</datalist>`}${hint}</div>`;
}

/** What people call an option; its name on the wire is in the tooltip. */
const named = ({ optionLabels }: FormField, option: string): string | undefined => optionLabels?.[option]?.label;

/** The value of an attribute, without quotes where it needs none. */
const bare = (value: string): Html => (/^[a-z_.*]+$/.test(value) ? trusted(value) : html`"${value}"`);

/** Names of two parts, ticked one by one or all of a first part: `user.*`. Groups with a tick are open; what is ticked and not known stays. */
function renderGrouped({ path, label, options = [], optionLabels }: FormField, chosen: ReadonlySet<string>, said: Said): Html {
  const check = (option: string, text: string): Html =>
    html`<label><input type=checkbox name=${bare(path)} value=${bare(option)}${chosen.has(option) && html` checked`}> ${text}</label>`; // hundreds on one page: the script puts a name into its tooltip once somebody points at it
  const known = Map.groupBy(options, (option) => option.split('.', 1)[0]!);
  const groups = [...known].map(([name, own]) => {
    const every = `${name}.*`;
    const ticked = chosen.has(every) ? 'all' : String(own.filter((option) => chosen.has(option)).length);
    const names = own.length === 1 ? own : [every, ...own];
    return html`<details${ticked !== '0' && html` open`}><summary>${optionLabels?.[name]?.label ?? name}${ticked !== '0' && html` (${ticked})`}</summary>${names.map((option) => check(option, optionLabels?.[option]?.label ?? 'All'))}</details>`;
  });
  const others = [...chosen].filter((option) => !options.includes(option) && !known.has(option.replace(/\.\*$/, '')));
  return html`<fieldset class="grouped" id="${idOf(path)}"${said.described}><legend>${label}</legend>${said.hint}<div>${groups}${others.map((option) => check(option, option))}</div></fieldset>`;
}

/** Names to tick, in groups of which those with a tick and the first are open, and a text for others. */
function renderPicker({ path, label, groups = [] }: FormField, chosen: ReadonlySet<string>, said: Said): Html {
  const known = new Set(groups.flatMap(({ options }) => options.map(([option]) => option)));
  const others = [...chosen].filter((option) => !known.has(option));
  return html`<fieldset class="picker" id="${idOf(path)}"${said.described}><legend>${label}</legend>${said.hint}${groups.map(
    ({ name, options, areOurs }, at) => {
      const ticked = options.filter(([option]) => chosen.has(option)).length;
      return html`<details${(at === 0 || ticked > 0) && html` open`}><summary>${name}${ticked > 0 && html` (${ticked})`}</summary><div>${options.map(
        ([option, meaning]) =>
          html`<label class="check"${areOurs === true && html` title="${option}"`}><input type="checkbox" name="${path}" value="${option}"${chosen.has(option) && html` checked`}> ${areOurs !== true && html`<code>${option}</code> `}${meaning}</label>`,
      )}</div></details>`;
    },
  )}<div class="field"><label for="${idOf(path)}-others">Others, one a line</label><textarea name="${path}" id="${idOf(path)}-others" spellcheck="false">\n${others.join('\n')}</textarea></div></fieldset>`;
}

/** What was ticked and what was typed beside it, each once. */
const wordsOf = ({ path }: FormField, typed: Typed): readonly string[] => [
  ...new Set(
    typed
      .getAll(path)
      .flatMap((text) => text.split(/\s+/))
      .filter((word) => word !== ''),
  ),
];

function textOf(field: FormField, value: unknown): string {
  if (value === undefined || value === null || field.kind === 'secret' || field.kind === 'password') return '';
  if (field.kind === 'lines') return Array.isArray(value) ? value.join('\n') : '';
  if (field.kind === 'blocks') return Array.isArray(value) ? value.join('\n') : '';
  if (field.kind === 'json' || field.kind === 'keys') return JSON.stringify(value, null, 2);
  return String(value);
}

type ReadForm = { readonly ok: true; readonly json: Json } | { readonly ok: false; readonly fault: FieldFault };

/** Reads a form back into the JSON of the API. Empty texts are null, what was not asked stays out; what cannot be read is refused here. */
export function readFields(fields: readonly FormField[], typed: Typed): ReadForm {
  const json: Record<string, unknown> = {};
  for (const field of fields) {
    if (!isAsked(field, typed)) continue;
    const read = readField(field, typed);
    if (!read.ok) return { ok: false, fault: { field, text: read.text } };
    put(json, field.path.split('.'), read.value);
  }
  return { ok: true, json };
}

/** Whether the form that was sent has the field: a box that is not ticked is not sent, everything else is. A secret that is not typed stays. */
function isAsked(field: FormField, typed: Typed): boolean {
  const { kind, path } = field;
  if (isParted(field)) return isPartedAsked(field, typed);
  if (kind === 'secret' && isRemoved(path, typed)) return true;
  if (kind === 'secret' || kind === 'password') return (typed.get(path) ?? '').trim() !== '';
  return (
    kind === 'checkbox' ||
    kind === 'checks' ||
    kind === 'grouped' ||
    kind === 'picker' ||
    typed.has(kind === 'limit' ? `${path}.limit` : path)
  );
}

function readField(field: FormField, typed: Typed): ReadValue {
  const text = (typed.get(field.path) ?? '').trim();
  if (isParted(field)) return readParted(field, typed);
  switch (field.kind) {
    case 'checkbox':
      return { ok: true, value: typed.has(field.path) };
    case 'checks':
    case 'grouped':
      return { ok: true, value: typed.getAll(field.path) };
    case 'picker':
      return { ok: true, value: wordsOf(field, typed) };
    case 'ticks':
    case 'order':
      return { ok: true, value: ticksOf(field, typed) };
    case 'time':
      return readTime(field.path, typed);
    case 'limit':
      return readLimit(field.path, typed);
    case 'session':
      return readSession(field.path, typed);
    case 'lines':
      return { ok: true, value: linesOf(text) };
    case 'number':
      return { ok: true, value: text === '' ? null : Number(text) };
    case 'blocks':
      return { ok: true, value: blocksOf(text) };
    case 'json':
    case 'secret':
    case 'keys':
      return readJson(field, isRemoved(field.path, typed) ? '' : text);
    default:
      return { ok: true, value: text === '' ? null : text };
  }
}

/** What was pasted from a file; a single key is a set of one. */
function readJson({ kind }: FormField, text: string): ReadValue {
  try {
    const value = text === '' ? null : JSON.parse(text);
    const isKey = kind === 'keys' && value?.kty !== undefined;
    return { ok: true, value: isKey ? { keys: [value] } : value };
  } catch {
    return {
      ok: false,
      text: kind === 'json' ? 'This is not valid JSON.' : 'This is not the whole file: paste it from its first { to its last }.',
    };
  }
}

/** PEM blocks, one after another; what stands after the last is one too, so that it is refused and not lost. */
const blocksOf = (text: string): readonly string[] =>
  text
    .split(/(?<=-----END [A-Z ]+-----)/)
    .map((block) => block.trim())
    .filter((block) => block !== '');

export const linesOf = (text: string): readonly string[] =>
  text
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter((line) => line !== '');

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
