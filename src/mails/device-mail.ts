// The mail that tells a person a phone was added to their account, in the languages of the sign-in pages.
import { type Language, negotiateLanguage } from '../domain/language.ts';
import { html } from '../platform/html.ts';
import type { Letter } from './letter.ts';
import { oneLine } from './one-line.ts';

interface DeviceMailFacts {
  readonly deviceName: string;
  readonly tenantName: string;
  readonly language: string;
}

export interface Wording {
  readonly subject: (tenant: string) => string;
  readonly body: (device: string, tenant: string) => string;
  readonly warning: string;
}

export const deviceMailCatalogs: Readonly<Record<Language, Wording>> = {
  en: {
    subject: (tenant) => `A phone was added to your ${tenant} account`,
    body: (device, tenant) => `“${device}” can now approve sign-ins to ${tenant} for you.`,
    warning: 'If this was not you, tell your administrator at once.',
  },
  de: {
    subject: (tenant) => `Ein Telefon wurde Ihrem Konto bei ${tenant} hinzugefügt`,
    body: (device, tenant) => `„${device}“ kann jetzt Anmeldungen bei ${tenant} für Sie bestätigen.`,
    warning: 'Wenn Sie das nicht waren, wenden Sie sich sofort an Ihre Administration.',
  },
  fr: {
    subject: (tenant) => `Un téléphone a été ajouté à votre compte ${tenant}`,
    body: (device, tenant) => `« ${device} » peut désormais approuver vos connexions à ${tenant}.`,
    warning: 'Si ce n’était pas vous, prévenez immédiatement votre administrateur.',
  },
  ja: {
    subject: (tenant) => `${tenant} のアカウントにスマートフォンが追加されました`,
    body: (device, tenant) => `「${device}」で ${tenant} へのサインインを承認できるようになりました。`,
    warning: 'お心当たりがない場合は、すぐに管理者へご連絡ください。',
  },
};

/** Makes the mail in the nearest language. */
export function deviceAddedMail(facts: DeviceMailFacts, to: string): Letter {
  const language = negotiateLanguage(facts.language);
  const words = deviceMailCatalogs[language];
  const [device, tenant] = [oneLine(facts.deviceName), oneLine(facts.tenantName)];
  const body = words.body(device, tenant);
  return {
    kind: 'device_added',
    to,
    language,
    subject: words.subject(tenant),
    text: `${body}\n${words.warning}\n`,
    body: html`<p>${body}</p><p>${words.warning}</p>`,
    values: { device, tenant },
  };
}
