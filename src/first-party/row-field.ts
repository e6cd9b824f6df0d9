// Fields of console forms whose value is a list of objects, a map or an object: a row each, with an input for every part of it, so that
// nobody types JSON. Some rows are empty, to be filled in or left out; saved, there are more. Plain inputs; no script.
import type { Json, Part } from '../domain/field.ts';
import { type Html, html } from '../platform/html.ts';
import type { Typed } from './app-form.ts';

/** What of a form's field is needed here. */
interface PartedField {
  readonly path: string;
  readonly label: string;
  readonly kind: string;
  readonly parts?: readonly Part[];
}

export type PartedKind = 'rows' | 'pairs' | 'parts' | 'secret-parts';
export type ReadValue = { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly text: string };

type Row = Readonly<Record<string, unknown>>;

const emptyRows = 2;
const rowsMax = 1_000;
const kinds: ReadonlySet<string> = new Set<PartedKind>(['rows', 'pairs', 'parts', 'secret-parts']);

export const isParted = ({ kind }: Pick<PartedField, 'kind'>): boolean => kinds.has(kind);

const partsOf = ({ parts = [] }: PartedField): readonly Part[] => parts;
const idOf = (name: string): string => `field-${name.replaceAll('.', '-')}`;
const removeName = (path: string): string => `${path}.remove`;

/** The inputs of a field, holding what was typed before or else its value. */
export function renderParted(field: PartedField, value: unknown, typed: Typed | undefined, said: { described: Html; hint: Html }): Html {
  const { path, label, kind } = field;
  const inputs =
    kind === 'rows' || kind === 'pairs' ? renderRows(field, value, typed) : renderParts(field, path, shownParts(field, value, typed));
  return html`<fieldset class="rows" id="${idOf(path)}"${said.described}><legend>${label}</legend><input type="hidden" name="${path}" value="${kind}">${inputs}${
    kind === 'secret-parts' && removeBox(path)
  }${said.hint}</fieldset>`;
}

/** Takes away a secret that is stored. */
export const removeBox = (path: string): Html =>
  html`<label class="check"><input type="checkbox" name="${removeName(path)}" id="${idOf(removeName(path))}" value="yes"> Remove what is stored</label>`;

export const isRemoved = (path: string, typed: Typed): boolean => typed.has(removeName(path));

function renderRows(field: PartedField, value: unknown, typed: Typed | undefined): Html {
  const known = typed?.get(field.path) === field.kind ? rowsTyped(field, typed) : rowsOf(field, value);
  const rows = [...known, ...Array.from({ length: emptyRows }, (): Row => ({}))];
  const lists = partsOf(field).filter(({ names, input }) => names !== undefined && input === 'text');
  return html`${rows.map(
    (row, index) =>
      html`<div class="row" role="group" aria-label="${field.label} ${String(index + 1)}">${renderParts(field, `${field.path}.${index}`, row)}</div>`,
  )}${lists.map(({ name, names }) => html`<datalist id="${idOf(`${field.path}.${name}`)}-names">${names!.map((one) => html`<option value="${one}">`)}</datalist>`)}<p class="hint">Empty rows are left out. Saved, there are more.</p>`;
}

function renderParts(field: PartedField, at: string, row: Row): Html {
  return html`${partsOf(field).map((part) => renderPart(field, part, `${at}.${part.name}`, row[part.name]))}`;
}

function renderPart(field: PartedField, { name, label, input, names }: Part, at: string, value: unknown): Html {
  const id = idOf(at);
  const text = Array.isArray(value) ? value.join(' ') : String(value ?? '');
  if (input === 'checkbox')
    return html`<label class="check"><input type="checkbox" name="${at}" id="${id}" value="yes"${value === true && html` checked`}> ${label}</label>`;
  const control =
    input === 'select'
      ? html`<select name="${at}" id="${id}">${(names ?? []).map((one) => html`<option value="${one}"${one === text && html` selected`}>${one === '' ? '(none)' : one}</option>`)}</select>`
      : input === 'paragraph'
        ? html`<textarea name="${at}" id="${id}" spellcheck="false" autocomplete="off">\n${text}</textarea>`
        : html`<input type="${input === 'number' ? 'number' : 'text'}" name="${at}" id="${id}" value="${text}" spellcheck="false" autocomplete="off"${names !== undefined && html` list="${idOf(`${field.path}.${name}`)}-names"`}>`;
  return html`<div><label for="${id}">${label}</label>${control}</div>`;
}

