// Texts that do harm where a page forgets to escape: in element content, in attributes, in scripts, styles and addresses.
// Put them into every name a person, client or device can have; nothing of them may run or become markup.
import assert from 'node:assert/strict';

export const xssCorpus: readonly string[] = [
  '<script>window.pwned=1</script>',
  '"><script>window.pwned=1</script>',
  "'><img src=x onerror=window.pwned=1>",
  '" autofocus onfocus="window.pwned=1',
  "' onmouseover='window.pwned=1",
  '` onclick=window.pwned=1 `',
  '</title><svg onload=window.pwned=1>',
  '</style><img src=x onerror=window.pwned=1>',
  '</textarea><iframe srcdoc="<script>parent.pwned=1</script>">',
  'javascript:window.pwned=1',
  '<a href="javascript:window.pwned=1">x</a>',
  '<!--<img src="--><img src=x onerror=window.pwned=1>">',
  '&lt;script&gt;window.pwned=1&lt;/script&gt;',
  '{{constructor.constructor("window.pwned=1")()}}',
  '#{window.pwned=1}<%= window.pwned=1 %>',
  '<math><mtext><table><mglyph><style><img src=x onerror=window.pwned=1>',
  '\u202e<b>window.pwned=1</b>',
  '<form action=https://evil.example><input name=csrf></form>',
  '<base href=https://evil.example/>',
  '<meta http-equiv=refresh content="0;url=https://evil.example/">',
];

/** The page holds the text, escaped, and nowhere as markup. */
export function assertEscaped(page: string, text: string): void {
  const escaped = text.replace(/[&<>"'`]/g, (char) => `&#${char.charCodeAt(0)};`);
  assert.ok(page.includes(escaped), `expected the page to hold ${escaped}`);
  if (escaped !== text) assert.ok(!page.includes(text), `expected ${text} to be escaped`);
}
