// Counted texts by the plural rules of a language (CLDR, as Node has them).
import type { Language } from '../domain/language.ts';

const rules = new Map<Language, Intl.PluralRules>();

/** The form of a count; `other` where the language has no form of its own for it. */
export function plural(language: Language, count: number, forms: { readonly one?: string; readonly other: string }): string {
  let known = rules.get(language);
  if (known === undefined) {
    known = new Intl.PluralRules(language);
    rules.set(language, known);
  }
  return (known.select(count) === 'one' ? forms.one : undefined) ?? forms.other;
}
