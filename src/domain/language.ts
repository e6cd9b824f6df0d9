// The languages people are addressed in, and which one suits a preference. Catalogs live beside what they word.

export const languages = ['en', 'de', 'fr', 'ja'] as const;
export type Language = (typeof languages)[number];

/**
 * The best language for preferences in order: a space-separated `ui_locales` (OpenID Connect Core 3.1.2.1), an
 * Accept-Language header or one BCP 47 tag. English when none suits.
 */
export function negotiateLanguage(...preferences: readonly (string | null | undefined)[]): Language {
  for (const preference of preferences) {
    for (const tag of tagsOf(preference ?? '')) {
      const primary = tag.split('-', 1)[0];
      const found = languages.find((language) => language === primary);
      if (found !== undefined) return found;
    }
  }
  return 'en';
}

/** What is stored of a person's wishes: SCIM's preferredLanguage and locale. */
interface LanguageWishes {
  readonly preferred_language: string | null;
  readonly locale: string | null;
}

/** The language a person is addressed in: theirs, else what the request asks for, in order; English when none suits. */
export const languageFor = (person: LanguageWishes | undefined, ...ofRequest: readonly (string | null | undefined)[]): Language =>
  negotiateLanguage(person?.preferred_language, person?.locale, ...ofRequest);

const tagsMax = 20;

function tagsOf(preference: string): readonly string[] {
  return preference
    .slice(0, 500)
    .toLowerCase()
    .split(/[\s,]+/)
    .slice(0, tagsMax)
    .map((part) => ({ tag: part.split(';', 1)[0] ?? '', quality: Number(/;q=([0-9.]+)/.exec(part)?.[1] ?? 1) }))
    .filter(({ tag, quality }) => tag !== '' && quality > 0)
    .sort((left, right) => right.quality - left.quality)
    .map(({ tag }) => tag);
}
