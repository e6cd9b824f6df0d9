// XML at the size limit that is made to cost: what the hostile-input test refuses and the bench measures.
import { samlXmlLimits } from '../../src/contract/limits.ts';

const size = samlXmlLimits.bytesMax;
const filled = (before: string, unit: (at: number) => string, after: string): string => {
  let text = before;
  for (let at = 0; text.length + after.length + unit(at).length <= size; at += 1) text += unit(at);
  return text + after;
};

/** Documents of 64 KiB, each with what makes it costly. */
export const hostileXml: readonly (readonly [string, string])[] = [
  ['open angle brackets', '<'.repeat(size)],
  ['nested elements', filled('', () => '<a>', '')],
  ['siblings', filled('<r>', () => '<a/>', '</r>')],
  ['attributes', filled('<r ', (at) => `a${at}="" `, '/>')],
  ['namespace declarations', filled('<r ', (at) => `xmlns:n${at}="u:${at}" `, '/>')],
  ['one long name', `<${'a'.repeat(size - 3)}/>`],
  ['one long attribute', `<r a="${'&amp;'.repeat(size / 5 - 4)}"/>`],
  ['character references', filled('<r>', () => '&#65;', '</r>')],
  ['entities nobody declared', filled('<r>', () => '&a;', '</r>')],
  ['an entity bomb', filled('<!DOCTYPE r [', (at) => `<!ENTITY e${at + 1} "&e${at};&e${at};">`, ']><r/>')],
  ['an unclosed quote', `<r a="${'x'.repeat(size - 6)}`],
  ['an unclosed entity', `<r>&${'x'.repeat(size - 4)}`],
  ['signatures', filled('<r xmlns:ds="http://www.w3.org/2000/09/xmldsig#">', () => '<ds:Signature/>', '</r>')],
];
