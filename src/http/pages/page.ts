// One HTML page as it goes out: layout, style, nonce CSP and security headers (design 04, Pages). Used by the sign-in pages and
// by surfaces that answer people (errors, signed out). No script unless a page brings one, no third party, no inline handler.
import type { Language } from '../../domain/language.ts';
import type { Tenant } from '../../domain/tenant.ts';
import { type Html, html, trusted } from '../../platform/html.ts';
import { randomId } from '../../platform/random.ts';
import { brandVariables } from './brand.ts';
import { styleSheet } from './style-sheet.ts';

export interface Page {
  readonly markup: string;
  readonly headers: Readonly<Record<string, string>>;
}

export interface PageContent {
  readonly language: Language;
  /** Undefined on pages of no tenant. */
  readonly tenant: Tenant | undefined;
  readonly title: string;
  readonly body: Html;
  /** Trusted script of our own; runs under the page's nonce. */
  readonly script?: string | undefined;
  /** Seconds after which a browser without scripts loads the page again. */
  readonly reloadSeconds?: number | undefined;
}

/** Renders a page with its headers; every page gets a nonce of its own. */
export function renderPage(content: PageContent): Page {
  const nonce = randomId();
  const name = content.tenant?.name ?? 'Gatehouse';
  const page = html`<html lang="${content.language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<title>${content.title} · ${name}</title>
<link rel="icon" href="data:,">
<style nonce="${nonce}">${trusted(brandVariables(content.tenant))}${trusted(styleSheet)}</style>
${content.reloadSeconds !== undefined && html`<noscript><meta http-equiv="refresh" content="${content.reloadSeconds}"></noscript>`}
</head>
<body>
<main>
<header><span class="mark" aria-hidden="true">${[...name][0]?.toUpperCase()}</span><span class="brand">${name}</span></header>
${content.body}
</main>
${content.script !== undefined && html`<script nonce="${nonce}">${trusted(content.script)}</script>`}
</body>
</html>`;
  return { markup: `<!doctype html>\n${page.markup}\n`, headers: securityHeaders(nonce, content.script !== undefined) };
}

/**
 * The security headers of a page with that nonce.
 * No `form-action` unless `formsStay`: a form post at the sign-in is answered by a redirect to the client, and browsers apply
 * the directive to the whole chain of redirects. Referrer-Policy is same-origin, because without a referrer browsers post with `Origin: null`.
 */
export function securityHeaders(nonce: string, hasScript: boolean, formsStay = false): Readonly<Record<string, string>> {
  const policy = [
    "default-src 'none'",
    `style-src 'nonce-${nonce}'`,
    ...(hasScript ? [`script-src 'nonce-${nonce}'`, "connect-src 'self'"] : []),
    "img-src 'self' data:",
    "base-uri 'none'",
    ...(formsStay ? ["form-action 'self'"] : []),
    "frame-ancestors 'none'",
  ];
  return {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': policy.join('; '),
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
    'referrer-policy': 'same-origin',
    'cross-origin-opener-policy': 'same-origin',
    'permissions-policy': 'camera=(), microphone=(), geolocation=()',
    'cache-control': 'no-store',
  };
}
