// Turns one of our markdown documents into HTML for /docs. Markup inside the markdown is shown as text, inline styles become
// classes (the policy allows none), and links to other documents become links to their pages. Loads the markdown library, so it
// is imported only when the first page is asked for; the test of links uses it too.
import markdownIt from 'markdown-it';
import { type Html, trusted } from '../platform/html.ts';

/** Where a link or picture of a document leads: a URL, or undefined for what a server does not show. */
type Resolve = (target: string) => string | undefined;

export interface Heading {
  readonly level: number;
  readonly text: string;
  readonly id: string;
}

export interface Section {
  /** The anchor of its heading; '' for what stands below the title. */
  readonly id: string;
  readonly heading: string;
  readonly text: string;
}

export interface RenderedDocument {
  readonly title: string;
  readonly content: Html;
  readonly headings: readonly Heading[];
  /** The text of each part, from one heading of level 1 to 3 to the next. */
  readonly sections: readonly Section[];
  /** Every target in the order of the document, as written, with its words and the last heading of level 2 above it. */
  readonly links: readonly { readonly target: string; readonly text: string; readonly section: string }[];
}

type Token = ReturnType<typeof parser.parse>[number];

const parser = markdownIt({ html: false, linkify: false, typographer: false });

/** Renders a document. Ids of headings are those GitHub gives, so that one link works in both places. */
export function renderDocument(text: string, resolve: Resolve): RenderedDocument {
  const tokens = parser.parse(text, {});
  const headings = nameHeadings(tokens);
  const links: { target: string; text: string; section: string }[] = [];
  let section = '';
  tokens.forEach((token, index) => {
    if (token.type === 'heading_open' && token.tag === 'h2') section = textOf(tokens[index + 1]);
    if (token.type === 'inline') readLinks(token, section, links, resolve);
    if (token.type === 'th_open' || token.type === 'td_open') alignByClass(token);
    if (token.type === 'th_open' && textOf(tokens[index + 1]) === '') renameCell(tokens, index);
  });
  const title = headings.find((heading) => heading.level === 1)?.text ?? '';
  const sections = sectionsOf(tokens);
  return { title, content: trusted(parser.renderer.render(tokens, parser.options, {})), headings, sections, links };
}

/** The anchor GitHub makes of a heading. */
export function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\p{M}_\- ]/gu, '')
    .replaceAll(' ', '-');
}

function nameHeadings(tokens: readonly Token[]): readonly Heading[] {
  const seen = new Map<string, number>();
  return tokens.flatMap((token, index) => {
    if (token.type !== 'heading_open') return [];
    const text = textOf(tokens[index + 1]);
    const anchor = anchorOf(text);
    const count = seen.get(anchor) ?? 0;
    seen.set(anchor, count + 1);
    const id = count === 0 ? anchor : `${anchor}-${count}`;
    token.attrSet('id', id);
    return [{ level: Number(token.tag.slice(1)), text, id }];
  });
}

const sectionTags: ReadonlySet<string> = new Set(['h1', 'h2', 'h3']);

function sectionsOf(tokens: readonly Token[]): readonly Section[] {
  const sections: { id: string; heading: string; text: string }[] = [];
  tokens.forEach((token, index) => {
    if (token.type === 'heading_open' && sectionTags.has(token.tag))
      sections.push({ id: token.tag === 'h1' ? '' : String(token.attrGet('id')), heading: textOf(tokens[index + 1]), text: '' });
    const last = sections.at(-1);
    const isOfHeading = tokens[index - 1]?.type === 'heading_open';
    const text = token.type === 'inline' && !isOfHeading ? textOf(token) : token.type === 'fence' ? token.content : '';
    if (last !== undefined && text !== '') last.text = `${last.text} ${text}`.trim();
  });
  return sections;
}

function readLinks(inline: Token, section: string, links: { target: string; text: string; section: string }[], resolve: Resolve): void {
  const children = inline.children ?? [];
  let shown = true;
  children.forEach((token, index) => {
    if (token.type === 'image') {
      const source = String(token.attrGet('src') ?? '');
      links.push({ target: source, text: token.content, section });
      token.attrSet('src', resolve(source) ?? '');
    }
    if (token.type === 'link_open') {
      const target = String(token.attrGet('href') ?? '');
      const end = children.findIndex((other, at) => at > index && other.type === 'link_close');
      links.push({
        target,
        text: children
          .slice(index + 1, end)
          .map((child) => child.content)
          .join(''),
        section,
      });
      const url = resolve(target);
      shown = url !== undefined;
      if (url === undefined) retag(token, 'span');
      else token.attrSet('href', url);
    }
    if (token.type === 'link_close' && !shown) token.tag = 'span';
  });
}

function retag(token: Token, tag: string): void {
  token.tag = tag;
  token.attrs = null;
}

/** markdown-it aligns cells by inline styles, which the policy forbids. */
function alignByClass(cell: Token): void {
  const style = cell.attrGet('style');
  if (style === null) return;
  cell.attrs = null;
  cell.attrSet('class', String(style).replace('text-align:', ''));
}

/** A heading cell without words is no heading for those who listen. */
function renameCell(tokens: readonly Token[], at: number): void {
  tokens[at]!.tag = 'td';
  tokens[at + 2]!.tag = 'td';
}

function textOf(inline: Token | undefined): string {
  const written = (token: Token): string =>
    token.type === 'softbreak' ? ' ' : ['text', 'code_inline'].includes(token.type) ? token.content : '';
  return (inline?.children ?? []).map(written).join('');
}

// Wide tables and long lines scroll within themselves, by keyboard too.
parser.renderer.rules['table_open'] = () => '<div class="scroll" tabindex="0" role="group" aria-label="Table"><table>\n';
parser.renderer.rules['table_close'] = () => '</table></div>\n';
parser.renderer.rules['fence'] = (tokens, index) => codeBlock(tokens[index]!.content);
parser.renderer.rules['code_block'] = (tokens, index) => codeBlock(tokens[index]!.content);

const codeBlock = (text: string): string => `<pre tabindex="0"><code>${parser.utils.escapeHtml(text)}</code></pre>\n`;
