// The frame of every console page: navigation, who is signed in, the content. One style sheet on top of the sign-in pages'
// colours; nonce CSP; no script at all.
import type { Tenant } from '../../domain/tenant.ts';
import { brandVariables } from '../../http/pages/brand.ts';
import type { Page } from '../../http/pages/page.ts';
import { securityHeaders } from '../../http/pages/page.ts';
import { type Html, html, trusted } from '../../platform/html.ts';
import { randomId } from '../../platform/random.ts';
import { consoleStyle } from './console-style.ts';

export interface Frame {
  readonly tenant: Tenant;
  /** Name of the person; undefined on the page before the sign-in. */
  readonly person: string | undefined;
  readonly csrf: string;
  /** Path of the page below /console, to mark where one is. */
  readonly at: string;
  /** What a form just did, or what was wrong with it. */
  readonly notice?: { readonly kind: 'good' | 'bad'; readonly text: string } | undefined;
}

export const sections = [
  ['', 'Overview'],
  ['/clients', 'Clients'],
  ['/resources', 'Resources'],
  ['/users', 'Users'],
  ['/groups', 'Groups'],
  ['/service-providers', 'Service providers'],
  ['/signing-keys', 'Signing keys'],
  ['/settings', 'Settings'],
  ['/events', 'Audit events'],
  ['/explain', 'Explain'],
] as const;

/** Path of a console page as the browser asks for it. */
export const consolePath = (tenant: Tenant, path: string): string =>
  `${new URL(tenant.baseUrl).pathname.replace(/\/$/, '')}/console${path}`;

export function consolePage(frame: Frame, title: string, content: Html): Page {
  const nonce = randomId();
  const page = html`<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<title>${title} · ${frame.tenant.name}</title>
<link rel="icon" href="data:,">
<style nonce="${nonce}">${trusted(brandVariables(frame.tenant))}${trusted(consoleStyle)}</style>
</head>
<body>
<a class="skip" href="#content">Skip to content</a>
<header><a class="brand" href="${consolePath(frame.tenant, '')}">${frame.tenant.name}</a>${personBox(frame)}</header>
${frame.person !== undefined && navigation(frame)}
<main id="content" tabindex="-1">
<h1>${title}</h1>
${frame.notice !== undefined && html`<p class="notice ${frame.notice.kind}" role="status" id="notice">${frame.notice.text}</p>`}
${content}
</main>
</body>
</html>`;
  return { markup: `<!doctype html>\n${page.markup}\n`, headers: securityHeaders(nonce, false) };
}

function navigation(frame: Frame): Html {
  const isHere = (path: string): boolean => (path === '' ? frame.at === '' : frame.at === path || frame.at.startsWith(`${path}/`));
  return html`<nav aria-label="Console"><ul>${sections.map(
    ([path, name]) => html`<li><a href="${consolePath(frame.tenant, path)}"${isHere(path) && html` aria-current="page"`}>${name}</a></li>`,
  )}</ul></nav>`;
}

function personBox(frame: Frame): Html | undefined {
  if (frame.person === undefined) return undefined;
  return html`<form method="post" action="${consolePath(frame.tenant, '/sign-out')}">${csrfField(frame)}<span>${frame.person}</span><button class="quiet" id="sign-out">Sign out</button></form>`;
}

export const csrfField = (frame: Frame): Html => html`<input type="hidden" name="csrf" value="${frame.csrf}">`;

/** A table with a caption for those who cannot see it. */
export function table(caption: string, heads: readonly string[], rows: readonly (readonly (Html | string)[])[]): Html {
  return html`<div class="scroll" role="region" aria-label="${caption}" tabindex="0"><table><caption class="hidden">${caption}</caption><thead><tr>${heads.map(
    (head) => html`<th scope="col">${head}</th>`,
  )}</tr></thead><tbody>${rows.map((cells) => html`<tr>${cells.map((cell) => html`<td>${cell}</td>`)}</tr>`)}</tbody></table></div>`;
}
