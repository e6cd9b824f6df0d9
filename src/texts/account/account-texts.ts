// The texts of the account page, one catalog per language. A catalog that lacks a text does not compile.
import type { Language } from '../../domain/language.ts';
import { de } from './account-texts-de.ts';
import { en } from './account-texts-en.ts';
import { fr } from './account-texts-fr.ts';
import { ja } from './account-texts-ja.ts';

type Widen<T> = { readonly [Key in keyof T]: T[Key] extends string ? string : T[Key] };
export type AccountTexts = Widen<typeof en>;

export const accountCatalogs: Readonly<Record<Language, AccountTexts>> = { en, de, fr, ja };

export const accountTextsOf = (language: Language): AccountTexts => accountCatalogs[language];
