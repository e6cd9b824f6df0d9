// Names of a tenant's links at the foot of pages and mails.
import type { Language } from '../domain/language.ts';

interface BrandTexts {
  readonly help: string;
  readonly terms: string;
  readonly privacy: string;
}

export const brandTexts: Readonly<Record<Language, BrandTexts>> = {
  en: { help: 'Help', terms: 'Terms', privacy: 'Privacy' },
  de: { help: 'Hilfe', terms: 'Nutzungsbedingungen', privacy: 'Datenschutz' },
  fr: { help: 'Aide', terms: 'Conditions', privacy: 'Confidentialité' },
  ja: { help: 'ヘルプ', terms: '利用規約', privacy: 'プライバシー' },
};
