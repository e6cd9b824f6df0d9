// The one sentence a push shows. It is the same for everybody: nothing of the person, the client or the request is in a push.
import type { Language } from '../domain/language.ts';

interface PushTexts {
  readonly approval: string;
  /** Somebody made a link that replaces the phones of the account. */
  readonly recovery: string;
  readonly test: string;
}

export const pushTexts: Readonly<Record<Language, PushTexts>> = {
  en: {
    approval: 'A request waits for your decision.',
    recovery: 'Your account is being recovered. If that is not you, stop it: see your mail.',
    test: 'This is a test: notifications reach this phone.',
  },
  de: {
    approval: 'Eine Anfrage wartet auf Ihre Entscheidung.',
    recovery: 'Ihr Konto wird wiederhergestellt. Wenn Sie das nicht sind, halten Sie es an: siehe E-Mail.',
    test: 'Dies ist ein Test: Mitteilungen erreichen dieses Telefon.',
  },
  fr: {
    approval: 'Une demande attend votre décision.',
    recovery: 'Votre compte est en cours de récupération. Si ce n’est pas vous, arrêtez-la : voyez votre e-mail.',
    test: 'Ceci est un test : les notifications atteignent ce téléphone.',
  },
  ja: {
    approval: '承認待ちのリクエストがあります。',
    recovery: 'アカウントが復旧されようとしています。お心当たりがない場合は、メールから中止してください。',
    test: 'これはテストです。このスマートフォンに通知が届いています。',
  },
};
