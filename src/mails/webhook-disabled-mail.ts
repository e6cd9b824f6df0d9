// The mail to administrators that we disabled a webhook, and what to do, in the languages of the pages.

import type { DisabledReason } from '../domain/extending/webhook.ts';
import { type Language, negotiateLanguage } from '../domain/language.ts';
import { html } from '../platform/html.ts';
import type { Message } from '../platform/mail/mail.ts';
import { oneLine } from './one-line.ts';

export interface Wording {
  readonly subject: (tenant: string) => string;
  readonly gone: (url: string) => string;
  readonly failing: (url: string) => string;
  readonly next: string;
}

export const webhookDisabledMailCatalogs: Readonly<Record<Language, Wording>> = {
  en: {
    subject: (tenant) => `A webhook of ${tenant} was disabled`,
    gone: (url) => `The webhook ${url} was disabled, because it answered 410 Gone.`,
    failing: (url) => `The webhook ${url} was disabled, because nothing has arrived there for five days.`,
    next: 'Its events wait for thirty days. Enable it in the console under Webhooks once it answers again, or delete it there.',
  },
  de: {
    subject: (tenant) => `Ein Webhook von ${tenant} wurde abgeschaltet`,
    gone: (url) => `Der Webhook ${url} wurde abgeschaltet, weil er mit 410 Gone geantwortet hat.`,
    failing: (url) => `Der Webhook ${url} wurde abgeschaltet, weil dort seit fünf Tagen nichts mehr ankommt.`,
    next: 'Seine Ereignisse warten dreißig Tage. Schalten Sie ihn in der Konsole unter Webhooks wieder ein, sobald er antwortet, oder löschen Sie ihn dort.',
  },
  fr: {
    subject: (tenant) => `Un webhook de ${tenant} a été désactivé`,
    gone: (url) => `Le webhook ${url} a été désactivé, car il a répondu 410 Gone.`,
    failing: (url) => `Le webhook ${url} a été désactivé, car rien n’y est arrivé depuis cinq jours.`,
    next: 'Ses événements attendent trente jours. Réactivez-le dans la console, sous Webhooks, dès qu’il répond de nouveau, ou supprimez-le.',
  },
  ja: {
    subject: (tenant) => `${tenant} の Webhook が無効になりました`,
    gone: (url) => `Webhook ${url} は 410 Gone と応答したため、無効になりました。`,
    failing: (url) => `Webhook ${url} には 5 日間何も届かなかったため、無効になりました。`,
    next: 'イベントは 30 日間保留されます。応答するようになったら、コンソールの Webhooks で有効に戻すか、削除してください。',
  },
};

/** Makes the mail in the nearest language. */
export function webhookDisabledMail(
  facts: { readonly tenantName: string; readonly language: string; readonly url: string; readonly reason: DisabledReason },
  to: string,
): Message {
  const language = negotiateLanguage(facts.language);
  const words = webhookDisabledMailCatalogs[language];
  const lines = [facts.reason === 'gone' ? words.gone(facts.url) : words.failing(facts.url), words.next];
  const subject = words.subject(oneLine(facts.tenantName));
  const page = html`<html lang="${language}"><head><meta charset="utf-8"><title>${subject}</title></head><body>${lines.map((line) => html`<p>${line}</p>`)}</body></html>`;
  return { to, subject, text: `${lines.join('\n')}\n`, html: `<!doctype html>\n${page.markup}\n` };
}
