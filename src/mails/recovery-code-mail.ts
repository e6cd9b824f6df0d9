// The mails that tell a person a recovery code of theirs was used, or that new ones were made, in the languages of the sign-in pages.
import { type Language, negotiateLanguage } from '../domain/language.ts';
import { html } from '../platform/html.ts';
import { plural } from '../texts/plural.ts';
import type { Letter } from './letter.ts';
import { oneLine } from './one-line.ts';

export type RecoveryCodeNews = 'made' | 'used';

interface RecoveryCodeMailFacts {
  readonly news: RecoveryCodeNews;
  readonly tenantName: string;
  /** How many codes work now. */
  readonly remaining: number;
  /** Where the person sees to their phones and passkeys. */
  readonly accountUrl: string;
  readonly language: string;
}

export interface Wording {
  readonly subject: Readonly<Record<RecoveryCodeNews, (tenant: string) => string>>;
  readonly body: Readonly<Record<RecoveryCodeNews, (tenant: string) => string>>;
  readonly left: (count: number) => string;
  readonly account: string;
  readonly warning: string;
}

export const recoveryCodeMailCatalogs: Readonly<Record<Language, Wording>> = {
  en: {
    subject: {
      made: (tenant) => `New recovery codes for your ${tenant} account`,
      used: (tenant) => `A recovery code signed in to your ${tenant} account`,
    },
    body: {
      made: (tenant) => `New recovery codes were made for your ${tenant} account. Those of before no longer work.`,
      used: (tenant) =>
        `Somebody signed in to ${tenant} as you with a recovery code. If your phone is lost, remove it and add the new one.`,
    },
    left: (count) => plural('en', count, { one: `You have ${count} code left.`, other: `You have ${count} codes left.` }),
    account: 'Phones, passkeys and codes',
    warning: 'If this was not you, tell your administrator at once.',
  },
  de: {
    subject: {
      made: (tenant) => `Neue Wiederherstellungscodes für Ihr Konto bei ${tenant}`,
      used: (tenant) => `Anmeldung mit einem Wiederherstellungscode bei ${tenant}`,
    },
    body: {
      made: (tenant) => `Für Ihr Konto bei ${tenant} wurden neue Wiederherstellungscodes erstellt. Die bisherigen gelten nicht mehr.`,
      used: (tenant) =>
        `Jemand hat sich mit einem Wiederherstellungscode bei ${tenant} als Sie angemeldet. Wenn Ihr Telefon verloren ist, entfernen Sie es und fügen Sie das neue hinzu.`,
    },
    left: (count) => plural('de', count, { one: `Sie haben noch ${count} Code.`, other: `Sie haben noch ${count} Codes.` }),
    account: 'Telefone, Passkeys und Codes',
    warning: 'Wenn Sie das nicht waren, wenden Sie sich sofort an Ihre Administration.',
  },
  fr: {
    subject: {
      made: (tenant) => `Nouveaux codes de secours pour votre compte ${tenant}`,
      used: (tenant) => `Un code de secours a servi pour votre compte ${tenant}`,
    },
    body: {
      made: (tenant) => `De nouveaux codes de secours ont été créés pour votre compte ${tenant}. Les précédents ne fonctionnent plus.`,
      used: (tenant) =>
        `Quelqu’un s’est connecté à ${tenant} en votre nom avec un code de secours. Si votre téléphone est perdu, retirez-le et ajoutez le nouveau.`,
    },
    left: (count) => plural('fr', count, { one: `Il vous reste ${count} code.`, other: `Il vous reste ${count} codes.` }),
    account: 'Téléphones, clés d’accès et codes',
    warning: 'Si ce n’était pas vous, prévenez immédiatement votre administrateur.',
  },
  ja: {
    subject: {
      made: (tenant) => `${tenant} のリカバリーコードが新しくなりました`,
      used: (tenant) => `${tenant} のアカウントでリカバリーコードが使われました`,
    },
    body: {
      made: (tenant) => `${tenant} のアカウントに新しいリカバリーコードが作成されました。以前のコードは使えません。`,
      used: (tenant) =>
        `リカバリーコードで ${tenant} にあなたとしてサインインが行われました。スマートフォンを紛失した場合は、それを削除し、新しいスマートフォンを追加してください。`,
    },
    left: (count) => `残りのコードは ${count} 個です。`,
    account: 'スマートフォン、パスキー、コードの管理',
    warning: 'お心当たりがない場合は、すぐに管理者へご連絡ください。',
  },
};

/** Makes the mail in the nearest language. */
export function recoveryCodeMail(facts: RecoveryCodeMailFacts, to: string): Letter {
  const { news, remaining, accountUrl } = facts;
  const language = negotiateLanguage(facts.language);
  const words = recoveryCodeMailCatalogs[language];
  const tenant = oneLine(facts.tenantName);
  const subject = words.subject[news](tenant);
  const lines = [`${words.body[news](tenant)} ${words.left(remaining)}`, words.warning];
  return {
    kind: `recovery_codes_${news}`,
    to,
    language,
    subject: subject,
    text: [...lines, '', accountUrl, ''].join('\n'),
    body: html`${lines.map((line) => html`<p>${line}</p>`)}<p><a href="${accountUrl}">${words.account}</a></p>`,
    values: { tenant, remaining: String(remaining), link: accountUrl },
  };
}
