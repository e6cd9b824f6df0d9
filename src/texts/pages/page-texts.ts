// The texts of the pages, one catalog per language. A catalog that lacks a text does not compile.
import type { Language } from '../../domain/language.ts';
import { de } from './page-texts-de.ts';
import { en } from './page-texts-en.ts';
import { fr } from './page-texts-fr.ts';
import { ja } from './page-texts-ja.ts';

type Widen<T> = { readonly [Key in keyof T]: T[Key] extends string ? string : T[Key] };
export type PageTexts = Widen<typeof en>;

export const pageCatalogs: Readonly<Record<Language, PageTexts>> = { en, de, fr, ja };

export const pageTextsOf = (language: Language): PageTexts => pageCatalogs[language];

/** What a scope lets a client do, or the scope itself when it is not one of OpenID Connect's. */
export function scopeText(messages: PageTexts, scope: string): string {
  const texts: Readonly<Record<string, string>> = {
    openid: messages.scopeOpenid,
    profile: messages.scopeProfile,
    email: messages.scopeEmail,
    phone: messages.scopePhone,
    address: messages.scopeAddress,
    groups: messages.scopeGroups,
    organization: messages.scopeOrganization,
    organizations: messages.scopeOrganizations,
    offline_access: messages.scopeOfflineAccess,
  };
  return Object.hasOwn(texts, scope) ? texts[scope]! : scope;
}
