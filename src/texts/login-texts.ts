// The texts of the sign-in as a tenant words them: the built-in ones, with its own in their place.
import { builtInTexts, type LoginStep, type LoginTexts, loginSteps } from '../domain/appearance/login-texts.ts';
import type { Language } from '../domain/language.ts';
import type { Tenant } from '../domain/tenant/tenant.ts';
import { type PageTexts, pageTextsOf } from './pages/page-texts.ts';

/** What a step says in place of the built-in texts, by their names. */
function replaced(step: LoginStep, own: LoginTexts): readonly (readonly [string, string])[] {
  const texts = own[step] ?? {};
  return Object.entries(builtInTexts[step]).flatMap(([name, key]) => (texts[name] === undefined ? [] : [[key, texts[name]] as const]));
}

/** Every text of the pages, in the tenant's words. */
export function loginTextsOf({ texts }: Pick<Tenant, 'texts'>, language: Language): PageTexts {
  const own = texts[language];
  if (own === undefined) return pageTextsOf(language);
  return { ...pageTextsOf(language), ...Object.fromEntries(loginSteps.flatMap((step) => replaced(step, own))) };
}

/** The paragraph below a step. */
export const noteOf = ({ texts }: Pick<Tenant, 'texts'>, language: Language, step: string): string | undefined =>
  texts[language]?.[step as LoginStep]?.['note'];

/** The built-in text that a field of a step takes the place of, for who words it. */
export function builtInText(language: Language, step: LoginStep, name: string): string | undefined {
  const key = (builtInTexts[step] as Readonly<Record<string, keyof PageTexts>>)[name];
  const text = key === undefined ? undefined : pageTextsOf(language)[key];
  return typeof text === 'string' ? text : undefined;
}
