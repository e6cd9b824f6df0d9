// The words of the pages, one catalog per language. A catalog that lacks a word does not compile.
import type { Language } from '../../domain/language.ts';
import { de } from './messages-de.ts';
import { en } from './messages-en.ts';
import { fr } from './messages-fr.ts';
import { ja } from './messages-ja.ts';

type Widen<T> = { readonly [Key in keyof T]: T[Key] extends string ? string : T[Key] };
export type Messages = Widen<typeof en>;

export const messageCatalogs: Readonly<Record<Language, Messages>> = { en, de, fr, ja };

export const messagesOf = (language: Language): Messages => messageCatalogs[language];

/** What a scope lets a client do, or the scope itself when it is not one of OpenID Connect's. */
export function scopeText(messages: Messages, scope: string): string {
  const texts: Readonly<Record<string, string>> = {
    openid: messages.scopeOpenid,
    profile: messages.scopeProfile,
    email: messages.scopeEmail,
    phone: messages.scopePhone,
    address: messages.scopeAddress,
    groups: messages.scopeGroups,
    offline_access: messages.scopeOfflineAccess,
  };
  return Object.hasOwn(texts, scope) ? texts[scope]! : scope;
}
