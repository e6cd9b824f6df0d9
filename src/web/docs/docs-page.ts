// The frame of a page of /docs: navigation from the first page's lists, the document, one style sheet with the console's colours.
// No script at all.
import { brandVariables } from '../../http/pages/brand.ts';
import { type Page, securityHeaders } from '../../http/pages/page.ts';
import { type Html, html, trusted } from '../../platform/html.ts';
import { randomId } from '../../platform/random.ts';
import { appStyle } from '../own-app/app-style.ts';
import type { DocsSection } from './library.ts';
import type { RenderedDocument } from './markdown.ts';

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
header a:last-child{display:none}
@media (max-width:48rem){body{grid-template:"head" auto "main" 1fr "nav" auto / minmax(0,1fr)}nav{border-top:1px solid var(--line)}nav ul{display:grid}header a:last-child{display:block}}
`;
const docsStyle = trusted(`${appStyle}${rules.replaceAll('\n', '')}`);

export function docsPage(document: RenderedDocument, at: string, sections: readonly DocsSection[]): Page {
  const nonce = randomId();
  const page = html`<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<title>${document.title} · Gatehouse</title>
<link rel="icon" href="data:,">
<style nonce="${nonce}">${trusted(brandVariables(undefined))}${docsStyle}</style>
</head>
<body>
<a class="skip" href="#content">Skip to content</a>
<header><a class="brand" href="/docs">Gatehouse documentation</a><a href="#pages">All pages</a></header>
<nav aria-label="Documentation" id="pages">${sections.map((section) => navigationOf(section, at))}</nav>
<main id="content" tabindex="-1">
${document.content}
</main>
</body>
</html>`;
  return { markup: `<!doctype html>\n${page.markup}\n`, headers: securityHeaders(nonce, false) };
}

function navigationOf({ title, pages }: DocsSection, at: string): Html {
  return html`<h2>${title}</h2><ul>${pages.map(
    (page) => html`<li><a href="/docs/${page.path}"${page.path === at && html` aria-current="page"`}>${page.title}</a></li>`,
  )}</ul>`;
}
