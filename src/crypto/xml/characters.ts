// Character rules of XML 1.0 and the escapes of Canonical XML. Called by the reader, the canonicaliser and the writer.
// Must not know elements, namespaces or SAML.

const nameStart =
  'A-Z_a-z\\u{C0}-\\u{D6}\\u{D8}-\\u{F6}\\u{F8}-\\u{2FF}\\u{370}-\\u{37D}\\u{37F}-\\u{1FFF}\\u{200C}-\\u{200D}' +
  '\\u{2070}-\\u{218F}\\u{2C00}-\\u{2FEF}\\u{3001}-\\u{D7FF}\\u{F900}-\\u{FDCF}\\u{FDF0}-\\u{FFFD}\\u{10000}-\\u{EFFFF}';
const ncName = new RegExp(`^[${nameStart}][${nameStart}\\-.0-9\\u{B7}\\u{300}-\\u{36F}\\u{203F}-\\u{2040}]*$`, 'u');
const asciiNcName = /^[A-Za-z_][A-Za-z0-9_.-]*$/;

/** True for a name without a colon (Namespaces in XML 1.0, production NCName; XML 1.0 fifth edition characters). */
export function isNcName(value: string): boolean {
  return asciiNcName.test(value) || ncName.test(value);
}

/** A text node as Canonical XML writes it (C14N 1.0 section 2.3). */
export function escapeText(value: string): string {
  return /[&<>\r]/.test(value) ? value.replace(/[&<>\r]/g, (character) => textEscapes[character] ?? '') : value;
}

/** An attribute value, without its quotes, as Canonical XML writes it (C14N 1.0 section 2.3). */
export function escapeAttribute(value: string): string {
  return /[&<"\t\n\r]/.test(value) ? value.replace(/[&<"\t\n\r]/g, (character) => attributeEscapes[character] ?? '') : value;
}

/** Orders by Unicode code point, which UTF-16 order is not beyond the basic plane. */
export function compareCodePoints(left: string, right: string): number {
  return left === right ? 0 : Buffer.compare(Buffer.from(left), Buffer.from(right));
}

/** The bytes of strict base64 with padding, or undefined; XML values may hold white space, other carriers may not. */
export function parseBase64(value: string, whiteSpace: 'allowed' | 'refused'): Buffer | undefined {
  const compact = whiteSpace === 'allowed' ? value.replace(/[ \t\r\n]+/g, '') : value;
  if (compact.length === 0 || compact.length % 4 !== 0) return undefined;
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(compact)) return undefined;
  const bytes = Buffer.from(compact, 'base64');
  // Unused bits of the last group must be zero: otherwise several texts mean the same bytes.
  return bytes.toString('base64') === compact ? bytes : undefined;
}

const textEscapes: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '\r': '&#xD;' };
const attributeEscapes: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '"': '&quot;',
  '\t': '&#x9;',
  '\n': '&#xA;',
  '\r': '&#xD;',
};
