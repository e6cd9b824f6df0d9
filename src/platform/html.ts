// HTML as a tagged template that escapes every value. Only what this file made may pass unescaped; nothing here knows a page.

/** Markup that is safe to send. */
export interface Html {
  readonly markup: string;
}

type HtmlValue = Html | string | number | undefined | false | readonly HtmlValue[];

/** They turn the order of what follows, far beyond the name that holds them (Unicode TR 9, 2). */
const directionControls = /[\u202a-\u202e\u2066-\u2069]/g;

/** A name that somebody else gave, for a page on which people decide by it. Forms show a name as it is stored. */
export const withoutDirectionControls = (name: string): string => name.replace(directionControls, '');

/** Escapes text for element content and for attributes in quotes. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"'`]/g, (char) => `&#${char.charCodeAt(0)};`);
}

/** html`<p>${value}</p>`: values are escaped, nested templates and lists of them are not escaped again; undefined and false vanish. */
export function html(parts: TemplateStringsArray, ...values: readonly HtmlValue[]): Html {
  let markup = parts[0] ?? '';
  values.forEach((value, index) => {
    markup += render(value) + (parts[index + 1] ?? '');
  });
  return { markup };
}

/** Markup written by us in the source, e.g. a style sheet. Never pass anything that came from outside. */
export const trusted = (markup: string): Html => ({ markup });

function render(value: HtmlValue): string {
  if (value === undefined || value === false) return '';
  if (typeof value === 'string' || typeof value === 'number') return escapeHtml(String(value));
  if ('markup' in value) return value.markup;
  return value.map(render).join('');
}
