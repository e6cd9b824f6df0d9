// The mail that carries a PIN, in the languages of the sign-in pages. Plain text and HTML say the same; the HTML asks for
// nothing from anywhere. The PIN stands alone on its line, so that it can be copied and a mail client can offer it.
import { type Language, negotiateLanguage } from '../domain/language.ts';
import { html } from '../platform/html.ts';
import { plural } from '../texts/plural.ts';
import type { Letter } from './letter.ts';
import { oneLine } from './one-line.ts';

interface PinMailFacts {
  readonly pin: string;
  readonly tenantName: string;
  /** What it signs in to. */
  readonly purposeName: string;
  readonly lifetimeSeconds: number;
  readonly language: string;
}

export interface Wording {
  readonly subject: (pin: string, name: string) => string;
  readonly heading: (name: string) => string;
  readonly intro: string;
  readonly lifetime: (minutes: number) => string;
  readonly warning: string;
}

export const pinMailCatalogs: Readonly<Record<Language, Wording>> = {
  en: {
    subject: (pin, name) => `${pin} is your code for ${name}`,
    heading: (name) => `Sign in to ${name}`,
    intro: 'Enter this code where you started:',
    lifetime: (minutes) => `It works once, for ${minutes} ${plural('en', minutes, { one: 'minute', other: 'minutes' })}.`,
    warning: 'If you did not ask for it, ignore this mail and tell nobody the code. We never ask for it by phone or mail.',
  },
  de: {
    subject: (pin, name) => `${pin} ist Ihr Code für ${name}`,
    heading: (name) => `Anmeldung bei ${name}`,
    intro: 'Geben Sie diesen Code dort ein, wo Sie begonnen haben:',
    lifetime: (minutes) => `Er gilt einmal und ${minutes} ${plural('de', minutes, { one: 'Minute', other: 'Minuten' })} lang.`,
    warning:
      'Wenn Sie ihn nicht angefordert haben, ignorieren Sie diese E-Mail und geben Sie den Code niemandem. Wir fragen nie per Telefon oder E-Mail danach.',
  },
  fr: {
    subject: (pin, name) => `${pin} est votre code pour ${name}`,
    heading: (name) => `Connexion à ${name}`,
    intro: 'Saisissez ce code là où vous avez commencé :',
    lifetime: (minutes) => `Il est valable une fois, pendant ${minutes} ${plural('fr', minutes, { one: 'minute', other: 'minutes' })}.`,
    warning:
      'Si vous ne l’avez pas demandé, ignorez ce message et ne donnez le code à personne. Nous ne le demandons jamais par téléphone ni par e-mail.',
  },
  ja: {
    subject: (pin, name) => `${name} の確認コードは ${pin} です`,
    heading: (name) => `${name} にサインイン`,
    intro: 'サインインを始めた画面に、次のコードを入力してください。',
    lifetime: (minutes) => `コードは一度だけ、${minutes} 分間有効です。`,
    warning: 'お心当たりがない場合はこのメールを無視し、コードを誰にも教えないでください。電話やメールでお尋ねすることはありません。',
  },
};

/** Makes the mail in the nearest language. */
export function pinMail(facts: PinMailFacts, to: string): Letter {
  const language = negotiateLanguage(facts.language);
  const words = pinMailCatalogs[language];
  const name = oneLine(facts.purposeName);
  const minutes = Math.max(1, Math.round(facts.lifetimeSeconds / 60));
  const text = [
    words.heading(name),
    '',
    words.intro,
    '',
    facts.pin,
    '',
    words.lifetime(minutes),
    words.warning,
    '',
    `-- \n${oneLine(facts.tenantName)}`,
  ].join('\n');
  const body = html`<h1 style="margin:0 0 12px;font-size:20px;line-height:1.3">${words.heading(name)}</h1>
<p style="margin:0 0 20px;font-size:15px;line-height:1.5">${words.intro}</p>
<p style="margin:0 0 20px;padding:18px 0;background:#eef0fb;border-radius:12px;text-align:center;font-size:32px;font-weight:700;letter-spacing:8px;color:#2a2f7a">${facts.pin}</p>
<p style="margin:0 0 8px;font-size:14px;line-height:1.5;color:#4a4f63">${words.lifetime(minutes)}</p>
<p style="margin:0;font-size:14px;line-height:1.5;color:#4a4f63">${words.warning}</p>`;
  const values = { code: facts.pin, application: name, tenant: oneLine(facts.tenantName), minutes: String(minutes) };
  return { kind: 'pin', to, language, subject: words.subject(facts.pin, name), text, body, values };
}
