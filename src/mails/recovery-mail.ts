// The mails about a recovery, in the languages of the sign-in pages: the link that lets a person in again, and the notice to every
// address with the link that stops it. Opening either does nothing, so that programs which look at links in mails do no harm.
import { type Language, negotiateLanguage } from '../domain/language.ts';
import { html } from '../platform/html.ts';
import type { Letter } from './letter.ts';
import { oneLine } from './one-line.ts';

type RecoveryMailKind = 'link' | 'notice';

interface RecoveryMailFacts {
  readonly url: string;
  readonly tenantName: string;
  readonly language: string;
}

export interface Wording {
  readonly subject: (tenant: string) => string;
  readonly body: (tenant: string) => string;
  readonly open: string;
  readonly warning: string;
}

export const recoveryMailCatalogs: Readonly<Record<Language, Readonly<Record<RecoveryMailKind, Wording>>>> = {
  en: {
    link: {
      subject: (tenant) => `Set up your ${tenant} sign-in again`,
      body: (tenant) =>
        `Your administrator lets you in to ${tenant} again. Open this link to add a passkey or your new phone. When you continue there, your old phones stop working.`,
      open: 'Set up again',
      warning: 'The link works once, for 24 hours. Everybody who has it can act as you, so do not pass it on.',
    },
    notice: {
      subject: (tenant) => `Your ${tenant} account is being recovered`,
      body: (tenant) =>
        `An administrator made a link that replaces the phones of your ${tenant} account. If you asked for it, you need do nothing here.`,
      open: 'That was not me: stop it',
      warning: 'If you did not ask for it, stop it with the link above and tell your administrator.',
    },
  },
  de: {
    link: {
      subject: (tenant) => `Richten Sie Ihre Anmeldung bei ${tenant} neu ein`,
      body: (tenant) =>
        `Ihre Administration lässt Sie wieder zu ${tenant}. Öffnen Sie diesen Link und fügen Sie einen Passkey oder Ihr neues Telefon hinzu. Sobald Sie dort fortfahren, gelten Ihre alten Telefone nicht mehr.`,
      open: 'Neu einrichten',
      warning: 'Der Link gilt einmal und 24 Stunden lang. Wer ihn hat, bekommt Ihren Zugang: Geben Sie ihn niemandem.',
    },
    notice: {
      subject: (tenant) => `Ihr Konto bei ${tenant} wird wiederhergestellt`,
      body: (tenant) =>
        `Eine Administration hat einen Link erstellt, der die Telefone Ihres Kontos bei ${tenant} ersetzt. Wenn Sie darum gebeten haben, brauchen Sie hier nichts zu tun.`,
      open: 'Das war ich nicht: anhalten',
      warning: 'Wenn Sie nicht darum gebeten haben, halten Sie es mit dem Link oben an, und wenden Sie sich an Ihre Administration.',
    },
  },
  fr: {
    link: {
      subject: (tenant) => `Configurez à nouveau votre connexion à ${tenant}`,
      body: (tenant) =>
        `Votre administrateur vous rouvre l’accès à ${tenant}. Ouvrez ce lien pour ajouter une clé d’accès ou votre nouveau téléphone. Dès que vous y continuez, vos anciens téléphones ne fonctionnent plus.`,
      open: 'Configurer à nouveau',
      warning: 'Le lien fonctionne une fois, pendant 24 heures. Quiconque l’a obtient votre accès : ne le donnez à personne.',
    },
    notice: {
      subject: (tenant) => `Votre compte ${tenant} est en cours de récupération`,
      body: (tenant) =>
        `Un administrateur a créé un lien qui remplace les téléphones de votre compte ${tenant}. Si vous l’avez demandé, vous n’avez rien à faire ici.`,
      open: 'Ce n’était pas moi : arrêter',
      warning: 'Si vous ne l’avez pas demandé, arrêtez-le avec le lien ci-dessus et prévenez votre administrateur.',
    },
  },
  ja: {
    link: {
      subject: (tenant) => `${tenant} へのサインインを設定し直してください`,
      body: (tenant) =>
        `管理者が ${tenant} への再登録を許可しました。次のリンクを開き、パスキーまたは新しいスマートフォンを追加してください。続けると、以前のスマートフォンは使えなくなります。`,
      open: '設定し直す',
      warning: 'リンクは一度だけ、24 時間有効です。リンクを持つ人は誰でもあなたとして登録できます。誰にも渡さないでください。',
    },
    notice: {
      subject: (tenant) => `${tenant} のアカウントが復旧されようとしています`,
      body: (tenant) =>
        `管理者が ${tenant} のアカウントのスマートフォンを置き換えるリンクを作成しました。ご自身で依頼された場合は、何もする必要はありません。`,
      open: '自分ではないので中止する',
      warning: '依頼していない場合は、上のリンクから中止し、管理者へご連絡ください。',
    },
  },
};

/** Makes the mail in the nearest language. */
export function recoveryMail(kind: RecoveryMailKind, facts: RecoveryMailFacts, to: string): Letter {
  const language = negotiateLanguage(facts.language);
  const words = recoveryMailCatalogs[language][kind];
  const tenant = oneLine(facts.tenantName);
  const [subject, body] = [words.subject(tenant), words.body(tenant)];
  return {
    kind: `recovery_${kind}`,
    to,
    language,
    subject: subject,
    text: [body, '', `${words.open}:`, facts.url, '', words.warning, ''].join('\n'),
    body: html`<p>${body}</p><p><a href="${facts.url}">${words.open}</a></p><p>${words.warning}</p>`,
    values: { tenant, link: facts.url },
  };
}
