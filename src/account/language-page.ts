// Account page on which people choose the language they are addressed in, on pages and in mails.
import type { FastifyReply } from 'fastify';
import { setLanguage } from '../administration/people/own-account.ts';
import { type Language, languages } from '../domain/language.ts';
import type { Typed } from '../first-party/app-form.ts';
import { csrfField, type Notice } from '../first-party/app-page.ts';
import { html } from '../platform/html.ts';
import { type AccountVisit, goTo, pathTo, selfOf, showPage } from './account-visit.ts';

/** Each in its own language, so that everybody finds theirs. */
const names: Readonly<Record<Language, string>> = { en: 'English', de: 'Deutsch', fr: 'Français', ja: '日本語' };
const automatic = 'auto';

export function languagePage(visit: AccountVisit, typed?: string, notice?: Notice): FastifyReply {
  const { words, session, user } = visit;
  const chosen = typed ?? languages.find((language) => user.preferred_language?.toLowerCase().split('-', 1)[0] === language) ?? automatic;
  const option = (value: string, name: string, lang?: string): ReturnType<typeof html> =>
    html`<label class="check"${lang !== undefined && html` lang="${lang}"`}><input type="radio" name="language" value="${value}"${chosen === value && html` checked`}>${name}</label>`;
  return showPage(
    visit,
    words.language,
    html`<form class="card" method="post" action="${pathTo(visit, '/language')}">${csrfField(session)}
<fieldset><legend>${words.languageLead}</legend>${languages.map((language) => option(language, names[language], language))}${option(automatic, words.languageAutomatic)}</fieldset>
<button id="save">${words.save}</button></form>`,
    notice === undefined ? {} : { notice },
  );
}

export async function changeLanguage(visit: AccountVisit, typed: Typed): Promise<FastifyReply> {
  const value = typed.get('language') ?? '';
  const language = languages.find((known) => known === value);
  if (language === undefined && value !== automatic) return languagePage(visit, value, { kind: 'bad', text: visit.words.badLanguage });
  const done = await setLanguage(visit.services, selfOf(visit), language ?? null);
  if (!done.ok) return languagePage(visit, value, { kind: 'bad', text: visit.words.detailManaged });
  return goTo(visit, '/language', 'doneSaved');
}
