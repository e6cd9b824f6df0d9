// The mail that invites somebody, in the languages of the sign-in pages: a link to add a passkey or phone with. Opening it uses nothing
// up, so that programs which look at links in mails do no harm.
import { type Language, negotiateLanguage } from '../domain/language.ts';
import { html } from '../platform/html.ts';
import { plural } from '../texts/plural.ts';
import type { Letter } from './letter.ts';
import { oneLine } from './one-line.ts';

interface InvitationMailFacts {
  readonly url: string;
  readonly tenantName: string;
  readonly lifetimeSeconds: number;
  readonly language: string;
}

export interface Wording {
  readonly subject: (tenant: string) => string;
  readonly body: (tenant: string) => string;
  readonly open: string;
  readonly days: (count: number) => string;
  readonly hours: (count: number) => string;
  readonly lifetime: (time: string) => string;
  readonly warning: string;
}

export const invitationMailCatalogs: Readonly<Record<Language, Wording>> = {
  en: {
    subject: (tenant) => `You are invited to ${tenant}`,
    body: (tenant) => `Open this link to choose how you sign in to ${tenant}: with a passkey or your phone.`,
    open: 'Get started',
    days: (count) => `${count} ${plural('en', count, { one: 'day', other: 'days' })}`,
    hours: (count) => `${count} ${plural('en', count, { one: 'hour', other: 'hours' })}`,
    lifetime: (time) => `The link works once, for ${time}.`,
    warning: 'Everybody who has the link can act as you, so do not pass it on. If you did not expect this mail, ignore it.',
  },
  de: {
    subject: (tenant) => `Sie sind zu ${tenant} eingeladen`,
    body: (tenant) => `Öffnen Sie diesen Link und wählen Sie, wie Sie sich bei ${tenant} anmelden: mit einem Passkey oder Ihrem Telefon.`,
    open: 'Loslegen',
    days: (count) => `${count} ${plural('de', count, { one: 'Tag', other: 'Tage' })}`,
    hours: (count) => `${count} ${plural('de', count, { one: 'Stunde', other: 'Stunden' })}`,
    lifetime: (time) => `Der Link gilt einmal und ${time} lang.`,
    warning:
      'Wer den Link hat, bekommt Ihren Zugang: Geben Sie ihn niemandem. Wenn Sie ihn nicht erwartet haben, ignorieren Sie diese E-Mail.',
  },
  fr: {
    subject: (tenant) => `Vous êtes invité à rejoindre ${tenant}`,
    body: (tenant) => `Ouvrez ce lien pour choisir comment vous connecter à ${tenant} : avec une clé d’accès ou votre téléphone.`,
    open: 'Commencer',
    days: (count) => `${count} ${plural('fr', count, { one: 'jour', other: 'jours' })}`,
    hours: (count) => `${count} ${plural('fr', count, { one: 'heure', other: 'heures' })}`,
    lifetime: (time) => `Le lien fonctionne une fois, pendant ${time}.`,
    warning: 'Quiconque a ce lien obtient votre accès : ne le donnez à personne. Si vous ne l’attendiez pas, ignorez ce message.',
  },
  ja: {
    subject: (tenant) => `${tenant} への招待`,
    body: (tenant) => `次のリンクを開き、${tenant} へのサインイン方法（パスキーまたはスマートフォン）を選んでください。`,
    open: '始める',
    days: (count) => `${count} 日間`,
    hours: (count) => `${count} 時間`,
    lifetime: (time) => `リンクは一度だけ、${time}有効です。`,
    warning:
      'リンクを持つ人は誰でもあなたとして登録できます。誰にも渡さないでください。お心当たりがない場合は、このメールを無視してください。',
  },
};

const daySeconds = 86_400;

/** Days where it is as many, else hours. */
export function lifetimeText(language: Language, lifetimeSeconds: number): string {
  const words = invitationMailCatalogs[language];
  const days = Math.floor(lifetimeSeconds / daySeconds);
  return days >= 1 ? words.days(days) : words.hours(Math.max(1, Math.floor(lifetimeSeconds / 3600)));
}

/** Makes the mail in the nearest language. */
export function invitationMail(facts: InvitationMailFacts, to: string): Letter {
  const language = negotiateLanguage(facts.language);
  const words = invitationMailCatalogs[language];
  const tenant = oneLine(facts.tenantName);
  const time = lifetimeText(language, facts.lifetimeSeconds);
  const [body, lifetime] = [words.body(tenant), words.lifetime(time)];
  const text = [body, '', facts.url, '', lifetime, words.warning, ''].join('\n');
  return {
    kind: 'invitation',
    to,
    language,
    subject: words.subject(tenant),
    text,
    body: html`<p>${body}</p><p><a href="${facts.url}">${words.open}</a></p><p>${lifetime}</p><p>${words.warning}</p>`,
    values: { tenant, link: facts.url, lifetime: time },
  };
}
