// The frame of every page of our first-party applications: who is signed in, navigation, content. One style sheet, nonce CSP, and no
// script unless a page brings one. Texts come from the application; nothing here knows a page.
import type { Language } from '../domain/language.ts';
import type { Tenant } from '../domain/tenant/tenant.ts';
import { brandLinks, brandVariables, faviconLink, logoOf } from '../pages/brand.ts';
import { type Page, securityHeaders } from '../pages/page.ts';
import { type Html, html, trusted } from '../platform/html.ts';
import { randomId } from '../platform/random.ts';
import { appStyle } from './app-style.ts';
import { appPath, type FirstPartyApp } from './first-party-app.ts';

export interface Frame {
  readonly own: FirstPartyApp;
  readonly tenant: Tenant;
  readonly language: Language;
  readonly words: FrameTexts;
  /** Paths below the application and their names, in order. */
  readonly sections?: readonly (readonly [path: string, name: string, ...more: readonly string[]])[];
  /** Name of the person; undefined on the page before the sign-in. */
  readonly person: string | undefined;
  readonly csrf: string;
  /** Path of the page below the application, to mark where one is. */
  readonly at: string;
  /** Instead of `sections`: a navigation the application makes itself. */
  readonly navigation?: Html;
  /** What stands in the header beside the person. */
  readonly tools?: Html;
  /** What leads back, above the title. */
  readonly crumbs?: Html | undefined;
  /** What a form just did, or what was wrong with it. */
  readonly notice?: Notice | undefined;
  /** Style rules of the application on top of those it shares; written by us. */
  readonly style?: string;
  /** Trusted script of our own; runs under the page's nonce. */
  readonly script?: string | undefined;
  /** True: the page shows others of ours in frames. */
  readonly frames?: boolean | undefined;
}

export interface Notice {
  /** `partly`: some of it was done. */
  readonly kind: 'good' | 'partly' | 'bad';
  readonly text: string;
}

interface FrameTexts {
  readonly skip: string;
  readonly navigation: string;
  /** Undefined: there is no button. */
  readonly signOut: string | undefined;
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
${faviconLink(frame.tenant)}
<style nonce="${nonce}">${trusted(appStyle)}${frame.style !== undefined && trusted(frame.style)}${trusted(brandVariables(frame.tenant))}</style>
</head>
<body>
<a class="skip" href="#content">${frame.words.skip}</a>
<header><a class="brand" href="${appPath(frame.own, frame.tenant, '')}">${logoOf(frame.tenant) ?? frame.tenant.name}</a>${frame.person !== undefined && frame.tools}${personBox(frame)}</header>
${frame.person !== undefined && (frame.navigation ?? navigation(frame))}
<main id="content" tabindex="-1">
${frame.person !== undefined && frame.crumbs}
<h1>${title}</h1>
${frame.notice !== undefined && html`<p class="notice ${frame.notice.kind}" role="${frame.notice.kind === 'bad' ? 'alert' : 'status'}" id="notice">${frame.notice.text}</p>`}
${content}
${brandLinks(frame.tenant, frame.language)}
</main>
${frame.script !== undefined && html`<script nonce="${nonce}">${trusted(frame.script)}</script>`}
</body>
</html>`;
  return {
    markup: `<!doctype html>\n${page.markup}\n`,
    headers: securityHeaders(nonce, { hasScript: frame.script !== undefined, formsStay: true, frames: frame.frames === true }),
  };
}

function navigation(frame: Frame): Html {
  const isHere = (path: string): boolean => (path === '' ? frame.at === '' : frame.at === path || frame.at.startsWith(`${path}/`));
  return html`<nav aria-label="${frame.words.navigation}"><ul>${frame.sections?.map(
    ([path, name]) =>
      html`<li><a href="${appPath(frame.own, frame.tenant, path)}"${isHere(path) && html` aria-current="page"`}>${name}</a></li>`,
  )}</ul></nav>`;
}

function personBox(frame: Frame): Html | undefined {
  if (frame.person === undefined) return undefined;
  if (frame.words.signOut === undefined) return html`<p class="who">${frame.person}</p>`;
  return html`<form method="post" action="${appPath(frame.own, frame.tenant, '/sign-out')}">${csrfField(frame)}<span>${frame.person}</span><button class="quiet" id="sign-out">${frame.words.signOut}</button></form>`;
}

/** The token of the session, and behind it an id of this one form, by which it acts once. */
export const csrfField = ({ csrf }: Pick<Frame, 'csrf'>): Html => html`<input type="hidden" name="csrf" value="${csrf}.${randomId()}">`;

/** The head of a column that sorts. */
export interface Head {
  readonly name: string;
  readonly shown: Html;
  readonly sorted?: 'ascending' | 'descending' | undefined;
}

/** A table with a caption for those who cannot see it. */
export function table(caption: string, heads: readonly (Head | string)[], rows: readonly (readonly (Html | string)[])[]): Html {
  const names = heads.map((head) => (typeof head === 'string' ? head : head.name));
  return html`<div class="scroll" role="region" aria-label="${caption}" tabindex="0"><table><caption class="hidden">${caption}</caption><thead><tr>${heads.map(
    (head) =>
      typeof head === 'string'
        ? html`<th scope="col">${head}</th>`
        : html`<th scope="col"${head.sorted !== undefined && html` aria-sort="${head.sorted}"`}>${head.shown}</th>`,
  )}</tr></thead><tbody>${rows.map((cells) => html`<tr>${cells.map((cell, index) => html`<td${names[index] !== '' && html` data-label="${names[index]}"`}>${cell}</td>`)}</tr>`)}</tbody></table></div>`;
}
