// The mail to a person whose mailbox had its day's wrong codes: mailed codes stop, and what still works, in the languages of the pages.
import { type Language, negotiateLanguage } from '../domain/language.ts';
import { html } from '../platform/html.ts';
import type { Letter } from './letter.ts';
import { oneLine } from './one-line.ts';

export interface Wording {
  readonly subject: (tenant: string) => string;
  readonly body: (tenant: string) => string;
  readonly still: string;
  readonly advice: string;
}

export const wrongCodesMailCatalogs: Readonly<Record<Language, Wording>> = {
  en: {
    subject: (tenant) => `Too many wrong codes for your ${tenant} account`,
    body: (tenant) =>
      `Somebody typed so many wrong codes from mails of ${tenant} that no more are taken there for a day. Nobody was signed in.`,
    still: 'Browsers you signed in with before count for themselves and are not affected, nor are passkeys and phones.',
    advice: 'If this was not you, there is nothing you must do. Tell nobody a code; tell your administrator if this goes on.',
  },
  de: {
    subject: (tenant) => `Zu viele falsche Codes für Ihr Konto bei ${tenant}`,
    body: (tenant) =>
      `Jemand hat so viele falsche Codes aus E-Mails von ${tenant} eingegeben, dass dort einen Tag lang keine mehr angenommen werden. Niemand wurde angemeldet.`,
    still: 'Browser, in denen Sie sich schon angemeldet haben, zählen für sich und sind nicht betroffen, Passkeys und Telefone auch nicht.',
    advice:
      'Wenn Sie das nicht waren, müssen Sie nichts tun. Nennen Sie niemandem einen Code; geht es weiter, sagen Sie es Ihrer Administration.',
  },
  fr: {
    subject: (tenant) => `Trop de codes erronés pour votre compte ${tenant}`,
    body: (tenant) =>
      `Quelqu’un a saisi tant de codes erronés issus de courriels de ${tenant} qu’aucun n’y est plus accepté pendant un jour. Personne n’a été connecté.`,
    still: 'Les navigateurs où vous vous êtes déjà connecté comptent à part et ne sont pas touchés, ni les clés d’accès ni les téléphones.',
    advice:
      'Si ce n’était pas vous, vous n’avez rien à faire. Ne donnez de code à personne ; si cela continue, prévenez votre administrateur.',
  },
  ja: {
    subject: (tenant) => `${tenant} のアカウントで誤ったコードが多数入力されました`,
    body: (tenant) =>
      `${tenant} のメールのコードが何度も誤って入力されたため、1 日間そこではコードを受け付けません。サインインは行われていません。`,
    still: '以前にサインインしたことのあるブラウザーは別に数えられるため影響を受けません。パスキーとスマートフォンも同様です。',
    advice: 'お心当たりがなくても、何もする必要はありません。コードを誰にも教えないでください。続く場合は管理者へご連絡ください。',
  },
};

/** Makes the mail in the nearest language. */
export function wrongCodesMail(facts: { readonly tenantName: string; readonly language: string }, to: string): Letter {
  const language = negotiateLanguage(facts.language);
  const words = wrongCodesMailCatalogs[language];
  const tenant = oneLine(facts.tenantName);
  const lines = [words.body(tenant), words.still, words.advice];
  const subject = words.subject(tenant);
  return {
    kind: 'wrong_codes',
    to,
    language,
    subject: subject,
    text: `${lines.join('\n')}\n`,
    body: html`${lines.map((line) => html`<p>${line}</p>`)}`,
    values: { tenant },
  };
}
