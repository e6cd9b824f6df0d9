// The page a person sees when a sign-in cannot start or end: the status, the code, and the id to tell an administrator.
// Says no more than the JSON answer does. Called by surface.ts.
import { createHash } from 'node:crypto';
import type { Answer } from '../contract/envelopes.ts';

const style =
  ':root{color-scheme:light dark}body{font:1rem/1.5 system-ui,sans-serif;max-width:32rem;margin:4rem auto;padding:0 1rem}' +
  'h1{font-size:1.5rem}code{font-size:.9em;word-break:break-all}';
const styleHash = createHash('sha256').update(style).digest('base64');

/** The whole HTML document of an error answer. */
export function renderErrorPage(answer: Answer, requestId: string): string {
  const code = escapeHtml(String(answer.body['error']));
  const title = answer.status >= 500 ? 'Something went wrong on our side' : 'This sign-in cannot continue';
  return (
    '<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">' +
    `<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'sha256-${styleHash}'; base-uri 'none'">` +
    `<meta name="referrer" content="no-referrer"><title>${title}</title><style>${style}</style></head><body><main><h1>${title}</h1>` +
    '<p>Go back to the application and try again. If it keeps happening, give your administrator this reference:</p>' +
    `<p><code id="request-id">${escapeHtml(requestId)}</code></p><p>Error <code id="error">${code}</code></p></main></body></html>`
  );
}

function escapeHtml(value: string): string {
  return value.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
