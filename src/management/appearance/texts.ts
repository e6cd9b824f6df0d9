// `/texts/{language}`: what the sign-in says in the tenant's words, per step (design 13, 3). The fields are in
// domain/appearance/login-texts.ts.
import { changeOf, oneOf, propertiesOf } from '../../administration/schema-pieces.ts';
import { loginTextFields, loginTextsFault, readLoginTexts } from '../../domain/appearance/login-texts.ts';
import { type Language, languages } from '../../domain/language.ts';
import { type Endpoint, notFound } from '../endpoint.ts';
import { customizationEndpoints } from './customization.ts';

/** @throws management.not_found */
export function languageOf(text: string | undefined): Language {
  const language = languages.find((one) => one === text);
  if (language === undefined) throw notFound('unknown_language');
  return language;
}

export const textEndpoints: readonly Endpoint[] = customizationEndpoints({
  path: '/texts/:language',
  noun: 'the sign-in’s texts in a language',
  read: 'branding:read',
  write: 'branding:write',
  body: changeOf(propertiesOf(loginTextFields)),
  keyOf: ({ language }) => ({ kind: 'texts', name: languageOf(language) }),
  accept: (_key, body) => {
    const draft = readLoginTexts(body);
    const fault = loginTextsFault(draft);
    return fault === undefined ? { draft } : { fault };
  },
  about: ({ name }) => ({ language: name }),
  aboutSchema: { language: oneOf(languages) },
});