function shownParts(field: PartedField, value: unknown, typed: Typed | undefined): Row {
  if (typed?.get(field.path) === field.kind) return rowTyped(field, field.path, typed);
  return field.kind === 'secret-parts' ? {} : ((value ?? {}) as Row); // the API's shape
}

/** The rows of a value: of a map, a pair each. */
function rowsOf(field: PartedField, value: unknown): readonly Row[] {
  if (field.kind === 'rows') return (value ?? []) as readonly Row[]; // the API's shape
  const [key, told] = partsOf(field);
  return Object.entries((value ?? {}) as Json).map(([name, one]) => ({ [key!.name]: name, [told!.name]: one }));
}

const rowTyped = (field: PartedField, at: string, typed: Typed): Row =>
  Object.fromEntries(
    partsOf(field).map(({ name, input }) => [
      name,
      input === 'checkbox' ? typed.has(`${at}.${name}`) : (typed.get(`${at}.${name}`) ?? '').trim(),
    ]),
  );

/** Every row that was filled in, in the order of the form. */
function rowsTyped(field: PartedField, typed: Typed): readonly Row[] {
  const names = new Set(partsOf(field).map(({ name }) => name));
  const indices = new Set<number>();
  for (const key of typed.keys()) {
    const [index, name] = key.startsWith(`${field.path}.`) ? key.slice(field.path.length + 1).split('.') : [];
    if (index !== undefined && /^\d{1,3}$/.test(index) && names.has(name ?? '')) indices.add(Number(index));
  }
  return [...indices]
    .toSorted((left, right) => left - right)
    .slice(0, rowsMax)
    .map((index) => rowTyped(field, `${field.path}.${index}`, typed))
    .filter((row) => partsOf(field).some(({ name, input }) => input !== 'checkbox' && row[name] !== ''));
}

/** What of parts was typed, as the API has it: empty ones stay out. */
const jsonOfRow = (field: PartedField, row: Row): Json =>
  Object.fromEntries(
    partsOf(field)
      .filter(({ name }) => row[name] !== '')
      .map(({ name, input }) => {
        const value = row[name];
        return [name, input === 'number' ? Number(value) : input === 'words' ? String(value).split(/[\s,]+/) : value];
      }),
  );

/** True when the form has something to say about the field: a secret nothing is typed of stays. */
export const isPartedAsked = (field: PartedField, typed: Typed): boolean =>
  field.kind === 'secret-parts'
    ? isRemoved(field.path, typed) || Object.keys(jsonOfRow(field, rowTyped(field, field.path, typed))).length > 0
    : typed.has(field.path);

/** The value of the API that was typed. */
export function readParted(field: PartedField, typed: Typed): ReadValue {
  if (field.kind === 'secret-parts' && isRemoved(field.path, typed)) return { ok: true, value: null };
  if (field.kind === 'parts' || field.kind === 'secret-parts')
    return { ok: true, value: jsonOfRow(field, rowTyped(field, field.path, typed)) };
  const rows = rowsTyped(field, typed).map((row) => jsonOfRow(field, row));
  return field.kind === 'rows' ? { ok: true, value: rows } : readPairs(field, rows);
}

function readPairs(field: PartedField, rows: readonly Json[]): ReadValue {
  const [key, told] = partsOf(field);
  const pairs = rows.map((row) => [row[key!.name], row[told!.name]] as const);
  const half = pairs.findIndex((pair) => pair.includes(undefined));
  if (half >= 0)
    return { ok: false, text: `Row ${half + 1}: both ${key!.label.toLowerCase()} and ${told!.label.toLowerCase()} are needed.` };
  const twice = pairs.findIndex(([name], index) => pairs.findIndex(([other]) => other === name) < index);
  if (twice >= 0) return { ok: false, text: `Row ${twice + 1}: ${String(pairs[twice]![0])} is there twice.` };
  return { ok: true, value: Object.fromEntries(pairs) };
}

/** Which of several rows is wrong by itself, counted from 1; 0 where that cannot be told. */
export function wrongRow(field: PartedField, typed: Typed, isWrong: (value: unknown) => boolean): number {
  const read = readParted(field, typed);
  if (!read.ok || (field.kind !== 'rows' && field.kind !== 'pairs')) return 0;
  const each =
    field.kind === 'rows'
      ? (read.value as readonly Json[]).map((row) => [row])
      : Object.entries(read.value as Json).map(([name, one]) => ({ [name]: one }));
  return each.length > 1 ? each.findIndex((one) => isWrong(one)) + 1 : 0;
}
