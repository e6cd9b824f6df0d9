// The words of the page that makes an administrator, one catalog per language. A catalog that lacks a word does not compile.
import type { Language } from '../domain/language.ts';

export interface SetupWords {
  readonly title: string;
  readonly email: string;
  readonly name: string;
  readonly code: string;
  readonly continue: string;
  readonly usedLink: string;
  readonly badEmail: string;
  readonly emailTaken: string;
  readonly badForm: string;
  readonly doneTitle: string;
  readonly doneText: string;
  readonly qrLabel: string;
  readonly enrollHere: string;
  readonly byMail: string;
  /** Above the command that makes the simulator the phone; shown while trying things out. */
  readonly simulator: string;
  readonly openConsole: string;
  readonly lead: (tenant: string) => string;
}

export const setupCatalogs: Readonly<Record<Language, SetupWords>> = {
  en: {
    title: 'Set up the administrator',
    email: 'Email',
    name: 'Name',
    code: 'Code of the link, after the #',
    continue: 'Continue',
    usedLink: 'This link was used before, has expired or is not complete.',
    badEmail: 'Enter an email address such as ada@example.com.',
    emailTaken: 'The email address is in use.',
    badForm: 'Check what you entered.',
    doneTitle: 'You are the administrator',
    doneText: 'Enrol your phone: scan this with the app. It works once.',
    qrLabel: 'QR code of the enrolment link',
    enrollHere: 'Enrol on this phone',
    byMail: 'You can also sign in with a code sent to your email.',
    simulator: 'No phone at hand? The simulator is one. In a terminal:',
    openConsole: 'Open the console',
    lead: (tenant) => `This makes the first person who manages ${tenant}. The link works once.`,
  },
  de: {
    title: 'Administration einrichten',
    email: 'E-Mail',
    name: 'Name',
    code: 'Code des Links, hinter dem #',
    continue: 'Weiter',
    usedLink: 'Dieser Link wurde schon benutzt, ist abgelaufen oder unvollständig.',
    badEmail: 'Geben Sie eine E-Mail-Adresse ein, zum Beispiel ada@example.com.',
    emailTaken: 'Die E-Mail-Adresse ist vergeben.',
    badForm: 'Prüfen Sie Ihre Eingaben.',
    doneTitle: 'Sie sind Administrator',
    doneText: 'Richten Sie Ihr Telefon ein: Scannen Sie dies mit der App. Es gilt einmal.',
    qrLabel: 'QR-Code des Links zum Einrichten',
    enrollHere: 'Dieses Telefon einrichten',
    byMail: 'Sie können sich auch mit einem Code per E-Mail anmelden.',
    simulator: 'Kein Telefon zur Hand? Der Simulator ist eines. In einem Terminal:',
    openConsole: 'Konsole öffnen',
    lead: (tenant) => `Hier entsteht die erste Person, die ${tenant} verwaltet. Der Link gilt einmal.`,
  },
  fr: {
    title: 'Configurer l’administrateur',
    email: 'E-mail',
    name: 'Nom',
    code: 'Code du lien, après le #',
    continue: 'Continuer',
    usedLink: 'Ce lien a déjà servi, a expiré ou est incomplet.',
    badEmail: 'Saisissez une adresse e-mail, par exemple ada@example.com.',
    emailTaken: 'L’adresse e-mail est déjà utilisée.',
    badForm: 'Vérifiez votre saisie.',
    doneTitle: 'Vous êtes l’administrateur',
    doneText: 'Enregistrez votre téléphone : scannez ceci avec l’application. Valable une fois.',
    qrLabel: 'Code QR du lien d’enregistrement',
    enrollHere: 'Enregistrer ce téléphone',
    byMail: 'Vous pouvez aussi vous connecter avec un code envoyé par e-mail.',
    simulator: 'Pas de téléphone ? Le simulateur en est un. Dans un terminal :',
    openConsole: 'Ouvrir la console',
    lead: (tenant) => `Ceci crée la première personne qui gère ${tenant}. Le lien ne fonctionne qu’une fois.`,
  },
  ja: {
    title: '管理者の設定',
    email: 'メールアドレス',
    name: '名前',
    code: 'リンクの # 以降のコード',
    continue: '続ける',
    usedLink: 'このリンクは使用済みか、期限切れか、不完全です。',
    badEmail: 'ada@example.com のようなメールアドレスを入力してください。',
    emailTaken: 'このメールアドレスは使用されています。',
    badForm: '入力内容を確認してください。',
    doneTitle: '管理者になりました',
    doneText: 'スマートフォンを登録します。アプリで読み取ってください。一度だけ有効です。',
    qrLabel: '登録用リンクの QR コード',
    enrollHere: 'このスマートフォンを登録',
    byMail: 'メールで届くコードでもサインインできます。',
    simulator: 'スマートフォンがない場合は、シミュレーターが代わりになります。ターミナルで次を実行します。',
    openConsole: 'コンソールを開く',
    lead: (tenant) => `${tenant} を管理する最初の利用者を作成します。リンクは一度だけ有効です。`,
  },
};
