// The mails that tell a person that another provider may sign them in from now on, or no longer, in the languages of the pages.
import { type Language, negotiateLanguage } from '../domain/language.ts';
import { html } from '../platform/html.ts';
import type { Letter } from './letter.ts';
import { oneLine } from './one-line.ts';

type LinkChange = 'added' | 'removed';

export interface Wording {
  readonly subject: Readonly<Record<LinkChange, (provider: string, tenant: string) => string>>;
  readonly body: Readonly<Record<LinkChange, (provider: string, tenant: string) => string>>;
  readonly warning: string;
}

export const externalIdentityMailCatalogs: Readonly<Record<Language, Wording>> = {
  en: {
    subject: {
      added: (provider, tenant) => `${provider} can now sign you in to ${tenant}`,
      removed: (provider, tenant) => `${provider} can no longer sign you in to ${tenant}`,
    },
    body: {
      added: (provider, tenant) =>
        `Your account at ${provider} was linked to your ${tenant} account. Everybody who can sign in there can sign in here as you.`,
      removed: (provider, tenant) => `Your account at ${provider} is no longer linked to your ${tenant} account.`,
    },
    warning: 'If this was not you, tell your administrator at once.',
  },
  de: {
    subject: {
      added: (provider, tenant) => `${provider} kann Sie jetzt bei ${tenant} anmelden`,
      removed: (provider, tenant) => `${provider} kann Sie nicht mehr bei ${tenant} anmelden`,
    },
    body: {
      added: (provider, tenant) =>
        `Ihr Konto bei ${provider} wurde mit Ihrem Konto bei ${tenant} verknüpft. Wer sich dort anmeldet, ist hier als Sie angemeldet.`,
      removed: (provider, tenant) => `Ihr Konto bei ${provider} ist nicht mehr mit Ihrem Konto bei ${tenant} verknüpft.`,
    },
    warning: 'Wenn Sie das nicht waren, wenden Sie sich sofort an Ihre Administration.',
  },
  fr: {
    subject: {
      added: (provider, tenant) => `${provider} peut désormais vous connecter à ${tenant}`,
      removed: (provider, tenant) => `${provider} ne peut plus vous connecter à ${tenant}`,
    },
    body: {
      added: (provider, tenant) =>
        `Votre compte ${provider} a été lié à votre compte ${tenant}. Qui s’y connecte ouvre ici une session en votre nom.`,
      removed: (provider, tenant) => `Votre compte ${provider} n’est plus lié à votre compte ${tenant}.`,
    },
    warning: 'Si ce n’était pas vous, prévenez immédiatement votre administrateur.',
  },
  ja: {
    subject: {
      added: (provider, tenant) => `${provider} で ${tenant} にサインインできるようになりました`,
      removed: (provider, tenant) => `${provider} では ${tenant} にサインインできなくなりました`,
    },
    body: {
      added: (provider, tenant) =>
        `${provider} のアカウントが ${tenant} のアカウントに連携されました。${provider} にサインインした人は、ここでもあなたとしてサインインします。`,
      removed: (provider, tenant) => `${provider} のアカウントと ${tenant} のアカウントの連携が解除されました。`,
    },
    warning: 'お心当たりがない場合は、すぐに管理者へご連絡ください。',
  },
};

/** Makes the mail in the nearest language. */
export function externalIdentityMail(
  change: LinkChange,
  facts: { readonly providerName: string; readonly tenantName: string; readonly language: string },
  to: string,
): Letter {
  const language = negotiateLanguage(facts.language);
  const words = externalIdentityMailCatalogs[language];
  const [provider, tenant] = [oneLine(facts.providerName), oneLine(facts.tenantName)];
  const subject = words.subject[change](provider, tenant);
  const body = words.body[change](provider, tenant);
  return {
    kind: `external_identity_${change}`,
    to,
    language,
    subject: subject,
    text: `${body}\n${words.warning}\n`,
    body: html`<p>${body}</p><p>${words.warning}</p>`,
    values: { provider, tenant },
  };
}
