// The frame of a page of /docs: search, navigation from the page of contents, what is on this page, the document, one style sheet
// with the console's colours. The one script adds buttons that copy a code block; everything else works without it.

import { docsQueryCharsMax } from '../contract/limits.ts';
import { appStyle } from '../first-party/app-style.ts';
import { brandVariables } from '../pages/brand.ts';
import { type Page, securityHeaders } from '../pages/page.ts';
import { type Html, html, trusted } from '../platform/html.ts';
import { randomId } from '../platform/random.ts';
import type { DocsSection } from './library.ts';
import type { RenderedDocument } from './markdown.ts';
import type { Found } from './search.ts';

const rules = `
nav h2{margin:1.2rem .8rem .3rem;font-size:.78rem;color:var(--muted);text-transform:uppercase;letter-spacing:.05em}
nav h2:first-child{margin-top:0}
nav a{padding:.3rem .8rem;font-size:.93rem}
main h2{margin-top:2.4rem}
main h3{margin:1.8rem 0 .5rem;font-size:1rem}
main p,main ul,main ol{max-width:46rem}
main li{margin:.25rem 0}
main img{max-width:100%;height:auto;border:1px solid var(--line);border-radius:.8rem}
main pre{overflow-x:auto;margin:0 0 1.2rem;padding:.9rem 1.1rem;background:var(--card);border:1px solid var(--line);border-radius:.8rem;font-size:.87rem;line-height:1.45}
main pre code{font-size:inherit;overflow-wrap:normal}
main :not(pre)>code{padding:.1em .3em;border-radius:.3em;background:var(--soft)}
main td,main th{overflow-wrap:normal}
.right{text-align:right}.center{text-align:center}
header search{flex:1;max-width:22rem}
header search form{display:flex;gap:.5rem}
header search input{flex:1;min-width:0}
header .pages{display:none}
.contents{grid-area:contents;align-self:start;position:sticky;top:0;max-height:100vh;overflow-y:auto;padding:1.9rem 1.2rem;font-size:.9rem}
.contents h2{margin:0 0 .4rem}
.contents a{padding:.2rem .8rem;color:var(--muted)}
body:has(.contents){grid-template:"head head head" auto "nav main contents" 1fr / 14rem minmax(0,1fr) 15rem}
.code{position:relative}
.code button{position:absolute;top:.5rem;right:.5rem;min-height:0;padding:.2rem .6rem;font-size:.8rem}
.found{list-style:none;margin:0;padding:0;max-width:46rem}
.found li{margin:0 0 1.4rem}
.found a{font-weight:600}
.found p{margin:.2rem 0 0;color:var(--muted);overflow-wrap:anywhere}
@media (max-width:72rem){body:has(.contents){grid-template:"head head" auto "nav contents" auto "nav main" 1fr / 14rem minmax(0,1fr)}.contents{position:static;padding:1.6rem 2rem 0}}
@media (max-width:48rem){body{grid-template:"head" auto "main" 1fr "nav" auto / minmax(0,1fr)}body:has(.contents){grid-template:"head" auto "contents" auto "main" 1fr "nav" auto / minmax(0,1fr)}.contents{padding:1rem 1rem 0}header{flex-wrap:wrap}header search{order:3;flex-basis:100%;max-width:none}nav#pages{border-top:1px solid var(--line)}nav#pages ul{display:grid}nav a{white-space:normal}header .pages{display:block}}
`;
const docsStyle = trusted(`${appStyle}${rules.replaceAll('\n', '')}`);

/** Adds a copy button to each code block; what is copied is the block's text. */
const copyScript = `if(navigator.clipboard)for(const pre of document.querySelectorAll('main pre')){const box=document.createElement('div'),button=document.createElement('button');
box.className='code';pre.replaceWith(box);box.append(pre,button);button.className='quiet';button.type='button';button.textContent='Copy';
button.addEventListener('click',()=>navigator.clipboard.writeText(pre.textContent).then(()=>{button.textContent='Copied';setTimeout(()=>{button.textContent='Copy'},2000)}))}`;

/** From so many headings on a page says what is on it. */
const contentsFrom = 4;

export function docsPage(document: RenderedDocument, at: string, sections: readonly DocsSection[]): Page {
  const parts = document.headings.filter(({ level }) => level === 2);
  const contents =
    parts.length >= contentsFrom &&
    html`<nav class="contents" aria-labelledby="on-this-page"><h2 id="on-this-page">On this page</h2><ul>${parts.map(({ id, text }) => html`<li><a href="#${id}">${text}</a></li>`)}</ul></nav>`;
  return frame({ title: document.title, content: document.content, contents, at, sections, query: '' });
}

/** What a search found. */
export function searchPage(query: string, found: readonly Found[], sections: readonly DocsSection[]): Page {
  const said =
    query === ''
      ? 'Type what you look for into the field above.'
      : found.length === 0
        ? `Nothing found for “${query}”. Try fewer words, or the name of a setting, command or error.`
        : `For “${query}”:`;
  const content = html`<h1>Search</h1><p>${said}</p><ul class="found">${found.map(
    ({ path, page, section, excerpt }) =>
      html`<li><a href="${path}">${section === page ? page : `${page}: ${section}`}</a><p>${excerpt}</p></li>`,
  )}</ul>`;
  return frame({ title: 'Search', content, at: undefined, sections, query });
}

interface Frame {
  readonly title: string;
  readonly content: Html;
  readonly contents?: Html | false;
  /** The page's path below /docs; undefined for a page without a place in the navigation. */
  readonly at: string | undefined;
  readonly sections: readonly DocsSection[];
  readonly query: string;
}

function frame({ title, content, contents = false, at, sections, query }: Frame): Page {
  const nonce = randomId();
  const page = html`<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<title>${title} · Gatehouse</title>
<link rel="icon" href="data:,">
<style nonce="${nonce}">${trusted(brandVariables(undefined))}${docsStyle}</style>
</head>
<body>
<a class="skip" href="#content">Skip to content</a>
<header><a class="brand" href="/docs">Gatehouse documentation</a>
<search><form action="/docs/search"><label class="hidden" for="q">Search the documentation</label><input id="q" name="q" type="search" maxlength="${docsQueryCharsMax}" value="${query}" placeholder="Search"><button class="quiet">Search</button></form></search>
<a class="pages" href="#pages">All pages</a></header>
<nav aria-label="Documentation" id="pages">${sections.map((section) => navigationOf(section, at))}</nav>
${contents}<main id="content" tabindex="-1">
${content}
</main>
<script nonce="${nonce}">${trusted(copyScript)}</script>
</body>
</html>`;
  return { markup: `<!doctype html>\n${page.markup}\n`, headers: securityHeaders(nonce, { hasScript: true, formsStay: true }) };
}

function navigationOf({ title, pages }: DocsSection, at: string | undefined): Html {
  return html`<h2>${title}</h2><ul>${pages.map(
    (page) => html`<li><a href="/docs/${page.path}"${page.path === at && html` aria-current="page"`}>${page.title}</a></li>`,
  )}</ul>`;
}
