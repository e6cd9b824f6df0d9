// The texts of the pages that sign a device without a browser in, one catalog per language. A catalog that lacks a text does not
// compile.
import type { Language } from '../domain/language.ts';

interface DeviceSignInTexts {
  readonly title: string;
  readonly lead: string;
  readonly code: string;
  readonly codeHint: string;
  readonly continue: string;
  readonly unknown: string;
  readonly confirmTitle: string;
  readonly asks: (app: string) => string;
  readonly application: string;
  readonly from: string;
  readonly device: string;
  readonly asked: string;
  readonly access: string;
  readonly care: string;
  readonly allow: string;
  readonly deny: string;
  readonly allowed: string;
  readonly denied: string;
  readonly refused: string;
  readonly close: string;
}

export const deviceSignInTexts: Readonly<Record<Language, DeviceSignInTexts>> = {
  en: {
    title: 'Sign in a device',
    lead: 'Enter the code that your television, tool or other device shows.',
    code: 'Code',
    codeHint: 'Eight letters, such as BCDF-GHJK.',
    continue: 'Continue',
    unknown: 'No device waits with this code. Compare it with the one the device shows, or start again there.',
    confirmTitle: 'Is this your device?',
    asks: (app) => `A device wants to use ${app} as you. Compare the code with the one it shows.`,
    application: 'Application',
    from: 'Network address',
    device: 'Device',
    asked: 'Asked',
    access: 'It would be able to:',
    care: 'If somebody sent you this code or link, deny: the device that gets in would be theirs.',
    allow: 'Allow',
    deny: 'Deny',
    allowed: 'The device is signed in.',
    denied: 'The device was not let in.',
    refused: 'You may not use this application. The device was not let in.',
    close: 'You can close this page and go back to the device.',
  },
  de: {
    title: 'Ein Gerät anmelden',
    lead: 'Geben Sie den Code ein, den Ihr Fernseher, Werkzeug oder anderes Gerät zeigt.',
    code: 'Code',
    codeHint: 'Acht Buchstaben, etwa BCDF-GHJK.',
    continue: 'Weiter',
    unknown: 'Kein Gerät wartet mit diesem Code. Vergleichen Sie ihn mit dem auf dem Gerät, oder beginnen Sie dort neu.',
    confirmTitle: 'Ist das Ihr Gerät?',
    asks: (app) => `Ein Gerät möchte ${app} unter Ihrem Namen nutzen. Vergleichen Sie den Code mit dem, den es zeigt.`,
    application: 'Anwendung',
    from: 'Netzadresse',
    device: 'Gerät',
    asked: 'Angefragt',
    access: 'Es könnte dann:',
    care: 'Hat Ihnen jemand diesen Code oder Link geschickt, lehnen Sie ab: Das Gerät wäre nicht Ihres.',
    allow: 'Zulassen',
    deny: 'Ablehnen',
    allowed: 'Das Gerät ist angemeldet.',
    denied: 'Das Gerät wurde nicht zugelassen.',
    refused: 'Sie dürfen diese Anwendung nicht nutzen. Das Gerät wurde nicht zugelassen.',
    close: 'Sie können diese Seite schließen und zum Gerät zurückkehren.',
  },
  fr: {
    title: 'Connecter un appareil',
    lead: 'Saisissez le code affiché par votre téléviseur, outil ou autre appareil.',
    code: 'Code',
    codeHint: 'Huit lettres, par exemple BCDF-GHJK.',
    continue: 'Continuer',
    unknown: 'Aucun appareil n’attend avec ce code. Comparez-le à celui de l’appareil, ou recommencez sur celui-ci.',
    confirmTitle: 'Est-ce votre appareil ?',
    asks: (app) => `Un appareil veut utiliser ${app} en votre nom. Comparez le code à celui qu’il affiche.`,
    application: 'Application',
    from: 'Adresse réseau',
    device: 'Appareil',
    asked: 'Demandé',
    access: 'Il pourrait :',
    care: 'Si quelqu’un vous a envoyé ce code ou ce lien, refusez : l’appareil serait le sien.',
    allow: 'Autoriser',
    deny: 'Refuser',
    allowed: 'L’appareil est connecté.',
    denied: 'L’appareil n’a pas été autorisé.',
    refused: 'Vous ne pouvez pas utiliser cette application. L’appareil n’a pas été autorisé.',
    close: 'Vous pouvez fermer cette page et revenir à l’appareil.',
  },
  ja: {
    title: 'デバイスのサインイン',
    lead: 'テレビやツールなどのデバイスに表示されているコードを入力してください。',
    code: 'コード',
    codeHint: 'BCDF-GHJK のような 8 文字です。',
    continue: '続ける',
    unknown: 'このコードで待っているデバイスはありません。デバイスの表示と比べるか、デバイスで最初からやり直してください。',
    confirmTitle: 'これはあなたのデバイスですか?',
    asks: (app) => `デバイスがあなたとして ${app} を使おうとしています。表示されているコードと比べてください。`,
    application: 'アプリケーション',
    from: 'ネットワークアドレス',
    device: 'デバイス',
    asked: '要求日時',
    access: '許可すると次のことができます:',
    care: '誰かから送られてきたコードやリンクの場合は拒否してください。サインインするのはその人のデバイスです。',
    allow: '許可',
    deny: '拒否',
    allowed: 'デバイスがサインインしました。',
    denied: 'デバイスは許可されませんでした。',
    refused: 'このアプリケーションは使えません。デバイスは許可されませんでした。',
    close: 'このページを閉じて、デバイスに戻ってください。',
  },
};
