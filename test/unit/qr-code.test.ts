// QR codes of links as inline SVG: the picture is read back module by module against the library's own matrix.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { create } from 'qrcode';
import { qrCode } from '../../src/pages/qr-code.ts';

const link = `https://id.example.com/t/acme/enroll#v=1&t=${'A'.repeat(43)}`;

/** Paints the rectangles of the dark path and gives the rows of the picture. */
function paint(markup: string): readonly string[] {
  const size = Number(/viewBox="0 0 (\d+) \1"/.exec(markup)?.[1]);
  const rows = Array.from({ length: size }, () => Array.from({ length: size }, () => '.'));
  const path = /fill="#000" d="([^"]+)"/.exec(markup)?.[1] ?? '';
  for (const [, x, y, width, back] of path.matchAll(/M(\d+) (\d+)h(\d+)v1h-(\d+)z/g)) {
    assert.equal(width, back);
    for (let column = Number(x); column < Number(x) + Number(width); column += 1) rows[Number(y)]![column] = '#';
  }
  return rows.map((row) => row.join(''));
}

describe('QR code', () => {
  it('is the code of the text with a quiet zone of four modules', async () => {
    const { modules } = create(link, { errorCorrectionLevel: 'M' });
    const rows = paint((await qrCode(link, 'Link')).markup);
    const blank = '.'.repeat(modules.size + 8);
    const expected = Array.from({ length: modules.size }, (_, row) => {
      const cells = Array.from({ length: modules.size }, (_, column) => (modules.get(row, column) === 1 ? '#' : '.'));
      return `....${cells.join('')}....`;
    });
    assert.deepEqual(rows, [blank, blank, blank, blank, ...expected, blank, blank, blank, blank]);
  });

  it('has a name for people who do not see it, with hostile text escaped', async () => {
    const { markup } = await qrCode('x', '"><script>alert(1)</script>');
    assert.match(markup, /^<svg class="qr" viewBox="0 0 29 29" role="img" aria-label="&#34;&#62;&#60;script/);
    assert.doesNotMatch(markup, /<script/);
  });

  it('stays small: an enrolment link is under 12 kB', async () => {
    assert.ok((await qrCode(link, 'Link')).markup.length < 12_000);
  });
});
