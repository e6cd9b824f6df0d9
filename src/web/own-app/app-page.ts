// The frame of every page of our own applications: who is signed in, navigation, content. One style sheet, nonce CSP, and no
// script unless a page brings one. Words come from the application; nothing here knows a page.
import type { Language } from '../../domain/language.ts';
import type { Tenant } from '../../domain/tenant.ts';
import { brandVariables } from '../../http/pages/brand.ts';
import { type Page, securityHeaders } from '../../http/pages/page.ts';
import { type Html, html, trusted } from '../../platform/html.ts';
import { randomId } from '../../platform/random.ts';
import { appStyle } from './app-style.ts';
import { appPath, type OwnApp } from './own-app.ts';

export interface Frame {
  readonly own: OwnApp;
  readonly tenant: Tenant;
  readonly language: Language;
  readonly words: FrameWords;
  /** Paths below the application and their names, in order. */
  readonly sections: readonly (readonly [path: string, name: string, ...more: readonly string[]])[];
  /** Name of the person; undefined on the page before the sign-in. */
  readonly person: string | undefined;
  readonly csrf: string;
  /** Path of the page below the application, to mark where one is. */
  readonly at: string;
  /** What a form just did, or what was wrong with it. */
  readonly notice?: Notice | undefined;
  /** Style rules of the application on top of those it shares; written by us. */
  readonly style?: string;
  /** Trusted script of our own; runs under the page's nonce. */
  readonly script?: string | undefined;
}

export interface Notice {
  readonly kind: 'good' | 'bad';
  readonly text: string;
}

export interface FrameWords {
  readonly skip: string;
  readonly navigation: string;
  readonly signOut: string;
}

export function appPage(frame: Frame, title: string, content: Html): Page {
  const nonce = randomId();
  const page = html`<html lang="${frame.language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<title>${title} · ${frame.tenant.name}</title>
<link rel="icon" href="data:,">
<style nonce="${nonce}">${trusted(brandVariables(frame.tenant))}${trusted(appStyle)}${frame.style !== undefined && trusted(frame.style)}</style>
</head>
<body>
<a class="skip" href="#content">${frame.words.skip}</a>
<header><a class="brand" href="${appPath(frame.own, frame.tenant, '')}">${frame.tenant.name}</a>${personBox(frame)}</header>
${frame.person !== undefined && navigation(frame)}
<main id="content" tabindex="-1">
<h1>${title}</h1>
${frame.notice !== undefined && html`<p class="notice ${frame.notice.kind}" role="${frame.notice.kind === 'bad' ? 'alert' : 'status'}" id="notice">${frame.notice.text}</p>`}
${content}
</main>
${frame.script !== undefined && html`<script nonce="${nonce}">${trusted(frame.script)}</script>`}
</body>
</html>`;
  return { markup: `<!doctype html>\n${page.markup}\n`, headers: securityHeaders(nonce, frame.script !== undefined, true) };
}

function navigation(frame: Frame): Html {
  const isHere = (path: string): boolean => (path === '' ? frame.at === '' : frame.at === path || frame.at.startsWith(`${path}/`));
  return html`<nav aria-label="${frame.words.navigation}"><ul>${frame.sections.map(
    ([path, name]) =>
      html`<li><a href="${appPath(frame.own, frame.tenant, path)}"${isHere(path) && html` aria-current="page"`}>${name}</a></li>`,
  )}</ul></nav>`;
}

function personBox(frame: Frame): Html | undefined {
  if (frame.person === undefined) return undefined;
  return html`<form method="post" action="${appPath(frame.own, frame.tenant, '/sign-out')}">${csrfField(frame)}<span>${frame.person}</span><button class="quiet" id="sign-out">${frame.words.signOut}</button></form>`;
}

export const csrfField = ({ csrf }: Pick<Frame, 'csrf'>): Html => html`<input type="hidden" name="csrf" value="${csrf}">`;

/** A table with a caption for those who cannot see it. */
export function table(caption: string, heads: readonly string[], rows: readonly (readonly (Html | string)[])[]): Html {
  return html`<div class="scroll" role="region" aria-label="${caption}" tabindex="0"><table><caption class="hidden">${caption}</caption><thead><tr>${heads.map(
    (head) => html`<th scope="col">${head}</th>`,
  )}</tr></thead><tbody>${rows.map((cells) => html`<tr>${cells.map((cell) => html`<td>${cell}</td>`)}</tr>`)}</tbody></table></div>`;
}
