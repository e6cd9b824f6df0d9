// One HTML page as it goes out: layout, style, nonce CSP and security headers (design 04, Pages). Used by the sign-in pages and
// by surfaces that answer people (errors, signed out). No script unless a page brings one, no third party, no inline handler.
import type { Language } from '../domain/language.ts';
import type { Tenant } from '../domain/tenant/tenant.ts';
import { type Html, html, trusted } from '../platform/html.ts';
import { randomId } from '../platform/random.ts';
import { brandLinks, brandMark, brandVariables, faviconLink } from './brand.ts';
import { styleSheet } from './style-sheet.ts';

export interface Page {
  readonly markup: string;
  readonly headers: Readonly<Record<string, string>>;
}

interface PageContent {
  readonly language: Language;
  /** Undefined on pages of no tenant. */
  readonly tenant: Tenant | undefined;
  readonly title: string;
  readonly body: Html;
  /** Trusted script of our own; runs under the page's nonce. */
  readonly script?: string | undefined;
  /** Seconds after which a browser without scripts loads the page again. */
  readonly reloadSeconds?: number | undefined;
  /** Shown as in this theme, in a frame of ours, and without effect: for whoever edits how pages look. */
  readonly preview?: Theme | undefined;
}

export type Theme = 'light' | 'dark';

/** Renders a page with its headers; every page gets a nonce of its own. */
export function renderPage(content: PageContent): Page {
  const nonce = randomId();
  const name = content.tenant?.name ?? 'Gatehouse';
  const page = html`<html lang="${content.language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="${content.preview ?? 'light dark'}">
<meta name="robots" content="noindex">
<title>${content.title} · ${name}</title>
${faviconLink(content.tenant)}
<style nonce="${nonce}">${trusted(inTheme(`${styleSheet}${brandVariables(content.tenant)}`, content.preview))}</style>
${content.reloadSeconds !== undefined && content.preview === undefined && html`<noscript><meta http-equiv="refresh" content="${content.reloadSeconds}"></noscript>`}
</head>
<body>
<main>
<header>${brandMark(content.tenant)}</header>
${content.body}
${brandLinks(content.tenant, content.language)}
</main>
${content.script !== undefined && html`<script nonce="${nonce}">${trusted(content.script)}</script>`}
</body>
</html>`;
  const rules = { hasScript: content.script !== undefined, framed: content.preview !== undefined };
  return { markup: `<!doctype html>\n${page.markup}\n`, headers: securityHeaders(nonce, rules) };
}

/** The style as it is where a browser prefers that theme. */
function inTheme(style: string, theme: Theme | undefined): string {
  if (theme === undefined) return style;
  const scheme = style.replace(/color-scheme:light dark/, `color-scheme:${theme}`);
  return scheme.replaceAll('@media (prefers-color-scheme:dark)', theme === 'dark' ? '@media all' : '@media not all');
}

interface PageRules {
  readonly hasScript: boolean;
  /** Forms are answered by pages of ours. */
  readonly formsStay?: boolean;
  /** The page shows others of ours in frames. */
  readonly frames?: boolean;
  /** The page is shown in a frame of ours, and its forms go nowhere. */
  readonly framed?: boolean;
}

/**
 * The security headers of a page with that nonce.
 * No `form-action` unless `formsStay`: a form post at the sign-in is answered by a redirect to the client, and browsers apply
 * the directive to the whole chain of redirects. Referrer-Policy is same-origin, because without a referrer browsers post with `Origin: null`.
 */
export function securityHeaders(nonce: string, { hasScript, formsStay, frames, framed }: PageRules): Readonly<Record<string, string>> {
  const policy = [
    "default-src 'none'",
    `style-src 'nonce-${nonce}'`,
    ...(hasScript ? [`script-src 'nonce-${nonce}'`, "connect-src 'self'"] : []),
    "img-src 'self' data:",
    "base-uri 'none'",
    ...(formsStay === true ? ["form-action 'self'"] : []),
    ...(frames === true ? ["frame-src 'self'"] : []),
    ...(framed === true ? ["form-action 'none'", "frame-ancestors 'self'"] : ["frame-ancestors 'none'"]),
  ];
  return {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': policy.join('; '),
    'x-content-type-options': 'nosniff',
    'x-frame-options': framed === true ? 'SAMEORIGIN' : 'DENY',
    'referrer-policy': 'same-origin',
    'cross-origin-opener-policy': 'same-origin',
    'permissions-policy': 'camera=(), microphone=(), geolocation=()',
    'cache-control': 'no-store',
  };
}

/** The headers of a mail shown in a frame of ours: it styles itself, shows pictures of the tenant and does nothing else. */
export function mailedPageHeaders(baseUrl: string): Readonly<Record<string, string>> {
  const { 'content-security-policy': _page, ...headers } = securityHeaders('', { hasScript: false, framed: true });
  const policy = [
    "default-src 'none'",
    "style-src 'unsafe-inline'",
    `img-src ${new URL(baseUrl).origin}`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'self'",
    'sandbox',
  ];
  return { ...headers, 'content-security-policy': policy.join('; ') };
}
