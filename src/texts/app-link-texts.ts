// The texts of the pages a QR code's link opens in a browser, one catalog per language. A catalog that lacks a text does not compile.
import type { Language } from '../domain/language.ts';

export interface AppLinkTexts {
  readonly title: string;
  readonly text: string;
  readonly care: string;
}

export const enrollTexts: Readonly<Record<Language, AppLinkTexts>> = {
  en: {
    title: 'Set up your phone',
    text: 'Open this link with your authenticator app, or scan its QR code from within the app.',
    care: 'The link works once and is meant for you alone.',
  },
  de: {
    title: 'Telefon einrichten',
    text: 'Öffnen Sie diesen Link mit Ihrer Authenticator-App oder scannen Sie den QR-Code in der App.',
    care: 'Der Link gilt einmal und ist nur für Sie bestimmt.',
  },
  fr: {
    title: 'Configurer votre téléphone',
    text: 'Ouvrez ce lien avec votre application d’authentification, ou scannez son code QR depuis l’application.',
    care: 'Le lien ne fonctionne qu’une fois et n’est destiné qu’à vous.',
  },
  ja: {
    title: 'スマートフォンの設定',
    text: 'このリンクを認証アプリで開くか、アプリから QR コードを読み取ってください。',
    care: 'リンクは一度だけ有効で、あなた専用です。',
  },
};

export const scanTexts: Readonly<Record<Language, AppLinkTexts>> = {
  en: {
    title: 'Continue in the app',
    text: 'This code belongs to a sign-in. Scan it from within your authenticator app, or open this link with the app.',
    care: 'Only scan the code of a sign-in you started yourself. It works once, for 30 seconds.',
  },
  de: {
    title: 'In der App fortfahren',
    text: 'Dieser Code gehört zu einer Anmeldung. Scannen Sie ihn in Ihrer Authenticator-App oder öffnen Sie diesen Link mit der App.',
    care: 'Scannen Sie nur den Code einer Anmeldung, die Sie selbst begonnen haben. Er gilt einmal, 30 Sekunden lang.',
  },
  fr: {
    title: 'Continuez dans l’application',
    text: 'Ce code appartient à une connexion. Scannez-le depuis votre application d’authentification, ou ouvrez ce lien avec elle.',
    care: 'Ne scannez que le code d’une connexion que vous avez commencée. Il fonctionne une fois, pendant 30 secondes.',
  },
  ja: {
    title: 'アプリで続ける',
    text: 'これはサインイン用のコードです。認証アプリから読み取るか、このリンクをアプリで開いてください。',
    care: 'ご自身で始めたサインインのコードだけを読み取ってください。コードは一度だけ、30 秒間有効です。',
  },
};

export const linkTexts: Readonly<Record<Language, { readonly label: string; readonly open: string }>> = {
  en: { label: 'Link for the app', open: 'Open the app on this device' },
  de: { label: 'Link für die App', open: 'App auf diesem Gerät öffnen' },
  fr: { label: 'Lien pour l’application', open: 'Ouvrir l’application sur cet appareil' },
  ja: { label: 'アプリ用のリンク', open: 'この端末でアプリを開く' },
};
