// What a directory says, on a page: names and values that its people, or a stranger on the way, may have chosen. They are text, however long, in
// whatever direction; what would be invisible, or turn the text around it, is shown or left out.
import { type Html, html, withoutDirectionControls } from '../../platform/html.ts';
import { text } from '../cells.ts';

const charsShown = 160;

/** A control character as its picture (Unicode block 2400). */
function pictureOf(control: string): string {
  const at = control.charCodeAt(0);
  if (at < 0x20) return String.fromCharCode(0x2400 + at);
  return at === 0x7f ? '\u2421' : '\ufffd';
}

/** At most so many characters of it, in their own direction (HTML, `bdi`). */
export function told(value: unknown, charsMax = charsShown): Html {
  const characters = [...withoutDirectionControls(text(value)).replaceAll(/\p{Cc}/gu, pictureOf)];
  return html`<bdi>${characters.slice(0, charsMax).join('')}${characters.length > charsMax && '…'}</bdi>`;
}

/** What the first part of the name of an entry says (RFC 4514, 2.3), which people are found by. */
export function calledIn(dn: string): string {
  const [, value = ''] = /^[^=]*=((?:\\.|[^\\,+])*)/s.exec(dn) ?? [];
  return value.replaceAll(/\\([ "#+,;<=>\\])/g, '$1').trim();
}
