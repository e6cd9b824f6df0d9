// The page by which a browser posts an authorization response (OAuth 2.0 Form Post Response Mode), read as a browser reads it.
import assert from 'node:assert/strict';

/** The form of a page: where it posts, and what. */
export async function formOf(response: Response): Promise<{ action: string; fields: Record<string, string> }> {
  const text = await response.text();
  assert.equal(response.status, 200, text);
  assert.equal(response.headers.get('content-type'), 'text/html; charset=utf-8');
  assert.equal(response.headers.get('cache-control'), 'no-store');
  const plain = (escaped: string): string => escaped.replace(/&#(\d+);/g, (_, code) => String.fromCharCode(Number(code)));
  assert.equal(text.match(/<script/g)?.length, 1, 'one script, ours');
  assert.match(text, /<button id="continue">/);
  const nonce = /<script nonce="([^"]+)">/.exec(text)?.[1];
  const action = plain(/<form method="post" action="([^"]*)"/.exec(text)?.[1] ?? '');
  assert.equal(
    response.headers.get('content-security-policy'),
    `default-src 'none'; style-src 'nonce-${nonce}'; script-src 'nonce-${nonce}'; connect-src 'self'; img-src 'self' data:; base-uri 'none'; ` +
      `frame-ancestors 'none'; form-action ${new URL(action).origin}`,
  );
  const inputs = [...text.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)">/g)];
  return { action, fields: Object.fromEntries(inputs.map(([, name, value]) => [plain(name!), plain(value!)])) };
}
