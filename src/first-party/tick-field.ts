// Some of a few names to tick, each with a line on what it means; where their order counts, each with its place. A form that does not
// have the field leaves it alone: beside the boxes stands one name without a value.
import { type Html, html } from '../platform/html.ts';
import type { Typed } from './app-form.ts';
import type { Said } from './time-field.ts';

interface TickField {
  readonly path: string;
  readonly label: string;
  readonly kind: string;
  readonly isNamedAbove?: true;
  readonly options?: readonly string[];
  readonly optionLabels?: Readonly<Record<string, { readonly label: string; readonly help?: string }>> | undefined;
}

const idOf = (path: string): string => `field-${path.replaceAll('.', '-')}`;
const placeName = (path: string, option: string): string => `${path}.place.${option}`;

/** The names, the chosen ones first where the order counts. */
function ordered({ kind, options = [] }: TickField, chosen: readonly string[]): readonly string[] {
  if (kind !== 'order') return options;
  return [...chosen.filter((one) => options.includes(one)), ...options.filter((one) => !chosen.includes(one))];
}

export function renderTicks(field: TickField, value: unknown, typed: Typed | undefined, said: Said): Html {
  const { path, label, kind, isNamedAbove, options = [], optionLabels } = field;
  const chosen = typed === undefined ? ((value ?? []) as readonly string[]) : ticksOf(field, typed); // a list of the API
  const places = options.map((_, at) => String(at + 1));
  const place = (option: string, at: number): Html | false =>
    kind === 'order' &&
    html`<label class="place">Place <span class="hidden">of ${optionLabels?.[option]?.label ?? option}</span><select name="${placeName(path, option)}" id="${idOf(placeName(path, option))}">${places.map((one) => html`<option${one === String(at + 1) && html` selected`}>${one}</option>`)}</select></label>`;
  return html`<fieldset class="ticks" id="${idOf(path)}"${said.described}><legend${isNamedAbove === true && html` class="hidden"`}>${label}</legend><input type="hidden" name="${path}" value="">${ordered(
    field,
    chosen,
  ).map((option, at) => {
    const { label: name = option, help } = optionLabels?.[option] ?? {};
    const helpId = `${idOf(path)}-${option.replaceAll(/[^a-z0-9]/gi, '-')}-help`;
    return html`<div class="tick"><label class="check"><input type="checkbox" name="${path}" value="${option}"${chosen.includes(option) && html` checked`}${help !== undefined && html` aria-describedby="${helpId}"`}> <span><b>${name}</b>${help !== undefined && html`<span class="hint" id="${helpId}">${help}</span>`}</span></label>${place(option, at)}</div>`;
  })}${said.hint}</fieldset>`;
}

/** What was ticked, in the order of the places that were chosen. Of two at one place the one that was moved there goes before, or behind when it was moved down. */
export function ticksOf({ path, kind }: TickField, typed: Typed): readonly string[] {
  const ticked = [
    ...new Set(
      typed
        .getAll(path)
        .flatMap((text) => text.split(/\s+/))
        .filter((one) => one !== ''),
    ),
  ];
  if (kind !== 'order') return ticked;
  const shown = [...typed.keys()].filter((name) => name.startsWith(placeName(path, '')));
  const rank = (option: string): number => {
    const was = shown.indexOf(placeName(path, option)) + 1;
    const place = Number(typed.get(placeName(path, option)) ?? 0) || 0;
    return place + Math.sign(place - was) / 2;
  };
  return ticked.toSorted((left, right) => rank(left) - rank(right));
}
