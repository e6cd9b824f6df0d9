// The page that carries the Response to the provider by a form the browser posts (SAML bindings 3.5.4). Works without
// JavaScript by its button. Called by postback.ts. Every value is escaped; the policy allows this one script and no other.
import { createHash } from 'node:crypto';

interface AutoSubmitForm {
  readonly acsUrl: string;
  readonly samlResponse: string;
  readonly relayState: string | undefined;
}

const script = 'document.forms[0].submit()';
const style =
  ':root{color-scheme:light dark}body{font:1rem/1.5 system-ui,sans-serif;display:grid;place-items:center;min-height:90vh;margin:1rem}' +
  'button{font:inherit;padding:.75rem 1.5rem;border-radius:.5rem;border:1px solid;cursor:pointer}';
const hashOf = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

/** Headers of the page. There is no form-action: it would forbid the very post the page exists for. */
export const autoSubmitHeaders: Readonly<Record<string, string>> = {
  'content-type': 'text/html; charset=utf-8',
  'cache-control': 'no-store',
  pragma: 'no-cache',
  'content-security-policy': `default-src 'none'; script-src ${hashOf(script)}; style-src ${hashOf(style)}; base-uri 'none'; frame-ancestors 'none'`,
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
};

/** The whole HTML document. */
export function renderAutoSubmitPage({ acsUrl, samlResponse, relayState }: AutoSubmitForm): string {
  const relay = relayState === undefined ? '' : `<input type="hidden" name="RelayState" value="${escapeHtml(relayState)}">`;
  return (
    '<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">' +
    `<title>Signing you in</title><style>${style}</style></head><body>` +
    `<form method="post" action="${escapeHtml(acsUrl)}">` +
    `<input type="hidden" name="SAMLResponse" value="${escapeHtml(samlResponse)}">${relay}` +
    '<button type="submit" id="continue">Continue</button></form>' +
    `<script>${script}</script></body></html>`
  );
}

// Line ends as references: the HTML parser would otherwise turn a carriage return into a line feed.
function escapeHtml(value: string): string {
  return value.replace(/[&<>"'\r\n]/g, (character) => `&#${character.charCodeAt(0)};`);
}
