// The texts of the page an invitation opens, one catalog per language. A catalog that lacks a text does not compile.
import type { Language } from '../domain/language.ts';

export interface WelcomeTexts {
  readonly title: (tenant: string) => string;
  readonly lead: string;
  readonly code: string;
  readonly continue: string;
  readonly usedLink: string;
  readonly addTitle: (name: string) => string;
  readonly addLead: (tenant: string) => string;
  readonly passkeyTitle: string;
  readonly passkeyText: string;
  readonly passkeyAdded: string;
  readonly phoneTitle: string;
  readonly phoneText: string;
  readonly phoneAdded: string;
  /** The button after a phone was added, or when its code ran out. */
  readonly anotherPhone: string;
  readonly qrLabel: string;
  readonly enrollHere: string;
  readonly webPhone: string;
  readonly byMail: string;
  /** Above the command that makes the simulator the phone; shown while trying things out. */
  readonly simulator: string;
  readonly checkAgain: string;
  readonly openConsole: string;
  readonly openAccount: string;
  readonly recoveryLead: string;
  readonly phonesRevoked: string;
  readonly stopTitle: string;
  readonly stopText: string;
  readonly stopCode: string;
  readonly stopNow: string;
  readonly stopUnknown: string;
  readonly stoppedTitle: string;
  readonly stoppedText: string;
}

