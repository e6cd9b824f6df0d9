// The mails that tell a person a passkey was added to their account or revoked, in the languages of the sign-in pages.
import { type Language, negotiateLanguage } from '../domain/language.ts';
import { html } from '../platform/html.ts';
import type { Letter } from './letter.ts';
import { oneLine } from './one-line.ts';

export type PasskeyChange = 'added' | 'revoked';

export interface Wording {
  readonly subject: Readonly<Record<PasskeyChange, (tenant: string) => string>>;
  readonly body: Readonly<Record<PasskeyChange, (passkey: string, tenant: string) => string>>;
  readonly warning: string;
}

export const passkeyMailCatalogs: Readonly<Record<Language, Wording>> = {
  en: {
    subject: {
      added: (tenant) => `A passkey was added to your ${tenant} account`,
      revoked: (tenant) => `A passkey was removed from your ${tenant} account`,
    },
    body: {
      added: (passkey, tenant) => `The passkey “${passkey}” can now sign in to ${tenant} as you.`,
      revoked: (passkey, tenant) => `The passkey “${passkey}” can no longer sign in to ${tenant}.`,
    },
    warning: 'If this was not you, tell your administrator at once.',
  },
  de: {
    subject: {
      added: (tenant) => `Ein Passkey wurde Ihrem Konto bei ${tenant} hinzugefügt`,
      revoked: (tenant) => `Ein Passkey wurde aus Ihrem Konto bei ${tenant} entfernt`,
    },
    body: {
      added: (passkey, tenant) => `Mit dem Passkey „${passkey}“ kann man sich jetzt bei ${tenant} als Sie anmelden.`,
      revoked: (passkey, tenant) => `Mit dem Passkey „${passkey}“ kann man sich nicht mehr bei ${tenant} anmelden.`,
    },
    warning: 'Wenn Sie das nicht waren, wenden Sie sich sofort an Ihre Administration.',
  },
  fr: {
    subject: {
      added: (tenant) => `Une clé d’accès a été ajoutée à votre compte ${tenant}`,
      revoked: (tenant) => `Une clé d’accès a été retirée de votre compte ${tenant}`,
    },
    body: {
      added: (passkey, tenant) => `La clé d’accès « ${passkey} » peut désormais ouvrir une session ${tenant} en votre nom.`,
      revoked: (passkey, tenant) => `La clé d’accès « ${passkey} » ne peut plus ouvrir de session ${tenant}.`,
    },
    warning: 'Si ce n’était pas vous, prévenez immédiatement votre administrateur.',
  },
  ja: {
    subject: {
      added: (tenant) => `${tenant} のアカウントにパスキーが追加されました`,
      revoked: (tenant) => `${tenant} のアカウントからパスキーが削除されました`,
    },
    body: {
      added: (passkey, tenant) => `パスキー「${passkey}」で ${tenant} にサインインできるようになりました。`,
      revoked: (passkey, tenant) => `パスキー「${passkey}」では ${tenant} にサインインできなくなりました。`,
    },
    warning: 'お心当たりがない場合は、すぐに管理者へご連絡ください。',
  },
};

/** Makes the mail in the nearest language. */
export function passkeyMail(
  change: PasskeyChange,
  facts: { readonly passkeyName: string; readonly tenantName: string; readonly language: string },
  to: string,
): Letter {
  const language = negotiateLanguage(facts.language);
  const words = passkeyMailCatalogs[language];
  const [passkey, tenant] = [oneLine(facts.passkeyName), oneLine(facts.tenantName)];
  const subject = words.subject[change](tenant);
  const body = words.body[change](passkey, tenant);
  return {
    kind: `passkey_${change}`,
    to,
    language,
    subject: subject,
    text: `${body}\n${words.warning}\n`,
    body: html`<p>${body}</p><p>${words.warning}</p>`,
    values: { passkey, tenant },
  };
}
