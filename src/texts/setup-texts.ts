// The texts of the page that makes an administrator, one catalog per language. A catalog that lacks a text does not compile.
import type { Language } from '../domain/language.ts';

export interface SetupTexts {
  readonly title: string;
  readonly recoveryTitle: string;
  readonly email: string;
  readonly name: string;
  readonly code: string;
  readonly continue: string;
  readonly usedLink: string;
  readonly badEmail: string;
  readonly emailTaken: string;
  readonly badForm: string;
  readonly lead: (tenant: string) => string;
}

export const setupCatalogs: Readonly<Record<Language, SetupTexts>> = {
  en: {
    title: 'Set up the administrator',
    recoveryTitle: 'Get back into your account',
    email: 'Email',
    name: 'Name',
    code: 'Code of the link, after the #',
    continue: 'Continue',
    usedLink: 'This link was used before, has expired or is not complete.',
    badEmail: 'Enter an email address such as ada@example.com.',
    emailTaken: 'The email address is in use.',
    badForm: 'Check what you entered.',
    lead: (tenant) => `This makes the first person who manages ${tenant}. The link works once.`,
  },
  de: {
    title: 'Administration einrichten',
    recoveryTitle: 'Zurück in Ihr Konto',
    email: 'E-Mail',
    name: 'Name',
    code: 'Code des Links, hinter dem #',
    continue: 'Weiter',
    usedLink: 'Dieser Link wurde schon benutzt, ist abgelaufen oder unvollständig.',
    badEmail: 'Geben Sie eine E-Mail-Adresse ein, zum Beispiel ada@example.com.',
    emailTaken: 'Die E-Mail-Adresse ist vergeben.',
    badForm: 'Prüfen Sie Ihre Eingaben.',
    lead: (tenant) => `Hier entsteht die erste Person, die ${tenant} verwaltet. Der Link gilt einmal.`,
  },
  fr: {
    title: 'Configurer l’administrateur',
    recoveryTitle: 'Retrouver l’accès à votre compte',
    email: 'E-mail',
    name: 'Nom',
    code: 'Code du lien, après le #',
    continue: 'Continuer',
    usedLink: 'Ce lien a déjà servi, a expiré ou est incomplet.',
    badEmail: 'Saisissez une adresse e-mail, par exemple ada@example.com.',
    emailTaken: 'L’adresse e-mail est déjà utilisée.',
    badForm: 'Vérifiez votre saisie.',
    lead: (tenant) => `Ceci crée la première personne qui gère ${tenant}. Le lien ne fonctionne qu’une fois.`,
  },
  ja: {
    title: '管理者の設定',
    recoveryTitle: 'アカウントへのアクセスを回復',
    email: 'メールアドレス',
    name: '名前',
    code: 'リンクの # 以降のコード',
    continue: '続ける',
    usedLink: 'このリンクは使用済みか、期限切れか、不完全です。',
    badEmail: 'ada@example.com のようなメールアドレスを入力してください。',
    emailTaken: 'このメールアドレスは使用されています。',
    badForm: '入力内容を確認してください。',
    lead: (tenant) => `${tenant} を管理する最初の利用者を作成します。リンクは一度だけ有効です。`,
  },
};
