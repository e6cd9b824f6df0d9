// Templates of mapping rules: text with `{value}` and `{path}`s; `{{` and `}}` are braces. Read in one pass from left to right. Pure.

export type Template = readonly (string | { readonly path: string })[];
type TemplateReading =
  | { readonly ok: true; readonly parts: Template }
  | { readonly ok: false; readonly reason: 'brace_open' | 'brace_alone' };

/** Reads a template into texts and placeholders. */
export function readTemplate(template: string): TemplateReading {
  const parts: (string | { readonly path: string })[] = [];
  let text = '';
  let at = 0;
  while (at < template.length) {
    const letter = template[at]!;
    if ((letter === '{' || letter === '}') && template[at + 1] === letter) {
      text += letter;
      at += 2;
    } else if (letter === '{') {
      const end = template.indexOf('}', at);
      if (end < 0) return { ok: false, reason: 'brace_open' };
      if (text !== '') parts.push(text);
      parts.push({ path: template.slice(at + 1, end) });
      text = '';
      at = end + 1;
    } else if (letter === '}') return { ok: false, reason: 'brace_alone' };
    else {
      text += letter;
      at += 1;
    }
  }
  return { ok: true, parts: text === '' ? parts : [...parts, text] };
}

export const placeholdersOf = (parts: Template): readonly string[] =>
  parts.flatMap((part) => (typeof part === 'string' ? [] : [part.path]));

/** A placeholder that stands for the value a rule has so far. */
export const valuePlaceholder = 'value';
