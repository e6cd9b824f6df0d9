// The mail by which an administrator looks whether mails arrive, in the languages of the sign-in pages: a code to type into the console. It
// has no link, so that no program that looks at mails can say that it came.
import { type Language, negotiateLanguage } from '../domain/language.ts';
import { html } from '../platform/html.ts';
import type { Letter } from './letter.ts';
import { oneLine } from './one-line.ts';

interface TrialMailFacts {
  readonly code: string;
  readonly tenantName: string;
  readonly minutes: number;
  readonly language: string;
}

export interface Wording {
  readonly subject: (tenant: string) => string;
  readonly body: (tenant: string) => string;
  readonly lifetime: (minutes: number) => string;
  readonly warning: string;
}

export const trialMailCatalogs: Readonly<Record<Language, Wording>> = {
  en: {
    subject: (tenant) => `${tenant}: mails arrive`,
    body: (tenant) => `You asked for this mail in the console of ${tenant}. Type this code there:`,
    lifetime: (minutes) => `It works once, for ${minutes} minutes. It opens nothing: it only shows that mails arrive.`,
    warning: 'If you did not ask for it, ignore this mail.',
  },
  de: {
    subject: (tenant) => `${tenant}: E-Mails kommen an`,
    body: (tenant) => `Sie haben diese E-Mail in der Konsole von ${tenant} angefordert. Geben Sie dort diesen Code ein:`,
    lifetime: (minutes) => `Er gilt einmal und ${minutes} Minuten lang. Er öffnet nichts: Er zeigt nur, dass E-Mails ankommen.`,
    warning: 'Wenn Sie sie nicht angefordert haben, ignorieren Sie diese E-Mail.',
  },
  fr: {
    subject: (tenant) => `${tenant} : les e-mails arrivent`,
    body: (tenant) => `Vous avez demandé ce message dans la console de ${tenant}. Saisissez-y ce code :`,
    lifetime: (minutes) =>
      `Il fonctionne une fois, pendant ${minutes} minutes. Il n’ouvre rien : il montre seulement que les e-mails arrivent.`,
    warning: 'Si vous ne l’avez pas demandé, ignorez ce message.',
  },
  ja: {
    subject: (tenant) => `${tenant}：メールの到着確認`,
    body: (tenant) => `${tenant} の管理コンソールからこのメールを送りました。次のコードをコンソールに入力してください。`,
    lifetime: (minutes) => `一度だけ、${minutes} 分間有効です。メールの到着を確認するためだけのコードです。`,
    warning: 'お心当たりがない場合は、このメールを無視してください。',
  },
};

/** Makes the mail in the nearest language. */
export function trialMail({ code, tenantName, minutes, language: asked }: TrialMailFacts, to: string): Omit<Letter, 'kind' | 'values'> {
  const language = negotiateLanguage(asked);
  const words = trialMailCatalogs[language];
  const tenant = oneLine(tenantName);
  const [body, lifetime] = [words.body(tenant), words.lifetime(minutes)];
  return {
    to,
    language,
    subject: words.subject(tenant),
    text: [body, '', code, '', lifetime, words.warning, ''].join('\n'),
    body: html`<p>${body}</p><p style="font-size:24px;font-weight:700;letter-spacing:2px">${code}</p><p>${lifetime}</p><p>${words.warning}</p>`,
  };
}