export const welcomeCatalogs: Readonly<Record<Language, WelcomeTexts>> = {
  en: {
    title: (tenant) => `Welcome to ${tenant}`,
    lead: 'Continue, then choose how you sign in. The link works once.',
    code: 'Code of the link, after the #',
    continue: 'Continue',
    usedLink: 'This link was used before, has expired or is not complete. Ask for a new invitation.',
    addTitle: (name) => `Welcome, ${name}`,
    addLead: (tenant) => `Choose how you sign in to ${tenant}. You can have both.`,
    passkeyTitle: 'Passkey',
    passkeyText: 'Sign in with your fingerprint, face or the code of this device.',
    passkeyAdded: 'Passkey added.',
    phoneTitle: 'Phone',
    phoneText: 'Approve sign-ins on your phone: scan this with the app. It works once.',
    phoneAdded: 'Phone added.',
    anotherPhone: 'Add another phone',
    qrLabel: 'QR code of the enrolment link',
    enrollHere: 'Open in the app on this phone',
    webPhone: 'Use this browser as the phone',
    byMail: 'You can also sign in with a code sent to your email.',
    simulator: 'No phone at hand? The simulator is one. In a terminal:',
    checkAgain: 'I have added it',
    openConsole: 'Open the console',
    openAccount: 'Open your account',
    recoveryLead: 'Continue to add a passkey or your new phone. Your old phones then stop working. The link works once.',
    phonesRevoked: 'Your old phones no longer work.',
    stopTitle: 'Was that not you?',
    stopText:
      'An administrator made a link that replaces your phones. If you did not ask for it, stop it: the link ends, and what was added with it is removed.',
    stopCode: 'Code of the link, after token=',
    stopNow: 'Stop it',
    stopUnknown: 'This link is not complete, or too old to stop anything. Tell your administrator.',
    stoppedTitle: 'It was stopped',
    stoppedText: 'The link no longer works, and what was added with it is gone. Tell your administrator what happened.',
  },
  de: {
    title: (tenant) => `Willkommen bei ${tenant}`,
    lead: 'Weiter geht es zur Wahl, wie Sie sich anmelden. Der Link gilt einmal.',
    code: 'Code des Links, hinter dem #',
    continue: 'Weiter',
    usedLink: 'Dieser Link wurde schon benutzt, ist abgelaufen oder unvollständig. Bitten Sie um eine neue Einladung.',
    addTitle: (name) => `Willkommen, ${name}`,
    addLead: (tenant) => `Wählen Sie, wie Sie sich bei ${tenant} anmelden. Beides zusammen geht auch.`,
    passkeyTitle: 'Passkey',
    passkeyText: 'Melden Sie sich mit Fingerabdruck, Gesicht oder dem Code dieses Geräts an.',
    passkeyAdded: 'Passkey hinzugefügt.',
    phoneTitle: 'Telefon',
    phoneText: 'Bestätigen Sie Anmeldungen auf Ihrem Telefon: Scannen Sie dies mit der App. Es gilt einmal.',
    phoneAdded: 'Telefon hinzugefügt.',
    anotherPhone: 'Weiteres Telefon hinzufügen',
    qrLabel: 'QR-Code des Registrierungslinks',
    enrollHere: 'In der App auf diesem Telefon öffnen',
    webPhone: 'Diesen Browser als Telefon benutzen',
    byMail: 'Sie können sich auch mit einem Code anmelden, den Sie per E-Mail bekommen.',
    simulator: 'Kein Telefon zur Hand? Der Simulator ist eines. In einem Terminal:',
    checkAgain: 'Ich habe es hinzugefügt',
    openConsole: 'Konsole öffnen',
    openAccount: 'Ihr Konto öffnen',
    recoveryLead:
      'Fahren Sie fort und fügen Sie einen Passkey oder Ihr neues Telefon hinzu. Ihre alten Telefone gelten dann nicht mehr. Der Link gilt einmal.',
    phonesRevoked: 'Ihre alten Telefone gelten nicht mehr.',
    stopTitle: 'Waren Sie das nicht?',
    stopText:
      'Eine Administration hat einen Link erstellt, der Ihre Telefone ersetzt. Wenn Sie nicht darum gebeten haben, halten Sie es an: Der Link endet, und was damit hinzugefügt wurde, wird entfernt.',
    stopCode: 'Code des Links, hinter token=',
    stopNow: 'Anhalten',
    stopUnknown: 'Dieser Link ist unvollständig oder zu alt, um noch etwas anzuhalten. Wenden Sie sich an Ihre Administration.',
    stoppedTitle: 'Es ist angehalten',
    stoppedText:
      'Der Link gilt nicht mehr, und was damit hinzugefügt wurde, ist entfernt. Sagen Sie Ihrer Administration, was geschehen ist.',
  },
  fr: {
    title: (tenant) => `Bienvenue chez ${tenant}`,
    lead: 'Continuez, puis choisissez comment vous connecter. Le lien ne fonctionne qu’une fois.',
    code: 'Code du lien, après le #',
    continue: 'Continuer',
    usedLink: 'Ce lien a déjà servi, a expiré ou est incomplet. Demandez une nouvelle invitation.',
    addTitle: (name) => `Bienvenue, ${name}`,
    addLead: (tenant) => `Choisissez comment vous connecter à ${tenant}. Vous pouvez avoir les deux.`,
    passkeyTitle: 'Clé d’accès',
    passkeyText: 'Connectez-vous avec votre empreinte, votre visage ou le code de cet appareil.',
    passkeyAdded: 'Clé d’accès ajoutée.',
    phoneTitle: 'Téléphone',
    phoneText: 'Approuvez les connexions sur votre téléphone : scannez ceci avec l’application. Valable une fois.',
    phoneAdded: 'Téléphone ajouté.',
    anotherPhone: 'Ajouter un autre téléphone',
    qrLabel: 'Code QR du lien d’enregistrement',
    enrollHere: 'Ouvrir dans l’application sur ce téléphone',
    webPhone: 'Utiliser ce navigateur comme téléphone',
    byMail: 'Vous pouvez aussi vous connecter avec un code envoyé par e-mail.',
    simulator: 'Pas de téléphone ? Le simulateur en est un. Dans un terminal :',
    checkAgain: 'Je l’ai ajouté',
    openConsole: 'Ouvrir la console',
    openAccount: 'Ouvrir votre compte',
    recoveryLead:
      'Continuez pour ajouter une clé d’accès ou votre nouveau téléphone. Vos anciens téléphones ne fonctionneront alors plus. Le lien ne fonctionne qu’une fois.',
    phonesRevoked: 'Vos anciens téléphones ne fonctionnent plus.',
    stopTitle: 'Ce n’était pas vous ?',
    stopText:
      'Un administrateur a créé un lien qui remplace vos téléphones. Si vous ne l’avez pas demandé, arrêtez-le : le lien prend fin et ce qui a été ajouté avec lui est retiré.',
    stopCode: 'Code du lien, après token=',
    stopNow: 'Arrêter',
    stopUnknown: 'Ce lien est incomplet ou trop ancien pour arrêter quoi que ce soit. Prévenez votre administrateur.',
    stoppedTitle: 'C’est arrêté',
    stoppedText: 'Le lien ne fonctionne plus et ce qui a été ajouté avec lui est retiré. Dites à votre administrateur ce qui s’est passé.',
  },
  ja: {
    title: (tenant) => `${tenant} へようこそ`,
    lead: '続けて、サインイン方法を選んでください。リンクは一度だけ有効です。',
    code: 'リンクの # 以降のコード',
    continue: '続ける',
    usedLink: 'このリンクは使用済みか、期限切れか、不完全です。新しい招待を依頼してください。',
    addTitle: (name) => `${name} さん、ようこそ`,
    addLead: (tenant) => `${tenant} へのサインイン方法を選んでください。両方使うこともできます。`,
    passkeyTitle: 'パスキー',
    passkeyText: 'この端末の指紋、顔、またはコードでサインインします。',
    passkeyAdded: 'パスキーを追加しました。',
    phoneTitle: 'スマートフォン',
    phoneText: 'スマートフォンでサインインを承認します。アプリで読み取ってください。一度だけ有効です。',
    phoneAdded: 'スマートフォンを追加しました。',
    anotherPhone: '別のスマートフォンを追加',
    qrLabel: '登録用リンクの QR コード',
    enrollHere: 'このスマートフォンのアプリで開く',
    webPhone: 'このブラウザーをスマートフォンとして使う',
    byMail: 'メールで届くコードでもサインインできます。',
    simulator: 'スマートフォンがない場合は、シミュレーターが代わりになります。ターミナルで次を実行します。',
    checkAgain: '追加しました',
    openConsole: 'コンソールを開く',
    openAccount: 'アカウントを開く',
    recoveryLead:
      '続けて、パスキーまたは新しいスマートフォンを追加してください。以前のスマートフォンは使えなくなります。リンクは一度だけ有効です。',
    phonesRevoked: '以前のスマートフォンは使えなくなりました。',
    stopTitle: 'ご自身ではありませんか？',
    stopText:
      '管理者がスマートフォンを置き換えるリンクを作成しました。依頼していない場合は中止してください。リンクは無効になり、それで追加されたものは削除されます。',
    stopCode: 'リンクの token= 以降のコード',
    stopNow: '中止する',
    stopUnknown: 'このリンクは不完全か、古すぎるため何も中止できません。管理者に連絡してください。',
    stoppedTitle: '中止しました',
    stoppedText: 'リンクは無効になり、それで追加されたものは削除されました。何が起きたかを管理者に伝えてください。',
  },
};
