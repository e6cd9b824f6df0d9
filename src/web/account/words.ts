// The words of the account page, one catalog per language. A catalog that lacks a word does not compile.
import type { Language } from '../../domain/language.ts';
import { de } from './words-de.ts';
import { en } from './words-en.ts';
import { fr } from './words-fr.ts';
import { ja } from './words-ja.ts';

type Widen<T> = { readonly [Key in keyof T]: T[Key] extends string ? string : T[Key] };
export type AccountWords = Widen<typeof en>;

export const accountCatalogs: Readonly<Record<Language, AccountWords>> = { en, de, fr, ja };

export const accountWordsOf = (language: Language): AccountWords => accountCatalogs[language];
