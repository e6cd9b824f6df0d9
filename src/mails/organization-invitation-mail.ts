// The mail that invites somebody into an organisation, whether they have an account or not: what the link opens tells them apart.
import { type Language, negotiateLanguage } from '../domain/language.ts';
import { html } from '../platform/html.ts';
import { invitationMailCatalogs, lifetimeText } from './invitation-mail.ts';
import type { Letter } from './letter.ts';
import { oneLine } from './one-line.ts';

interface OrganizationInvitationMailFacts {
  readonly url: string;
  readonly tenantName: string;
  readonly organizationName: string;
  readonly lifetimeSeconds: number;
  readonly language: string;
}

type Wording = {
  readonly subject: (organization: string, tenant: string) => string;
  readonly body: (organization: string, tenant: string) => string;
  readonly open: string;
  readonly warning: string;
};

export const organizationInvitationMailCatalogs: Readonly<Record<Language, Wording>> = {
  en: {
    subject: (organization, tenant) => `Join ${organization} at ${tenant}`,
    body: (organization, tenant) =>
      `You are invited to join ${organization} at ${tenant}. Open this link: if you have an account, sign in and choose Join; if not, choose how you will sign in.`,
    open: 'Open the invitation',
    warning: 'The link is for you: pass it to nobody. If you did not expect it, ignore this mail.',
  },
  de: {
    subject: (organization, tenant) => `Einladung zu ${organization} bei ${tenant}`,
    body: (organization, tenant) =>
      `Sie sind eingeladen, ${organization} bei ${tenant} beizutreten. Öffnen Sie diesen Link: Wenn Sie ein Konto haben, melden Sie sich an und wählen Sie „Beitreten“; sonst wählen Sie, wie Sie sich künftig anmelden.`,
    open: 'Einladung öffnen',
    warning: 'Der Link ist für Sie: Geben Sie ihn niemandem. Wenn Sie ihn nicht erwartet haben, ignorieren Sie diese E-Mail.',
  },
  fr: {
    subject: (organization, tenant) => `Rejoignez ${organization} chez ${tenant}`,
    body: (organization, tenant) =>
      `Vous êtes invité à rejoindre ${organization} chez ${tenant}. Ouvrez ce lien : si vous avez un compte, connectez-vous et choisissez « Rejoindre » ; sinon, choisissez comment vous vous connecterez.`,
    open: 'Ouvrir l’invitation',
    warning: 'Ce lien est pour vous : ne le donnez à personne. Si vous ne l’attendiez pas, ignorez ce message.',
  },
  ja: {
    subject: (organization, tenant) => `${tenant} の ${organization} への招待`,
    body: (organization, tenant) =>
      `${tenant} の ${organization} に招待されています。次のリンクを開いてください。アカウントをお持ちの場合はサインインして「参加」を選び、お持ちでない場合はサインイン方法を選んでください。`,
    open: '招待を開く',
    warning: 'このリンクはあなた専用です。誰にも渡さないでください。お心当たりがない場合は、このメールを無視してください。',
  },
};

/** Makes the mail in the nearest language. */
export function organizationInvitationMail(facts: OrganizationInvitationMailFacts, to: string): Letter {
  const language = negotiateLanguage(facts.language);
  const words = organizationInvitationMailCatalogs[language];
  const [organization, tenant] = [oneLine(facts.organizationName), oneLine(facts.tenantName)];
  const time = lifetimeText(language, facts.lifetimeSeconds);
  const [body, lifetime] = [words.body(organization, tenant), invitationMailCatalogs[language].lifetime(time)];
  const text = [body, '', facts.url, '', lifetime, words.warning, ''].join('\n');
  return {
    kind: 'organization_invitation',
    to,
    language,
    subject: words.subject(organization, tenant),
    text,
    body: html`<p>${body}</p><p><a href="${facts.url}">${words.open}</a></p><p>${lifetime}</p><p>${words.warning}</p>`,
    values: { tenant, organization, link: facts.url, lifetime: time },
  };
}
