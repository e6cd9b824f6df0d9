// Makes the message of a letter: the built-in text or the tenant's own, in the frame of its branding. The frame asks for nothing from
// anywhere, but for the logo where the tenant has one.
import { accentsOf, assetUrl } from '../domain/appearance/branding.ts';
import type { Language } from '../domain/language.ts';
import type { Tenant } from '../domain/tenant/tenant.ts';
import { type Html, html, trusted } from '../platform/html.ts';
import type { Message } from '../platform/mail/mail.ts';
import { brandTexts } from '../texts/brand-texts.ts';
import type { Letter } from './letter.ts';
import { oneLine } from './one-line.ts';
import type { MailTemplate } from './template.ts';

/** `template`: what the tenant published in place of the built-in mail. */
export async function composeMessage(letter: Letter, tenant: Tenant, template: MailTemplate | undefined): Promise<Message> {
  const { to, language } = letter;
  if (template === undefined) return builtInMessage(letter, tenant);
  const { fillTemplate, templateFault } = await import('./template.ts'); // the reader of Markdown loads with the first mail that is worded
  // What was published before a rule was drawn is not sent.
  if (templateFault(letter.kind, template) !== undefined) return composeMessage(letter, tenant, undefined);
  const filled = fillTemplate(letter.kind, template, letter.values);
  return { to, subject: filled.subject, text: filled.text, html: framed(tenant, language, filled.subject, filled.body) };
}

/** A mail that no tenant words itself. */
export const builtInMessage = ({ to, language, subject, text, body }: Omit<Letter, 'kind' | 'values'>, tenant: Tenant): Message => ({
  to,
  subject,
  text,
  html: framed(tenant, language, subject, body),
});

const font = 'font-family:-apple-system,BlinkMacSystemFont,Segoe UI,Roboto,Helvetica,Arial,sans-serif';

function framed(tenant: Tenant, language: Language, title: string, body: Html): string {
  const { logo, corner_radius: corner = 16, ...branding } = tenant.settings.branding;
  const accent = accentsOf(branding).light;
  const mark =
    logo !== undefined &&
    html`<p style="margin:0 0 20px"><img src="${assetUrl(tenant, logo)}" alt="${tenant.name}" style="display:block;max-width:220px;max-height:48px"></p>`;
  const page = html`<html lang="${language}"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light dark"><title>${title}</title></head>
<body style="margin:0;padding:24px 12px;background:${branding.background ?? '#f3f4f8'};${trusted(font)}">
<table role="presentation" align="center" style="width:100%;max-width:460px;margin:0 auto;border-collapse:separate;background:#ffffff;border:1px solid #e2e5ee;border-top:4px solid ${accent};border-radius:${corner}px"><tr><td style="padding:32px 28px;color:#171a26;font-size:15px;line-height:1.5">
${mark}${body}
</td></tr></table>
<p style="margin:16px 0 0;text-align:center;font-size:12px;color:#5b6074">${oneLine(tenant.name)}</p>
${linksOf(branding, language)}</body></html>`;
  return `<!doctype html>\n${page.markup}\n`;
}

function linksOf(branding: Tenant['settings']['branding'], language: Language): Html | undefined {
  const texts = brandTexts[language];
  const links = [
    [branding.help_url, texts.help],
    [branding.terms_url, texts.terms],
    [branding.privacy_url, texts.privacy],
  ].filter(([url]) => url !== undefined);
  if (links.length === 0) return undefined;
  return html`<p style="margin:8px 0 0;text-align:center;font-size:12px">${links.map(([url, text]) => html`<a href="${url}" style="color:#5b6074;margin:0 6px">${text}</a>`)}</p>\n`;
}
