// The words of the page that carries the web phone, before its app has any of its own.
import type { Language } from '../domain/language.ts';

interface PhonePageTexts {
  readonly title: string;
  readonly approve: string;
  readonly needsScript: string;
}

export const phonePageTexts: Readonly<Record<Language, PhonePageTexts>> = {
  en: {
    title: 'Phone in this browser',
    approve: 'Approve in this browser',
    needsScript: 'The phone in your browser needs scripts. Switch them on, or use the app.',
  },
  de: {
    title: 'Telefon in diesem Browser',
    approve: 'In diesem Browser bestätigen',
    needsScript: 'Das Telefon im Browser braucht Skripte. Schalten Sie sie ein oder nehmen Sie die App.',
  },
  fr: {
    title: 'Téléphone dans ce navigateur',
    approve: 'Approuver dans ce navigateur',
    needsScript: 'Le téléphone dans le navigateur a besoin de scripts. Activez-les ou utilisez l’application.',
  },
  ja: {
    title: 'このブラウザーをスマートフォンに',
    approve: 'このブラウザーで承認する',
    needsScript: 'ブラウザーをスマートフォンとして使うにはスクリプトが必要です。有効にするか、アプリをお使いください。',
  },
};
