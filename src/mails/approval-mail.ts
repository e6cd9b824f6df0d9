// The mail that asks a person for a decision on a page, in the languages of the sign-in pages. It says who asks and what for;
// the link opens a page that shows both again, and only a button there decides.
import { accentsOf } from '../domain/appearance/branding.ts';
import { inkOn } from '../domain/appearance/colors.ts';
import type { Client } from '../domain/client/client.ts';
import { type Language, languageFor } from '../domain/language.ts';
import type { Tenant } from '../domain/tenant/tenant.ts';
import { html } from '../platform/html.ts';
import { plural } from '../texts/plural.ts';
import type { Letter } from './letter.ts';
import { oneLine } from './one-line.ts';

interface ApprovalMailFacts {
  readonly tenant: Tenant;
  readonly client: Client;
  readonly user: { readonly locale: string | null; readonly preferred_language: string | null };
  readonly bindingMessage: string | undefined;
  readonly lifetimeSeconds: number;
  /** The secret of the page's address. */
  readonly mailToken: string;
}

export interface Wording {
  readonly subject: (name: string) => string;
  readonly intro: (name: string) => string;
  readonly message: string;
  readonly button: string;
  readonly lifetime: (minutes: number) => string;
  readonly warning: string;
}

export const approvalMailCatalogs: Readonly<Record<Language, Wording>> = {
  en: {
    subject: (name) => `${name} asks for your approval`,
    intro: (name) => `${name} asks you to confirm something you started.`,
    message: 'Its message:',
    button: 'Look at the request',
    lifetime: (minutes) => `You can decide for ${minutes} ${plural('en', minutes, { one: 'minute', other: 'minutes' })}.`,
    warning: 'If you did not start anything, open the page and refuse, or ignore this mail.',
  },
  de: {
    subject: (name) => `${name} bittet um Ihre Zustimmung`,
    intro: (name) => `${name} bittet Sie, etwas zu bestätigen, das Sie begonnen haben.`,
    message: 'Die Nachricht dazu:',
    button: 'Anfrage ansehen',
    lifetime: (minutes) => `Sie können ${minutes} ${plural('de', minutes, { one: 'Minute', other: 'Minuten' })} lang entscheiden.`,
    warning: 'Wenn Sie nichts begonnen haben, lehnen Sie auf der Seite ab oder ignorieren Sie diese E-Mail.',
  },
  fr: {
    subject: (name) => `${name} demande votre accord`,
    intro: (name) => `${name} vous demande de confirmer une opération que vous avez commencée.`,
    message: 'Son message :',
    button: 'Voir la demande',
    lifetime: (minutes) => `Vous pouvez décider pendant ${minutes} ${plural('fr', minutes, { one: 'minute', other: 'minutes' })}.`,
    warning: 'Si vous n’avez rien commencé, refusez sur la page ou ignorez ce message.',
  },
  ja: {
    subject: (name) => `${name} が承認を求めています`,
    intro: (name) => `${name} が、開始された操作の確認を求めています。`,
    message: 'メッセージ：',
    button: 'リクエストを確認する',
    lifetime: (minutes) => `${minutes} 分以内に決定してください。`,
    warning: 'お心当たりがない場合は、ページで拒否するか、このメールを無視してください。',
  },
};

/** Path of the approval page below base_url; sign-in/ serves it. */
export const approvalPagePath = '/approve';

/** Makes the mail in the user's language. */
export function approvalMail(facts: ApprovalMailFacts, to: string): Letter {
  const language = languageFor(facts.user);
  const words = approvalMailCatalogs[language];
  const name = oneLine(facts.client.name);
  const link = `${facts.tenant.baseUrl}${approvalPagePath}?token=${facts.mailToken}`;
  const minutes = Math.max(1, Math.round(facts.lifetimeSeconds / 60));
  const message = facts.bindingMessage === undefined ? [] : [words.message, facts.bindingMessage, ''];
  const text = [
    words.intro(name),
    '',
    ...message,
    link,
    '',
    words.lifetime(minutes),
    words.warning,
    '',
    `-- \n${oneLine(facts.tenant.name)}`,
  ];
  const shown =
    facts.bindingMessage !== undefined &&
    html`<p style="margin:0 0 4px;font-size:14px;color:#4a4f63">${words.message}</p>
<p style="margin:0 0 20px;padding:12px 16px;background:#eef0fb;border-radius:12px;font-size:16px;color:#2a2f7a;white-space:pre-wrap">${facts.bindingMessage}</p>`;
  const accent = accentsOf(facts.tenant.settings.branding).light;
  const body = html`<h1 style="margin:0 0 12px;font-size:20px;line-height:1.3">${words.subject(name)}</h1>
<p style="margin:0 0 20px;font-size:15px;line-height:1.5">${words.intro(name)}</p>
${shown}
<p style="margin:0 0 20px"><a href="${link}" style="display:inline-block;padding:12px 20px;background:${accent};color:${inkOn(accent)};border-radius:10px;text-decoration:none;font-weight:600">${words.button}</a></p>
<p style="margin:0 0 8px;font-size:14px;line-height:1.5;color:#4a4f63">${words.lifetime(minutes)}</p>
<p style="margin:0;font-size:14px;line-height:1.5;color:#4a4f63">${words.warning}</p>`;
  const values = {
    application: name,
    tenant: oneLine(facts.tenant.name),
    link,
    minutes: String(minutes),
    message: facts.bindingMessage ?? '',
  };
  return { kind: 'approval', to, language, subject: words.subject(name), text: text.join('\n'), body, values };
}
