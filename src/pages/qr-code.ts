// QR codes of links, as inline SVG: used by the pages that show one. Drawn dark on a white plate in both colour schemes,
// because many cameras do not read light on dark. Knows nothing of what a link means; a page shows the link as text as well.
import { type Html, html, trusted } from '../platform/html.ts';

/** Modules of white around the code, ISO/IEC 18004 asks for four. */
const quietZone = 4;

/** The QR code of a text as an image named `label`. The library is loaded when a first page needs it. */
export async function qrCode(text: string, label: string): Promise<Html> {
  const { create } = await import('qrcode');
  const { modules } = create(text, { errorCorrectionLevel: 'M' });
  const size = modules.size + 2 * quietZone;
  const box = trusted(`viewBox="0 0 ${size} ${size}"`);
  const plate = trusted(`<path fill="#fff" d="M0 0h${size}v${size}H0z"/><path fill="#000" d="${darkRuns(modules.size, modules.data)}"/>`);
  return html`<svg class="qr" ${box} role="img" aria-label="${label}" shape-rendering="crispEdges">${plate}</svg>`;
}

/** One rectangle for each run of dark modules in a row. */
function darkRuns(size: number, data: Uint8Array): string {
  let path = '';
  for (let row = 0; row < size; row += 1) {
    let start: number | undefined;
    for (let column = 0; column <= size; column += 1) {
      const isDark = column < size && data[row * size + column] === 1;
      if (isDark) start ??= column;
      else if (start !== undefined) {
        path += `M${start + quietZone} ${row + quietZone}h${column - start}v1h${start - column}z`;
        start = undefined;
      }
    }
  }
  return path;
}
