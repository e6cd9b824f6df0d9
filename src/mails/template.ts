// A mail as a tenant words it: a plain subject and Markdown without HTML, with placeholders such as {{code}}. There is no logic in it. Values
// are escaped where they stand, are never read as Markdown, and only a link may be the address of a link.
import markdownIt from 'markdown-it';
import { mailBodyCharsMax, mailSubjectCharsMax } from '../contract/limits.ts';
import { type MailKindName, mailKindOf } from '../domain/appearance/mail-kinds.ts';
import type { FieldFault } from '../domain/field.ts';
import { escapeHtml, type Html, trusted } from '../platform/html.ts';
import { oneLine } from './one-line.ts';

export interface MailTemplate {
  readonly subject: string;
  /** Markdown. */
  readonly body: string;
}

interface FilledTemplate {
  readonly subject: string;
  readonly text: string;
  readonly body: Html;
}

export const mailTemplateShape = {
  type: 'object',
  required: ['subject', 'body'],
  properties: {
    subject: {
      type: 'string',
      minLength: 1,
      maxLength: mailSubjectCharsMax,
      description: 'One line, with placeholders such as {{tenant}}',
    },
    body: { type: 'string', minLength: 1, maxLength: mailBodyCharsMax, description: 'Markdown without HTML, with placeholders' },
  },
  additionalProperties: false,
} as const;

const markdown = markdownIt({ html: false, linkify: false, breaks: true }).disable('image');
const placeholder = /\{\{\s*([^{}]*?)\s*\}\}/g;
const namesIn = (text: string): readonly string[] => [...text.matchAll(placeholder)].map((match) => match[1] ?? '');

/** What is wrong with a template, by its field. */
export function templateFault(kind: MailKindName, { subject, body }: MailTemplate): FieldFault | undefined {
  const { placeholders } = mailKindOf(kind);
  const known = Object.keys(placeholders).map((name) => `{{${name}}}`);
  if (/[\r\n]/.test(subject)) return { field: 'subject', text: 'must be one line' };
  for (const [field, text] of Object.entries({ subject, body })) {
    const unknown = namesIn(text).find((name) => !Object.hasOwn(placeholders, name));
    if (unknown !== undefined) return { field, text: `names {{${unknown}}}, which this mail does not have; it has ${known.join(', ')}` };
    if (/\{\{|\}\}/.test(text.replaceAll(placeholder, ''))) return { field, text: 'has braces that are no placeholder; write {{name}}' };
  }
  const missing = Object.entries(placeholders).find(([name, { required }]) => required === true && !namesIn(body).includes(name));
  if (missing !== undefined) return { field: 'body', text: `must have {{${missing[0]}}}: without it the mail is of no use` };
  const address = addressesIn(body).find((href) => addressFault(kind, href));
  if (address !== undefined)
    return { field: 'body', text: `has the address ${address}; an address is an https one, or a placeholder that is a link` };
  if (isPartOfAddress(kind, subject)) return { field: 'subject', text: partOfAddress };
  return [plainText(body), ...wordsIn(body)].some((text) => isPartOfAddress(kind, text))
    ? { field: 'body', text: partOfAddress }
    : undefined;
}

const partOfAddress = 'has a code or link as a part of an address; put a space between';
const secretMark = '\u0001';

/**
 * Programs that show or check mails make addresses of words, without any Markdown, and open them: a code or link within one would be told
 * to whoever is there.
 */
function isPartOfAddress(kind: MailKindName, text: string): boolean {
  const { placeholders } = mailKindOf(kind);
  const isSecret = (name: string): boolean => placeholders[name]?.isLink === true || placeholders[name]?.isSecret === true;
  return text
    .replaceAll(placeholder, (_whole, name: string) => (isSecret(name) ? secretMark : 'x'))
    .split(/\s+/)
    .filter((word) => word.includes(secretMark))
    .some((word) => /[./@\\]/.test(word.replaceAll(secretMark, '').replace(/[^\p{L}\p{N}]+$/u, '')));
}

/** What is read of each paragraph once its Markdown and its character references are. */
const wordsIn = (body: string): readonly string[] =>
  markdown
    .parse(body, {})
    .flatMap(({ children }) =>
      children === null ? [] : [children.map(({ type, content }) => (/break$/.test(type) ? '\n' : content)).join('')],
    );

type Tokens = ReturnType<typeof markdown.parse>;
const inline = (tokens: Tokens): Tokens => tokens.flatMap((token) => [token, ...(token.children ?? [])]);
const addressesIn = (body: string): readonly string[] =>
  inline(markdown.parse(body, {})).flatMap((token) =>
    token.type === 'link_open' ? [decodedBraces(String(token.attrGet('href') ?? ''))] : [],
  );

/** markdown-it encodes the braces of an address. */
const decodedBraces = (href: string): string => href.replaceAll(/%7B%7B(?:%20)*(\w+)(?:%20)*%7D%7D/gi, '{{$1}}');

function addressFault(kind: MailKindName, href: string): boolean {
  const [name] = namesIn(href);
  if (name !== undefined) return href !== `{{${name}}}` || mailKindOf(kind).placeholders[name]?.isLink !== true;
  return URL.parse(href)?.protocol !== 'https:';
}

/** The mail with its values. The template was checked when it was written. */
export function fillTemplate(
  kind: MailKindName,
  { subject, body }: MailTemplate,
  values: Readonly<Record<string, string>>,
): FilledTemplate {
  const fill = (text: string, write: (value: string) => string): string =>
    text.replaceAll(placeholder, (_whole, name: string) => write(values[name] ?? ''));
  const tokens = markdown.parse(body, {});
  for (const token of inline(tokens))
    if (token.type === 'link_open') {
      const href = decodedBraces(String(token.attrGet('href') ?? ''));
      token.attrSet('href', addressFault(kind, href) ? '' : fill(href, (value) => value)); // escaped when it is written
      token.attrSet('rel', 'noreferrer');
    }
  const rendered = markdown.renderer.render(tokens, markdown.options, {});
  return {
    subject: oneLine(fill(subject, (value) => value)),
    text: `${fill(plainText(body), (value) => value)}\n`,
    // markdown-it escaped the template's own text, and no HTML is in it.
    body: trusted(fill(rendered, (value) => escapeHtml(value).replaceAll('\n', '<br>'))),
  };
}

/** Markdown as people read it where there is no HTML: links show their address, marks of emphasis go. */
const plainText = (body: string): string =>
  body
    .replaceAll(/\[([^\]]*)\]\(\s*<?([^)>]*?)>?\s*\)/g, '$1: $2')
    .replaceAll(/(\*\*|__)(.+?)\1/g, '$2')
    .replaceAll(/^#{1,6}\s+/gm, '');
