// The mail after a person said that a sign-in was not theirs: what was tried and what to do, in the languages of the sign-in pages.
import { type Language, negotiateLanguage } from '../domain/language.ts';
import { html } from '../platform/html.ts';
import type { Letter } from './letter.ts';
import { oneLine } from './one-line.ts';

interface ReportedMailFacts {
  readonly tenantName: string;
  /** Where the sign-in was begun; undefined when nobody knows. */
  readonly ip: string | undefined;
  readonly at: Date;
  readonly language: string;
}

export interface Wording {
  readonly subject: (tenant: string) => string;
  readonly body: (tenant: string) => string;
  readonly from: (ip: string) => string;
  readonly again: string;
  readonly advice: string;
}

export const reportedMailCatalogs: Readonly<Record<Language, Wording>> = {
  en: {
    subject: (tenant) => `Somebody tried to sign in to ${tenant} as you`,
    body: (tenant) => `You said that a sign-in to ${tenant} was not yours. Nobody was signed in.`,
    from: (ip) => `It came from ${ip}`,
    again: 'Say so again within ten minutes, and your phone is asked nothing for fifteen.',
    advice: 'Never approve a sign-in you did not start, and tell nobody a code or number. Tell your administrator if this goes on.',
  },
  de: {
    subject: (tenant) => `Jemand wollte sich bei ${tenant} als Sie anmelden`,
    body: (tenant) => `Sie haben gesagt, dass eine Anmeldung bei ${tenant} nicht von Ihnen war. Niemand wurde angemeldet.`,
    from: (ip) => `Sie kam von ${ip}`,
    again: 'Sagen Sie das innerhalb von zehn Minuten noch einmal, wird Ihr Telefon fünfzehn Minuten lang nichts gefragt.',
    advice:
      'Bestätigen Sie nie eine Anmeldung, die Sie nicht begonnen haben, und nennen Sie niemandem einen Code oder eine Zahl. Geht es weiter, sagen Sie es Ihrer Administration.',
  },
  fr: {
    subject: (tenant) => `Quelqu’un a tenté de se connecter à ${tenant} à votre place`,
    body: (tenant) => `Vous avez indiqué qu’une connexion à ${tenant} n’était pas la vôtre. Personne n’a été connecté.`,
    from: (ip) => `Elle venait de ${ip}`,
    again: 'Si vous l’indiquez encore dans les dix minutes, votre téléphone ne sera plus sollicité pendant quinze minutes.',
    advice:
      'N’approuvez jamais une connexion que vous n’avez pas commencée et ne donnez à personne un code ou un nombre. Si cela continue, prévenez votre administrateur.',
  },
  ja: {
    subject: (tenant) => `${tenant} へのなりすましサインインが試みられました`,
    body: (tenant) => `${tenant} へのサインインがご自身のものではないと報告されました。サインインは行われていません。`,
    from: (ip) => `接続元: ${ip}`,
    again: '10 分以内にもう一度報告すると、15 分間はスマートフォンに確認が届かなくなります。',
    advice: 'ご自身で始めていないサインインは承認せず、コードや番号を誰にも教えないでください。続く場合は管理者へご連絡ください。',
  },
};

/** Makes the mail in the nearest language. */
export function reportedMail(facts: ReportedMailFacts, to: string): Letter {
  const language = negotiateLanguage(facts.language);
  const words = reportedMailCatalogs[language];
  const tenant = oneLine(facts.tenantName);
  const at = `${facts.at.toISOString().slice(0, 16).replace('T', ' ')} UTC`;
  const from = facts.ip === undefined ? at : `${words.from(facts.ip)}, ${at}`;
  const lines = [words.body(tenant), from, words.again, words.advice];
  const subject = words.subject(tenant);
  return {
    kind: 'reported',
    to,
    language,
    subject: subject,
    text: `${lines.join('\n')}\n`,
    body: html`${lines.map((line) => html`<p>${line}</p>`)}`,
    values: { tenant, from },
  };
}
